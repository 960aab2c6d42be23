"""Text on its way to the disk: no key or password goes along, and all of it can be written."""

from __future__ import annotations

import os
import re
from typing import Final

_TELLING: Final = re.compile(
    r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$", re.IGNORECASE
)
_SHORTEST: Final = 8  # shorter values are words, not secrets


def cleared(text: str) -> str:
    """``text`` without the value of any secret-sounding environment variable.

    Bytes that are not text, as in some file names, are written as escapes.

    >>> cleared("no such file: caf\\udce9.mp4")
    'no such file: caf\\\\udce9.mp4'
    """
    secrets = {
        value
        for name, value in os.environ.items()
        if len(value) >= _SHORTEST and _TELLING.search(name)
    }
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "[secret]")
    return text.encode("utf-8", "backslashreplace").decode()
