"""Backends by role: one module per role, found by being there."""
