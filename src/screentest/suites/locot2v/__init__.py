"""LoCoT2V-Bench as a suite: its dimensions, its aggregation, its construction, its analyses."""

import tomllib
from pathlib import Path

_TABLE = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))
HELP, COMMANDS = _TABLE["help"], _TABLE["commands"]
