"""Folders and tables of other tools, read as they are."""
