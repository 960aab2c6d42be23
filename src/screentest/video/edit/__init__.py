"""Changed copies of a video that cost only what changes: normalise once, then splice."""
