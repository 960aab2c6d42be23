"""UniVBench as a suite: six tasks, their tables, what they cost, how far people agree."""

import tomllib
from pathlib import Path

_TABLE = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))
HELP, COMMANDS = _TABLE["help"], _TABLE["commands"]
