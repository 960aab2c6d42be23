"""How well captions are read: precision and recall per criterion on captions labelled by hand.

Run: python bench/captions.py [--split elsewhere|held_out|rules] [--misses]
``elsewhere`` needs the folder of test data (SCREENTEST_DATA): its captions do not ship.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from pathlib import Path

from tests.testbeds.captions.agreement import Agreement, agreement, eligibility, keys

from screentest.core import from_object
from screentest.testbeds.captions.facts import CRITERIA, CaptionFacts
from screentest.testbeds.captions.rules import read_caption, rules_signature

ROOT = Path(__file__).parent.parent
LABELS = ROOT / "tests/testbeds/captions/labelled.json"
ELSEWHERE = ROOT / "tests/testbeds/captions/labelled_elsewhere.json"


def labelled(split: str) -> list[tuple[str, CaptionFacts]]:
    if split == "elsewhere":
        return labelled_elsewhere()
    content = json.loads(LABELS.read_text(encoding="utf-8"))
    return [
        (entry["caption"], from_object(CaptionFacts, _paired(entry["facts"])))
        for entry in content["captions"]
        if entry["split"] == split
    ]


def labelled_elsewhere() -> list[tuple[str, CaptionFacts]]:
    data = Path(os.environ.get("SCREENTEST_DATA", ROOT.parent / "shared" / "data"))
    content = json.loads(ELSEWHERE.read_text(encoding="utf-8"))
    cases = []
    for entry in content["captions"]:
        film = json.loads((data / entry["file"]).read_text(encoding="utf-8"))
        if isinstance(entry["at"], int):
            caption = next(each["caption"] for each in film["shots"] if each["shot"] == entry["at"])
        else:
            caption = film[entry["at"]]
        if not hashlib.sha256(caption.encode()).hexdigest().startswith(entry["sha256"]):
            raise SystemExit(f"{entry['file']} is not the file that was labelled")
        cases.append((caption, from_object(CaptionFacts, _paired(entry["facts"]))))
    return cases


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
    parser.add_argument("--split", choices=("elsewhere", "held_out", "rules"), default="held_out")
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
