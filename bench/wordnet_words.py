"""Make src/screentest/english/words/wordnet.txt from WordNet 3.0 (its folder with index.noun …).

Run: python bench/wordnet_words.py /usr/share/wordnet   (Debian: wordnet-base)

A noun is sorted by what its senses are (WordNet's lexicographer files), weighted by how often each
sense was met in tagged text and, for want of that, by its rank. Proper names and words of several
parts are left out. Of adjectives and verbs only those are taken that are hardly ever nouns.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path
from textwrap import fill

OUT = Path(__file__).parent.parent / "src/screentest/english/words/wordnet.txt"
WORD = re.compile(r"[a-z]{2,16}(?:-[a-z]{2,10})?")
# Lexicographer files: animal, artifact, body, food, object, person, plant, substance.
KINDS = {5: "animals", 6: "thing", 8: "body", 13: "thing", 17: "thing", 18: "people", 20: "thing"}
KINDS[27] = "substance"
SURE = 0.5


def counts(folder: Path) -> dict[tuple[str, str], dict[int, float]]:
    """By word and part of speech: weight by lexicographer file."""
    found: dict[tuple[str, str], dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for name, part in (("noun", "n"), ("verb", "v"), ("adj", "a"), ("adv", "r")):
        files = synset_files(folder / f"data.{name}")
        for line in (folder / f"index.{name}").read_text(encoding="latin-1").splitlines():
            if line.startswith(" "):
                continue
            lemma, _, senses, pointers, *rest = line.split()
            if not WORD.fullmatch(lemma):
                continue
            offsets = rest[int(pointers) + 2 :][: int(senses)]
            for rank, offset in enumerate(offsets, start=1):
                found[lemma, part][files[offset]] += 1 / rank**2
    parts = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
    for line in (folder / "cntlist.rev").read_text(encoding="latin-1").splitlines():
        key, _, count = line.split()
        lemma, _, sense = key.partition("%")
        part, number, *_ = sense.split(":")
        if (lemma, parts[part]) in found:
            found[lemma, parts[part]][int(number)] += int(count)
    return found


def synset_files(path: Path) -> dict[str, int]:
    lines = path.read_text(encoding="latin-1").splitlines()
    return {line.split()[0]: int(line.split()[1]) for line in lines if not line.startswith(" ")}


def irregular(folder: Path) -> dict[str, list[str]]:
    """Forms of the past that are not regular, by verb."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in (folder / "verb.exc").read_text(encoding="latin-1").splitlines():
        form, base, *_ = line.split()
        if not form.endswith(("ing", "s", "ed")) and WORD.fullmatch(form):
            found[base].append(form)
    return found


def capitalised(folder: Path) -> set[str]:
    """Words that WordNet writes with a capital in every sense."""
    plain, large = set(), set()
    for line in (folder / "data.noun").read_text(encoding="latin-1").splitlines():
        if line.startswith(" "):
            continue
        fields = line.split()
        for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2]:
            (plain if word.islower() else large).add(word.lower())
    return large - plain


def main() -> None:
    folder = Path(sys.argv[1])
    found, names, past = counts(folder), capitalised(folder), irregular(folder)
    kinds: dict[str, list[str]] = defaultdict(list)
    for (word, part), files in sorted(found.items()):
        weights = {p: sum(found.get((word, p), {}).values()) for p in "nvar"}
        if part == "n" and word not in names:
            shares: dict[str, float] = defaultdict(float)
            for number, weight in files.items():
                shares[KINDS.get(number, "")] += weight / weights["n"]
            best = max((kind for kind in shares if kind), key=shares.__getitem__, default="")
            seen = 1 - shares[""]
            often_adjective = weights["a"] > weights["n"] and best in ("people", "animals")
            if seen >= SURE and not often_adjective:
                kinds[best].append(word)
        elif part in "av" and weights["n"] * 3 < weights[part] >= 2:
            larger = max(weights, key=weights.__getitem__) == part
            if larger:
                forms = [word, *past.get(word, [])] if part == "v" else [word]
                kinds["adjective" if part == "a" else "verb"].append("/".join(forms))
    head = "# From WordNet 3.0 by bench/wordnet_words.py; see WORDNET-LICENSE beside this file.\n"
    lines = [
        fill(
            f"{kind}: {' '.join(some)}", 110, break_long_words=False, break_on_hyphens=False
        ).replace("\n", f"\n{kind}: ")
        for kind, some in sorted(kinds.items())
    ]
    OUT.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    print({kind: len(some) for kind, some in kinds.items()}, OUT.stat().st_size)


if __name__ == "__main__":
    main()
