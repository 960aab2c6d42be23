"""How a film keeps to its script as a whole."""
