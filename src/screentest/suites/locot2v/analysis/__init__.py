"""What the paper reads out of its numbers: standings, correlations, complexity, and charts."""
