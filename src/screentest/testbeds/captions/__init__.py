"""What captions say, sorted by seven criteria: by built-in rules, or by a chat model."""
