"""The figures of docs/real_models.md: ``python -m tests.real.measure steps|judge|show …``.

    steps OUT MODEL MINUTES    every text-only step, with and without an enforced schema, on one
                               text after another until the time is over
    judge OUT MODEL BED…       the text judge with an oracle's captions, on testbeds
    show OUT…                  tables of what ``steps`` wrote

SCREENTEST_REAL and SCREENTEST_DATA name the folders of weights and of test data.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tests.real.oracle  # noqa: F401 - registers the judge
from screentest import api
from screentest.certificates.certificate import facts
from screentest.core import Outcome, to_json
from screentest.models import ModelChoice, Models
from screentest.run import InlineEngine
from screentest.suites.etva.questions import QuestionSet
from screentest.suites.etva.rules.writer import write_by_rules
from screentest.testbeds.captions.facts import CRITERIA, CaptionFacts
from screentest.testbeds.captions.rules import read_caption
from tests.real.server import MOST_TOKENS, metered, serving
from tests.real.steps import STEPS, Said, labelled, take
from tests.suites.etva.agreement import covered
from tests.testbeds.captions.agreement import agreement, eligibility

TEXT = "text_embedding=minilm"
"""Which questions ask the same; `screentest models pull builtin` gets it."""
MODES = ("auto", "instructed")


def steps(out: Path, model: str, minutes: str) -> None:
    end, said = time.monotonic() + 60 * float(minutes), Said()
    with (
        serving(model) as served,
        metered(served, MODES[0]) as enforced,
        metered(served, MODES[1]) as instructed,
    ):
        for number in range(len(labelled())):
            for meter in (enforced, instructed):
                for step in STEPS:
                    if time.monotonic() > end:
                        return
                    # What is compared with labels is what the enforced schema gave.
                    take(step, meter, said if meter is enforced else Said(), number)
                    calls = [asdict(one) for one in (*enforced.calls, *instructed.calls)]
                    _write(out, model, calls, said)


def judge(out: Path, model: str, *beds: str) -> None:
    with serving(model) as served:
        options = f"base_url={served.url}/v1,concurrency=1,timeout=1800,structured=auto"
        sampling = f'sampling={{"max_tokens": {MOST_TOKENS}}}'
        found = api.certify(
            "text_oracle",
            list(beds),
            out=out.with_suffix(""),
            model=[f"chat.judge=openai:{model},{options},{sampling}"],
            engine=InlineEngine(),
        )
    out.write_text(json.dumps([json.loads(to_json(one)) for one in found.certificates], indent=1))
    (certificate,) = found.certificates
    print("| aspect | films | right | 95 % over films | answered | claim |")
    print("|---|---|---|---|---|---|")
    for one in certificate.aspects:
        right = one.accuracy.unwrap()
        low, high = (100 * end for end in (right.interval.low, right.interval.high))
        print(
            f"| {one.aspect.title} | {one.sources} | {100 * right.value:.1f}% of "
            f"{right.judgements} | {low:.0f}–{high:.0f} | {100 * right.coverage:.0f}% | "
            f"{one.finding.claim.value} |"
        )
    for name, words in facts(certificate):
        print(f"{name}: {words}")


def _write(out: Path, model: str, calls: list[dict[str, Any]], said: Said) -> None:
    content = {"model": model, "calls": calls, "facts": _facts(said), "etva": _etva(said)}
    out.write_text(json.dumps(content, indent=1, default=str))


def _facts(said: Said) -> dict[str, Any]:
    """Precision and recall by criterion, of the model and of the rules on the same captions."""
    rows: dict[str, Any] = {
        "captions": len(said.facts),
        "answered": sum(found.ok for *_, found in said.facts),
    }
    readers: dict[str, Callable[[str, Outcome[CaptionFacts]], CaptionFacts]] = {
        "the model": lambda text, found: found.unwrap(),
        "the rules": lambda text, found: read_caption(text),
    }
    for name, read in readers.items():
        pairs = [(labels, read(text, found)) for text, labels, found in said.facts if found.ok]
        entries, captions = agreement(pairs), eligibility(pairs)
        rows[name] = {
            one: [
                *(entries[one].right, entries[one].found, entries[one].labelled),
                *(captions[one].right, captions[one].found, captions[one].labelled),
            ]
            for one in CRITERIA
        }
    return rows


def _etva(said: Said) -> dict[str, Any]:
    """How many released questions are asked, and how many of those asked are released."""
    text = Models([ModelChoice.parse(TEXT)]).role("text_embedding")
    released = [one for one, _ in said.questions]
    rows: dict[str, Any] = {"prompts": len(released), "similarity": TEXT}
    for name, written in (
        ("the model", [one.value or QuestionSet(r.prompt, ()) for r, one in said.questions]),
        ("the rules", [write_by_rules(one.prompt) for one in released]),
    ):
        coverage, precision = covered(released, written, text), covered(written, released, text)
        rows[name] = [coverage.found, coverage.total, precision.found, precision.total]
    rows["written"] = [
        {
            "prompt": wanted.prompt,
            "questions": [one.text for one in found.value.questions] if found.value else [],
            "left_out": list(found.value.left_out) if found.value else [],
            "failure": str(found.failure or ""),
        }
        for wanted, found in said.questions
    ]
    return rows


def show(*files: str) -> None:
    for name in files:
        content = json.loads(Path(name).read_text())
        for mode in MODES:
            calls = [one for one in content["calls"] if one["mode"] == mode]
            print(f"\n{content['model']}, {mode}\n")
            print(
                "| step | asked | at first | after repair | no value | tokens in, out | seconds |"
            )
            print("|---|---|---|---|---|---|---|")
            for use in dict.fromkeys(one["use"] for one in calls):
                print(f"| {_row(use, [one for one in calls if one['use'] == use])} |")
            print(f"| {_row('all', calls)} |")
        _show_facts(content["facts"])
        _show_questions(content["etva"])


def _show_facts(facts: dict[str, Any]) -> None:
    print(f"\n{facts['answered']} of {facts['captions']} labelled captions were answered\n")
    print("| criterion | labelled | model: precision, recall | rules: precision, recall |")
    print("|---|---|---|---|")
    for name in CRITERIA:
        cells = []
        for who in ("the model", "the rules"):
            right, found, wanted, *_ = facts[who][name]
            cells.append(f"{_share(right, found)}, {_share(right, wanted)}")
        print(f"| {name} | {facts['the model'][name][2]} | " + " | ".join(cells) + " |")


def _show_questions(etva: dict[str, Any]) -> None:
    print(f"\nQuestions for {etva['prompts']} prompts, by {etva['similarity']}\n")
    print("| writer | released questions asked | its questions that were released |")
    print("|---|---|---|")
    for who in ("the model", "the rules"):
        covered_, wanted, right, written = etva[who]
        print(f"| {who} | {_share(covered_, wanted)} | {_share(right, written)} |")
    for one in etva["written"]:
        print(f"\n{one['prompt']}{one['failure']}")
        for question in one["questions"]:
            print(f"- {question}")


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f} ({part}/{whole})" if whole else "–"


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
            f"{sum(one['seconds'] for one in calls) / max(1, len(calls)):.1f}",
        ]
    )


if __name__ == "__main__":
    command, *given = sys.argv[1:]
    if command == "show":
        show(*given)
    else:
        {"steps": steps, "judge": judge}[command](Path(given[0]), *given[1:])
