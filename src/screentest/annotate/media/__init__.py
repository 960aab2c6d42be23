"""Videos as they are handed to a browser: playable, without tags, without a name."""
