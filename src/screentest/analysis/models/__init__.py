"""Which of several models is better, in what, and how certain that is."""
