"""UniVBench as a suite: six tasks, their tables, what they cost, how far people agree."""
