"""English by lists and rules: the words of a caption, their noun phrases, and who does what."""
