"""Presentation: facts become what people read."""
