"""Analysis: records become facts, as numbers, names and enums."""
