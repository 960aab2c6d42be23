"""How much of ETVA's released questions the rules ask too, by similarity of the texts.

Run: PYTHONPATH=. python bench/etva_questions.py [--text minilm] [--least 0.7]
     with --prompts qa_full.json --categories question_full.json: on other released files
Needs the folder of test data (SCREENTEST_DATA): the released files do not ship. With other released
files, prompts of the 105 on which the rules were written are left out, and some are drawn. Then
VBench's prompts, on which no rule was written: whose style and camera is asked about.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.suites.etva.agreement import LEAST, Agreement, covered

from _figures import Table, publish
from screentest.models import ModelChoice, Models
from screentest.suites.etva.checks import complaint
from screentest.suites.etva.graph import Category, EntityKind
from screentest.suites.etva.questions import QuestionSet, key_of, read_question_sets
from screentest.suites.etva.rules.writer import rules_signature, write_by_rules

ROOT = Path(__file__).parent.parent


Row = tuple[str, tuple[int, int], float]


def row(name: str, agreement: Agreement) -> Row:
    return name, (agreement.found, agreement.total), agreement.share


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text", default="minilm", help="which text_embedding backend")
    parser.add_argument("--least", type=float, default=LEAST)
    parser.add_argument("--prompts", type=Path, help="released prompts with questions")
    parser.add_argument("--categories", type=Path, help="their released categories")
    parser.add_argument("--draw", type=int, default=250)
    given = parser.parse_args()
    shared = Path(os.environ.get("SCREENTEST_DATA", ROOT.parent / "shared" / "data"))
    data = shared / "etva"
    released = read_question_sets(data / "qa_sample.json", data / "question_sample.json")
    if given.prompts:
        seen = {key_of(one.prompt) for one in released}
        every = read_question_sets(given.prompts, given.categories)
        unseen = [one for one in every if key_of(one.prompt) not in seen and one.questions]
        released = random.Random(0).sample(unseen, min(given.draw, len(unseen)))
        print(f"{len(released)} of {len(unseen)} prompts on which no rule was written")
    written = [write_by_rules(one.prompt) for one in released]
    models = Models([ModelChoice.parse(f"text_embedding={given.text}")])
    text = models.role("text_embedding")
    print(rules_signature(), models.signature("text_embedding"), f"least {given.least}")
    found = covered(released, written, text, least=given.least)
    rotated = [*written[1:], written[0]]
    agreement = [
        row("released questions that the rules ask too", found),
        row(
            "questions of the rules that were released too",
            covered(written, released, text, least=given.least),
        ),
        row(
            "released questions that the rules ask of another prompt",
            covered(released, rotated, text, least=given.least),
        ),
    ]
    kinds = [
        row(category.value, Agreement(some, total, {}))
        for category, (some, total) in found.by_category.items()
    ]
    unwritten = list(vbench(shared / "vbench" / "VBench_full_info.json"))
    names = {"agreement": "questions", "categories": "category", "vbench": "prompts of VBench"}
    tables = {
        key: Table({names[key]: "", "count": "{:,} of {:,}", "share": "{:.0%}"}, rows)
        for key, rows in zip(names, (agreement, kinds, unwritten), strict=True)
    }
    for table in tables.values():
        print(*table.rows, sep="\n")
    if not given.prompts:
        publish("etva_questions", "python bench/etva_questions.py", tables)


def vbench(path: Path) -> Iterator[Row]:
    """Prompts that nobody wrote rules for: styles, camera, and sentences that are none."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    dimensions: dict[str, list[QuestionSet]] = {"": []}
    for prompt in dict.fromkeys(row["prompt_en"] for row in rows):
        dimensions[""].append(write_by_rules(prompt))
    for row in rows:
        for dimension in row["dimension"]:
            dimensions.setdefault(dimension, []).append(write_by_rules(row["prompt_en"]))

    def told(name: str, sets: list[QuestionSet], fits: Callable[[QuestionSet], bool]) -> Row:
        return row(name, Agreement(sum(map(fits, sets)), len(sets), {}))

    yield told("all: some question", dimensions[""], lambda one: bool(one.questions))
    yield told("`appearance_style`: style asked", dimensions["appearance_style"], has_style)
    yield told("`temporal_style`: camera asked", dimensions["temporal_style"], has_camera)
    texts = [one.text for each in dimensions[""] for one in each.questions]
    bad = sum(map(bool, map(complaint, texts)))
    yield row("questions that are no sentence", Agreement(bad, len(texts), {}))


def has_camera(one: QuestionSet) -> bool:
    return any(question.category is Category.CAMERA for question in one.questions)


def has_style(one: QuestionSet) -> bool:
    kinds = {} if one.graph is None else {each.id: each.kind for each in one.graph.entities}
    whole = [name for name, kind in kinds.items() if kind is EntityKind.WHOLE]
    attributes = () if one.graph is None else one.graph.attributes
    return any(each.entity in whole and "spring" not in each.value for each in attributes)


if __name__ == "__main__":
    main()
