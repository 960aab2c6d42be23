"""Long captions labelled by hand, and how what was read of them compares.

Their texts are not in the repository. Those in the folder of test data are named by file, place and
hash, those of Vript by clip id: ``read_texts`` looks in a download of it.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from screentest.english.lexicon import lexicon
from screentest.testbeds.captions.facts import CaptionFacts

LABELS = Path(__file__).parent / "labelled_long.json"
CRITERIA = ("subject", "dynamic_degree", "sides", "color", "background")
_TEXT = {"genai": "prompt", "fetv": "prompt", "etva": "prompt", "vbench": "prompt_en"}

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelledCaption:
    """A caption and what people say is in it."""

    name: str
    text: str
    labels: dict[str, list[str]]

    def keys(self, criterion: str) -> tuple[set[Key], set[Key]]:
        """What must be found, and what may be."""
        given = self.labels.get(criterion, [])
        sure = {_key(one.split()) for one in given if not one.startswith("~")}
        return sure, {_key(one[1:].split()) for one in given if one.startswith("~")} - sure


@dataclass(frozen=True, slots=True)
class Counts:
    """Of one caption and criterion."""

    right: int
    found: int
    labelled: int


def read_labelled(split: str, data: Path, vript: Path | None = None) -> list[LabelledCaption]:
    """The captions of one half (``dev``, ``held_out``) whose texts are here."""
    entries = json.loads(LABELS.read_text(encoding="utf-8"))["captions"]
    wanted = [entry for entry in entries if entry["split"] == split]
    clips = {} if vript is None else dict(_vript_texts(vript))
    found = []
    for entry in wanted:
        if "clip" in entry:
            name, text = entry["clip"], clips.get(entry["clip"])
        else:
            name, text = f"{entry['file']}:{entry['at']}", _text(data, entry)
        if text is not None:
            found.append(LabelledCaption(name, text, entry))
    return found


def _text(data: Path, entry: dict[str, Any]) -> str | None:
    path = data / entry["file"]
    if not path.exists():
        return None
    content = path.read_text(encoding="utf-8")
    try:
        rows = json.loads(content)
    except json.JSONDecodeError:
        rows = [json.loads(line) for line in content.splitlines() if line.strip()]
    text: str = rows[entry["at"]][_TEXT[entry["file"].partition("/")[0]]]
    if not hashlib.sha256(text.encode()).hexdigest().startswith(entry["sha256"]):
        raise ValueError(f"{path} is not the file that was labelled")
    return text


def _vript_texts(folder: Path) -> Iterator[tuple[str, str]]:
    for file in sorted(folder.rglob("*_caption.json")):
        for name, clip in json.loads(file.read_text(encoding="utf-8"))["data"].items():
            yield name, clip["caption"]["content"]


def found_keys(facts: CaptionFacts, criterion: str) -> set[Key]:
    """What was read of one criterion, as labels are compared: by the last word of a name."""
    entries = getattr(facts, "spatial_relationship" if criterion == "sides" else criterion)
    if criterion in ("subject", "background"):
        return {_key([_last(entry)]) for entry in entries}
    if criterion == "dynamic_degree":
        return {_key([_last(agent), action]) for agent, action in entries}
    if criterion == "sides":
        words = [(set(place.lower().replace("-", " ").split()), thing) for place, thing in entries]
        return {
            _key([side, _last(thing)])
            for place, thing in words
            for side in ("left", "right")
            if side in place
        }
    return {_key([colour, _last(thing)]) for colour, thing in entries}


def _last(name: str) -> str:
    return name.lower().split()[-1]


def _key(words: Sequence[str]) -> Key:
    return tuple(lexicon().singular(word.lower()) for word in words)


def compare(caption: LabelledCaption, facts: CaptionFacts, criterion: str) -> Counts:
    """Counts of one caption. What may be found counts neither way."""
    sure, may = caption.keys(criterion)
    said = found_keys(facts, criterion) - may
    return Counts(len(said & sure), len(said), len(sure))


def mentions(caption: LabelledCaption, facts: CaptionFacts, criterion: str) -> Counts | None:
    """What a builder asks: is there anything of this kind? None where labels leave it open."""
    sure, may = caption.keys(criterion)
    if may and not sure:
        return None
    said = bool(found_keys(facts, criterion) - (set() if sure else may))
    return Counts(int(said and bool(sure)), int(said), int(bool(sure)))


def share(counts: Sequence[Counts], *, recall: bool = False) -> float | None:
    """Precision, or recall, over captions."""
    whole = sum(one.labelled if recall else one.found for one in counts)
    return sum(one.right for one in counts) / whole if whole else None


def interval(counts: Sequence[Counts], *, recall: bool = False) -> tuple[float, float] | None:
    """95 % by drawing captions anew: entries of one caption are not independent."""
    rng = random.Random(0)
    drawn = (share(rng.choices(counts, k=len(counts)), recall=recall) for _ in range(2000))
    values = sorted(value for value in drawn if value is not None)
    return (values[len(values) // 40], values[-1 - len(values) // 40]) if values else None
