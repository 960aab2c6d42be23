"""Judges: which of two videos is better in an aspect."""
