"""Changes the colour of one thing in a picture."""
