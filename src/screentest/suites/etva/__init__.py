"""ETVA: a scene graph of the prompt, a yes/no question per node and edge, answered from frames."""
