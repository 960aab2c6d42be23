"""How well pictures agree with the text they were made from."""
