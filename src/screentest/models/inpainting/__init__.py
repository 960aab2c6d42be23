"""Fills holes in pictures."""
