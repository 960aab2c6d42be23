"""How well captions are read: precision and recall per criterion on captions labelled by hand.

Run: python bench/captions.py [--split long_held_out|long_dev|elsewhere|held_out|rules] [--misses]
Splits with captions that do not ship need the folder of test data (SCREENTEST_DATA); the long ones
take further captions from a Vript download: --vript FOLDER.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from tests.testbeds.captions import long_labels
from tests.testbeds.captions.agreement import Agreement, agreement, eligibility, keys

from _figures import Table, publish
from screentest.core import from_object
from screentest.testbeds.captions.facts import CRITERIA, CaptionFacts
from screentest.testbeds.captions.rules import read_caption, rules_signature

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("SCREENTEST_DATA", ROOT.parent / "shared" / "data"))
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
    content = json.loads(ELSEWHERE.read_text(encoding="utf-8"))
    cases = []
    for entry in content["captions"]:
        film = json.loads((DATA / entry["file"]).read_text(encoding="utf-8"))
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


SHARES = ("precision", "recall", "any: precision", "any: recall")


def row(name: str, entries: Agreement, captions: Agreement) -> list[str | float | None]:
    shares = (entries.precision, entries.recall, captions.precision, captions.recall)
    return [name, entries.labelled, *shares]


def show(split: str, *, misses: bool) -> None:
    cases = labelled(split)
    pairs = [(labels, read_caption(caption)) for caption, labels in cases]
    print(f"{rules_signature()}: {len(cases)} captions ({split})\n")
    entries, captions = agreement(pairs), eligibility(pairs)
    columns = {"criterion": "", "labelled": "", **dict.fromkeys(SHARES, "{:.2f}")}
    table = Table(columns, [row(name, entries[name], captions[name]) for name in CRITERIA])
    publish(f"captions_{split}", f"python bench/captions.py --split {split}", {"criteria": table})
    if misses:
        for (caption, labels), (_, found) in zip(cases, pairs, strict=True):
            print(f"\n{caption}")
            for name in CRITERIA:
                _differences(name, keys(labels, name), keys(found, name))


def show_long(split: str, vript: Path | None, *, misses: bool) -> None:
    cases = long_labels.read_labelled(split, DATA, vript)
    facts = [read_caption(case.text) for case in cases]
    print(f"{rules_signature()}: {len(cases)} long captions ({split})\n")
    rows: list[list[Any]] = []
    for name in long_labels.CRITERIA:
        pairs = list(zip(cases, facts, strict=True))
        entries = [long_labels.compare(case, said, name) for case, said in pairs]
        judged = (long_labels.mentions(case, said, name) for case, said in pairs)
        captions = [one for one in judged if one is not None]
        cells = [
            _cell(counts, recall=recall)
            for counts in (entries, captions)
            for recall in (False, True)
        ]
        sums = (sum(one.found for one in entries), sum(one.labelled for one in entries))
        rows.append([name, *sums, *cells])
    columns = {"criterion": "", "found": "", "labelled": ""}
    columns |= dict.fromkeys(SHARES, "{:.2f} ({:.2f}–{:.2f})")
    asked = f"--split long_{split}{' --vript FOLDER' * bool(vript)}"
    name = f"captions_long_{split}{'_vript' * bool(vript)}"
    publish(name, f"python bench/captions.py {asked}", {"criteria": Table(columns, rows)})
    if misses:
        for case, said in zip(cases, facts, strict=True):
            print(f"\n{case.name}: {case.text}")
            for name in long_labels.CRITERIA:
                sure, may = case.keys(name)
                _differences(name, sure, long_labels.found_keys(said, name) - may)


def _cell(counts: list[long_labels.Counts], *, recall: bool) -> tuple[float, ...] | None:
    value = long_labels.share(counts, recall=recall)
    between = long_labels.interval(counts, recall=recall)
    return None if value is None or between is None else (value, *between)


def _differences(name: str, expected: set[tuple[str, ...]], said: set[tuple[str, ...]]) -> None:
    for sign, these in (("-", expected - said), ("+", said - expected)):
        for each in sorted(these):
            print(f"  {sign} {name}: {' / '.join(each)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    splits = ("long_held_out", "long_dev", "elsewhere", "held_out", "rules")
    parser.add_argument("--split", choices=splits, default="long_held_out")
    parser.add_argument("--vript", type=Path, help="a Vript download with captions files")
    parser.add_argument("--misses", action="store_true", help="every difference, one per line")
    asked = parser.parse_args()
    if asked.split.startswith("long_"):
        show_long(asked.split.removeprefix("long_"), asked.vript, misses=asked.misses)
    else:
        show(asked.split, misses=asked.misses)


if __name__ == "__main__":
    main()
