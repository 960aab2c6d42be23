"""The picture half-way between two."""
