"""How well a short piece of video was made, technically."""
