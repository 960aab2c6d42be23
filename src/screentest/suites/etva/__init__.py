"""ETVA: a scene graph of the prompt, a yes/no question per node and edge, answered from frames."""

import tomllib
from pathlib import Path

_TABLE = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))
HELP, COMMANDS = _TABLE["help"], _TABLE["commands"]
