"""Real models: what runs where their weights are. ``make test-real`` gets them."""
