"""How well captions are read: precision and recall per criterion on captions labelled by hand.

Run: python bench/captions.py [--split held_out|rules] [--misses]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from screentest.core import from_object
from screentest.degrade.captions.agreement import Agreement, agreement, eligibility, keys
from screentest.degrade.captions.facts import CRITERIA, CaptionFacts
from screentest.degrade.captions.rules import read_caption, rules_signature

LABELS = Path(__file__).parent.parent / "tests/degrade/captions/labelled.json"


def labelled(split: str) -> list[tuple[str, CaptionFacts]]:
    content = json.loads(LABELS.read_text(encoding="utf-8"))
    return [
        (entry["caption"], from_object(CaptionFacts, _paired(entry["facts"])))
        for entry in content["captions"]
        if entry["split"] == split
    ]


def _paired(facts: dict[str, list[object]]) -> dict[str, list[object]]:
    """Objects of two fields, as the file has them, to the pairs that facts hold."""
    return {
        name: [list(entry.values()) if isinstance(entry, dict) else entry for entry in entries]
        for name, entries in facts.items()
    }


def row(name: str, entries: Agreement, captions: Agreement) -> str:
    cells = [
        f"{value:.2f}" if value is not None else "–"
        for value in (entries.precision, entries.recall, captions.precision, captions.recall)
    ]
    return f"| {name} | {entries.labelled} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", choices=("held_out", "rules"), default="held_out")
    parser.add_argument("--misses", action="store_true", help="every difference, one per line")
    asked = parser.parse_args()
    cases = labelled(asked.split)
    pairs = [(labels, read_caption(caption)) for caption, labels in cases]
    print(f"{rules_signature()}: {len(cases)} captions ({asked.split})\n")
    print("| criterion | labelled | precision | recall | any: precision | any: recall |")
    print("|---|---|---|---|---|---|")
    entries, captions = agreement(pairs), eligibility(pairs)
    for name in CRITERIA:
        print(row(name, entries[name], captions[name]))
    if asked.misses:
        for (caption, labels), (_, found) in zip(cases, pairs, strict=True):
            print(f"\n{caption}")
            for name in CRITERIA:
                expected, said = keys(labels, name), keys(found, name)
                for sign, these in (("-", expected - said), ("+", said - expected)):
                    for each in sorted(these):
                        print(f"  {sign} {name}: {' / '.join(each)}")


if __name__ == "__main__":
    main()
