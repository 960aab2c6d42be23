"""Questions by rules: nouns, attributes, counts, colours, places, actions, camera; no model."""
