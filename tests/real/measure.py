"""The figures of docs/real_models.md: ``python -m tests.real.measure steps|etva|judge OUT …``.

    steps OUT MODEL MODE    every text-only step but ETVA's; MODE is auto or instructed
    etva OUT MODEL MODE     ETVA's agents, beside the released questions
    judge OUT MODEL BED     the text judge with an oracle's captions, on a testbed
    show OUT…               the tables

Each writes what it found as JSON; ``show`` makes tables of any of them. SCREENTEST_REAL and
SCREENTEST_DATA name the folders of weights and of test data.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tests.real.oracle  # noqa: F401 - registers the judge
from screentest import api
from screentest.core import to_json
from screentest.models import ModelChoice, Models
from screentest.run import InlineEngine
from screentest.suites.etva.questions import QuestionSet
from screentest.suites.etva.rules.writer import write_by_rules
from screentest.testbeds.captions.facts import CRITERIA
from screentest.testbeds.captions.rules import read_caption
from tests.real.server import MOST_TOKENS, Meter, metered, serving
from tests.real.steps import STEPS, Said, etva_step, labelled
from tests.real.weights import ROOT
from tests.suites.etva.agreement import covered
from tests.testbeds.captions.agreement import agreement, eligibility

DATA = Path(os.environ.get("SCREENTEST_DATA", ROOT.parent / "shared" / "data"))
CAPTIONS = 12
PROMPTS = 8


def steps(out: Path, model: str, mode: str) -> None:
    said = Said()
    with serving(model) as served, metered(served, mode) as meter:
        for step in STEPS:
            step(meter, said, CAPTIONS if step is STEPS[0] else 2)
            _write(out, model, mode, meter, facts=_facts(said))
    _write(out, model, mode, meter, facts=_facts(said))


def etva(out: Path, model: str, mode: str) -> None:
    said = Said()
    with serving(model) as served, metered(served, mode) as meter:
        etva_step(meter, said, PROMPTS, DATA)
    text = Models([ModelChoice.parse("text_embedding=minilm")]).role("text_embedding")
    released = [one for one, _ in said.questions]
    rows = {}
    for name, written in (
        ("the model", [one.value or QuestionSet(r.prompt, ()) for r, one in said.questions]),
        ("the rules", [write_by_rules(one.prompt) for one in released]),
    ):
        coverage, precision = (
            covered(released, written, text),
            covered(written, released, text),
        )
        rows[name] = [coverage.found, coverage.total, precision.found, precision.total]
    questions = [
        {
            "prompt": wanted.prompt,
            "questions": [one.text for one in found.value.questions] if found.value else [],
            "left_out": list(found.value.left_out) if found.value else [],
            "failure": str(found.failure or ""),
        }
        for wanted, found in said.questions
    ]
    _write(out, model, mode, meter, etva=rows, questions=questions)


def judge(out: Path, model: str, bed: str) -> None:
    with serving(model) as served:
        options = f"base_url={served.url}/v1,concurrency=1,timeout=1800,structured=auto"
        sampling = f'sampling={{"max_tokens": {MOST_TOKENS}}}'
        found = api.certify(
            [bed],
            judges=f"text_oracle:testbed={bed}",
            out=out.with_suffix(""),
            model=[f"chat.judge=openai:{model},{options},{sampling}"],
            engine=InlineEngine(),
        )
    out.write_text(json.dumps([json.loads(to_json(one)) for one in found.certificates], indent=1))


def _facts(said: Said) -> dict[str, Any]:
    """Precision and recall by criterion, of the model and of the rules on the same captions."""
    answered = [(labels, found.unwrap()) for labels, found in said.facts if found.ok]
    texts = [text for text, _ in labelled(len(said.facts))]
    read = [
        (labels, read_caption(text))
        for text, (labels, found) in zip(texts, said.facts, strict=True)
        if found.ok
    ]
    rows: dict[str, Any] = {"captions": len(said.facts), "answered": len(answered)}
    for name, pairs in (("the model", answered), ("the rules", read)):
        entries, captions = agreement(pairs), eligibility(pairs)
        rows[name] = {
            one: [
                *(entries[one].precision, entries[one].recall, entries[one].labelled),
                *(captions[one].precision, captions[one].recall),
            ]
            for one in CRITERIA
        }
    return rows


def _write(out: Path, model: str, mode: str, meter: Meter, **more: Any) -> None:
    calls = [asdict(one) for one in meter.calls]
    content = {"model": model, "mode": mode, "calls": calls, **more}
    out.write_text(json.dumps(content, indent=1, default=str))


def show(*files: str) -> None:
    for name in files:
        content = json.loads(Path(name).read_text())
        print(f"\n{content['model']}, {content['mode']}\n")
        print("| step | asked | at first | after repair | no value | tokens in, out | seconds |")
        print("|---|---|---|---|---|---|---|")
        for use in dict.fromkeys(one["use"] for one in content["calls"]):
            some = [one for one in content["calls"] if one["use"] == use]
            print(f"| {_row(use, some)} |")
        print(f"| {_row('all', content['calls'])} |")
        for key in ("facts", "etva"):
            if content.get(key):
                print(f"\n{key}: {json.dumps(content[key])}")


def _row(use: str, calls: list[dict[str, Any]]) -> str:
    good = [one for one in calls if one["reason"] is None]
    first = sum(one["repairs"] == 0 for one in good)
    lost = Counter(one["reason"] for one in calls if one["reason"] is not None)
    count = max(1, len(good))
    return " | ".join(
        [
            *(use, str(len(calls)), str(first), str(len(good))),
            ", ".join(f"{number} {reason}" for reason, number in lost.items()) or "–",
            f"{sum(one['tokens_in'] for one in good) / count:.0f}, "
            f"{sum(one['tokens_out'] for one in good) / count:.0f}",
            f"{sum(one['seconds'] for one in calls) / len(calls):.1f}",
        ]
    )


if __name__ == "__main__":
    command, *given = sys.argv[1:]
    if command == "show":
        show(*given)
    else:
        {"steps": steps, "etva": etva, "judge": judge}[command](Path(given[0]), *given[1:])
