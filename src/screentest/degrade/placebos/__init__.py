"""Placebos: edits that nobody sees, and that must not change a score."""
