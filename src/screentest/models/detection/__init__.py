"""Backends of the role detection."""
