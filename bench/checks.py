"""Whether the check of a pair keeps what the eye keeps: a table of docs/evidence/degradations.md.

    python bench/checks.py CORPUS FOLDER

CORPUS is what ``python -m tests.testbeds.real_films`` writes. Pairs are built there with
``check=report``, so that those that fail are seen, too. ``check_labels.json`` has a letter for each
clip, given by one person who looked at three moments of it before and after: A, the harm is plain
and what should stay has stayed; B, in a part of the clip only; C, not so.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from _figures import Table, publish
from screentest.core.registry import build
from screentest.inputs.importers import read_corpus
from screentest.models import Models, read_models
from screentest.run.engine import InlineEngine
from screentest.testbeds.builder import build_testbed
from screentest.testbeds.captions.facts import CaptionFacts
from screentest.testbeds.captions.rules import read_caption
from screentest.testbeds.checks import check_pair
from screentest.testbeds.options import BuildOptions
from screentest.testbeds.sources import Extractor
from screentest.testbeds.testbed import Testbed

LABELS = json.loads(Path(__file__).with_name("check_labels.json").read_text(encoding="utf-8"))
PARTS = {"background": ("background_consistency",), "things": ("object_integrity", "color")}


def facts_of(caption: str) -> CaptionFacts:
    """As the rules read a caption; every clip has a background."""
    facts = read_caption(caption)
    return replace(facts, background=facts.background or ("surroundings",))


def built(corpus: Path, folder: Path, operators: tuple[str, ...]) -> Testbed:
    named = {source for films in LABELS.values() for source in films}
    items = [item for item in read_corpus(corpus, None).items if item.id in named]
    options = BuildOptions(
        degradations=operators,
        clips=(8,),
        least_clips=1,
        rate=Fraction(2),
        long_side=384,
        check="report",
        models=read_models(["light"]),
    )
    reader = Extractor("eye", facts_of)
    return build_testbed(items, folder, options, extractor=reader, engine=InlineEngine()).testbed


def main() -> None:
    corpus, folder = Path(sys.argv[1]), Path(sys.argv[2])
    counts: dict[str, Counter[tuple[str, bool]]] = {}
    models = Models(read_models(["light"]))
    models.remember()
    for part, operators in PARTS.items():
        for pair in built(corpus, folder / part, operators).pairs:
            info = build("degradation", pair.name).thing.info
            for touch in pair.touched:
                label = LABELS[pair.name].get(pair.source, {}).get(str(touch.clip + 1))
                if label is None:
                    continue
                found = check_pair(replace(pair, touched=(touch,)), folder / part, info, models)
                passes = not any(fault.clip == touch.clip for fault in found.faults)
                counts.setdefault(pair.name, Counter())[label, passes] += 1
    rows = []
    for name, seen in counts.items():
        kept = {label: seen[label, True] for label in "ABC"}
        total = {label: kept[label] + seen[label, False] for label in "ABC"}
        rows.append(
            [
                name.replace("_", " "),
                *(f"{kept[label]} of {total[label]}" for label in "ABC"),
                kept["A"] / max(1, sum(kept.values())),
                kept["A"] / max(1, total["A"]),
            ]
        )
    columns = {"operator": "", "A kept": "", "B kept": "", "C kept": ""}
    table = Table({**columns, "precision": "{:.2f}", "recall": "{:.2f}"}, rows)
    publish("checks", "python bench/checks.py corpus.jsonl FOLDER", {"labels": table})


if __name__ == "__main__":
    main()
