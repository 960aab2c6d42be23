"""The figures of docs/evidence/real_models.md: ``python -m tests.real.measure steps|judge|show …``.

    steps OUT MODEL MINUTES [STEP…] [MODE…]
                               every text-only step, or these (caption, etva, …), with and
                               without an enforced schema, or one of them (auto, instructed), on
                               one text after another until the time is over; goes on where it
                               stopped
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
from contextlib import ExitStack
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import tests.real.oracle  # noqa: F401 - registers the judge
from screentest.api.certificates import certify
from screentest.core import Outcome, from_object, to_json
from screentest.models import ModelChoice, Models
from screentest.present.certificates import facts
from screentest.run.engine import InlineEngine
from screentest.suites.etva.questions import QuestionSet
from screentest.suites.etva.rules.writer import write_by_rules
from screentest.testbeds.captions.facts import CRITERIA, CaptionFacts
from screentest.testbeds.captions.rules import read_caption
from tests.real.server import MOST_TOKENS, metered, serving
from tests.real.steps import STEPS, Said, take, texts
from tests.suites.etva.agreement import covered
from tests.testbeds.captions.agreement import agreement

TEXT = "text_embedding=minilm"
"""Which questions ask the same; `screentest models pull builtin` gets it."""
MODES = ("auto", "instructed")
ROUND = 3
"""Texts that one step gets before the next has its turn: servers keep what requests share."""


def steps(out: Path, model: str, minutes: str, *only: str) -> None:
    end = time.monotonic() + 60 * float(minutes)
    modes = [mode for mode in MODES if mode in only] or MODES
    wanted = set(only) - set(MODES)
    content: dict[str, Any] = {"model": model, "done": [], "calls": [], "said": []}
    if out.exists():
        content = _read(out)
    with serving(model) as served, ExitStack() as stack:
        meters = [
            stack.enter_context(metered(served, mode, out.with_suffix(f".{mode}.jsonl")))
            for mode in modes
        ]
        for first in range(0, max(map(texts, STEPS)), ROUND):
            for meter, step in product(meters, STEPS):
                if wanted and step.__name__.removesuffix("_step") not in wanted:
                    continue
                for number in range(first, min(first + ROUND, texts(step))):
                    name = f"{step.__name__} {meter.mode} {number}"
                    if name in content["done"]:
                        continue
                    if time.monotonic() > end:
                        return
                    said, before = Said(), len(meter.calls)
                    take(step, meter, said, number)
                    content["done"].append(name)
                    content["calls"] += [asdict(one) for one in meter.calls[before:]]
                    content["said"].append([meter.mode, number, json.loads(to_json(said))])
                    out.write_text(json.dumps(content, indent=1, default=str))


def judge(out: Path, model: str, *beds: str) -> None:
    with serving(model) as served:
        record = out.with_suffix(".answers.jsonl")
        options = f"base_url={served.url}/v1,concurrency=1,timeout=1800,record={record}"
        sampling = f'sampling={{"max_tokens": {MOST_TOKENS}}}'
        found = certify(
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


def _read(out: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return content


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
        rows[name] = agreement(pairs)
    return rows


def _etva(said: Said) -> dict[str, Any]:
    """How many released questions are asked, and how many of those asked are released."""
    released = [one for one, _ in said.questions]
    rows: dict[str, Any] = {"prompts": len(released), "answered": 0}
    if not released:
        return rows
    text = Models([ModelChoice.parse(TEXT)]).role("text_embedding")
    rows["answered"] = sum(one.ok for _, one in said.questions)
    for name, written in (
        ("the model", [one.value or QuestionSet(r.prompt, ()) for r, one in said.questions]),
        ("the rules", [write_by_rules(one.prompt) for one in released]),
    ):
        coverage, precision = covered(released, written, text), covered(written, released, text)
        rows[name] = [coverage.found, coverage.total, precision.found, precision.total]
    return rows


def show(*files: str) -> None:
    for name in files:
        content = _read(Path(name))
        for mode in MODES:
            calls = [one for one in content["calls"] if one["mode"] == mode]
            print(f"\n{content['model']}, {mode}\n")
            print(
                "| step | asked | at first | after repair | no value | tokens in, out | "
                "seconds, of a core |"
            )
            print("|---|---|---|---|---|---|---|")
            for use in dict.fromkeys(one["use"] for one in calls):
                print(f"| {_row(use, [one for one in calls if one['use'] == use])} |")
            print(f"| {_row('all', calls)} |")
            said = [from_object(Said, one) for kind, _, one in content["said"] if kind == mode]
            whole = Said([f for one in said for f in one.facts], [])
            whole.questions = [q for one in said for q in one.questions]
            _show_checked([one for some in said for one in some.checked])
            _show_facts(_facts(whole))
            _show_questions(_etva(whole), whole)


def _show_checked(checked: list[tuple[str, str, str]]) -> None:
    """Answers of which one is right: how many are, and what was taken for what."""
    for kind in dict.fromkeys(name for name, *_ in checked):
        some = [(known, said) for name, known, said in checked if name == kind]
        right = sum(known == said for known, said in some)
        wrong = Counter(f"{known} → {said}" for known, said in some if known != said)
        missed = ", ".join(f"{count} {what}" for what, count in wrong.items())
        print(f"\n{kind}: {_share(right, len(some))} right; {missed or 'nothing wrong'}")


def _show_facts(facts: dict[str, Any]) -> None:
    print(f"\n{facts['answered']} of {facts['captions']} labelled captions were answered\n")
    print("| criterion | labelled | model: precision, recall | rules: precision, recall |")
    print("|---|---|---|---|")
    for name in CRITERIA:
        cells = []
        for who in ("the model", "the rules"):
            one = facts[who][name]
            cells.append(f"{_share(one.right, one.found)}, {_share(one.right, one.labelled)}")
        print(f"| {name} | {facts['the model'][name].labelled} | " + " | ".join(cells) + " |")


def _show_questions(etva: dict[str, Any], said: Said) -> None:
    print(f"\nQuestions for {etva['answered']} of {etva['prompts']} prompts, by {TEXT}\n")
    print("| writer | released questions asked | its questions that were released |")
    print("|---|---|---|")
    for who in ("the model", "the rules"):
        if who in etva:
            covered_, wanted, right, written = etva[who]
            print(f"| {who} | {_share(covered_, wanted)} | {_share(right, written)} |")
    for wanted, found in said.questions:
        print(f"\n{wanted.prompt} {found.failure or ''}")
        for question in found.value.questions if found.value else ():
            print(f"- {question.text} ({question.category})")
        for left in found.value.left_out if found.value else ():
            print(f"  left out: {left}")


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
            f"{sum(one['seconds'] for one in calls) / max(1, len(calls)):.1f}, "
            f"{sum(one['of_a_core'] for one in calls) / max(1, len(calls)):.1f}",
        ]
    )


if __name__ == "__main__":
    command, *given = sys.argv[1:]
    if command == "show":
        show(*given)
    else:
        (steps if command == "steps" else judge)(Path(given[0]), *given[1:])
