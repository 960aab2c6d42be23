"""Agreement with people: votes, released scores, arenas."""
