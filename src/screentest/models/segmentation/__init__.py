"""The exact shape of what lies in a box."""
