from __future__ import annotations

import re
from pathlib import Path

import pytest

import screentest.testbeds
from screentest.testbeds.faults import WORDINGS, Fault
from tests.messages import names


def test_every_wording_has_a_fault() -> None:
    folder = Path(screentest.testbeds.__file__).parent
    source = "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    assert set(WORDINGS) <= set(re.findall(r'"([a-z_]+)"', source))
    assert set(re.findall(r'\bFault(?:\.of)?\(\s*"(\w+)"', source)) <= set(WORDINGS)
    assert set(re.findall(r'\bself\._fault\(\s*"(\w+)"', source)) <= set(WORDINGS)
    assert len(set(WORDINGS.values())) == len(WORDINGS)


def test_a_fault_is_of_a_kind_with_a_wording() -> None:
    fault = Fault("few_touched", {"count": 1, "chosen": 2}, clip=0)
    assert names(fault, "clip 1: ", "1 of 2 clips")
    with pytest.raises(ValueError, match="'odd'"):
        Fault("odd")
