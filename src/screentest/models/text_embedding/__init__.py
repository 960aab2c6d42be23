"""Backends of the role text_embedding."""
