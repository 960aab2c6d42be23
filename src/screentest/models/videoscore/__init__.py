"""Backends that give VideoScore's five numbers."""
