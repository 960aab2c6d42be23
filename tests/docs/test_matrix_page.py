"""docs/pictures/matrix.py: the page's figures from certificates as JSON."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from screentest.analysis.judges.accuracy import (
    accuracy,
    aspect_results,
    duration_effect,
    find_claims,
    operator_results,
    placebo_results,
    trend,
)
from screentest.analysis.judges.certificate import Certificate
from screentest.analysis.judges.matrix import matrix
from screentest.core import Aspect, PairKind
from screentest.core.codec import to_json
from screentest.judges.cases import Judgement
from screentest.stats import Claim, order_effect
from tests.analysis.judges.test_figures import case, said

SCRIPT = Path(__file__).parents[2] / "docs" / "pictures" / "matrix.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("matrix_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def certificate(
    judge: str, blur: float, noise: float, role: str = "", only: str = ""
) -> Certificate:
    """Twelve films of two operators, six of a third, and a placebo."""
    judgements: list[Judgement] = []
    for film in range(12):
        for name, points in (("blur", blur), ("noise", noise), ("rare", 1.0)):
            if (name != "rare" or film < 6) and only in ("", name):
                judgements.append(said(case(str(film), Aspect.AESTHETICS, name=name), points))
    fair = [case(str(film), kind=PairKind.PLACEBO, name="trim") for film in range(12)]
    placebos = [said(one, 0.5) for one in fair]
    findings = find_claims(judgements, placebos)
    return Certificate(
        judge,
        f"{judge}|v:1",
        ("bed",),
        accuracy(judgements),
        aspect_results(judgements, findings),
        order_effect([]),
        trend([]),
        duration_effect([]),
        placebos=placebo_results(placebos),
        operators=operator_results(judgements, findings),
        models={role: "a_model"} if role else {},
    )


def test_rows_of_chat_models_and_thin_cells_are_left_out(
    script: ModuleType, tmp_path: Path
) -> None:
    made = [
        certificate("good", 1, 1),
        certificate("backwards", 1, 0),
        certificate("flow_based", 0.5, 0.5, "flow"),
        certificate("talker", 1, 1, "chat.judge"),
    ]
    file = tmp_path / "certificates.json"
    file.write_text(f"[{','.join(map(to_json, made))}]", encoding="utf-8")
    found = script.at_least(matrix(script.read([file])), script.LEAST)
    assert list(found.rows) == ["good", "backwards", "flow_based[a_model]"]
    assert found.columns == ("aesthetics", "aesthetics/blur", "aesthetics/noise", "placebo trim")
    assert {name: cell.claim for name, cell in found.rows["backwards"].items()} == {
        # On the six films of all three two of three are seen: 2 / 2^6, third of four.
        "aesthetics": Claim.MIXED,
        "aesthetics/blur": Claim.SEES,
        "aesthetics/noise": Claim.PREFERS_DEGRADED,
        "placebo trim": None,
    }
    assert [row[:3] for row in script.summary(found).rows] == [
        ["good", 2, 0],
        ["backwards", 1, 1],
        ["flow_based[a_model]", 0, 0],
    ]
    tables = script.tables(found)
    assert ["backwards", 1, 1, 0, 0] in tables["metrics"].rows
    assert tables["size"].rows == [(3, 4, (12, 30))]
    assert ("blur", 12, "`backwards`, `good`", "–", "–") in tables["degradations"].rows
    assert ("noise", 12, "`good`", "`backwards`", "–") in tables["degradations"].rows


def test_one_operator_is_no_judgement_of_its_aspect_where_others_had_a_family() -> None:
    found = matrix([certificate("good", 1, 1), certificate("narrow", 1, 1, only="blur")])
    assert set(found.rows["narrow"]) == {"aesthetics/blur", "placebo trim"}
    alone = matrix([certificate("narrow", 1, 1, only="blur")])
    assert set(alone.rows["narrow"]) == {"aesthetics", "placebo trim"}


def test_what_only_describes_is_told_apart(script: ModuleType) -> None:
    assert script.describes("colourfulness")
    assert script.describes("tones.inks")
    assert not script.describes("sharpness")
    assert not script.describes("locot2v_warping_error[raft:things]")


@pytest.mark.slow
def test_the_picture_is_drawn(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "certificates.json"
    file.write_text(f"[{to_json(certificate('good', 1, 1))}]", encoding="utf-8")
    monkeypatch.setitem(script.publish.__globals__, "RESULTS", tmp_path)
    script.draw([file], tmp_path / "matrix.svg")
    assert (tmp_path / "matrix.svg").read_text(encoding="utf-8").count("<svg") == 1
    made = json.loads((tmp_path / "matrix.json").read_text(encoding="utf-8"))
    assert made["tables"]["size"]["rows"] == [[1, 4, [12, 30]]]
