"""Backends of the role image_text."""
