"""Backends of the role image_features."""
