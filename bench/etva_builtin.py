"""The built-in answerer: how often it says yes to a film's own caption, and to others'.

Run: python bench/etva_builtin.py
Needs the folder of test data (SCREENTEST_DATA): the films do not ship.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from _figures import Table, publish
from screentest.core import Item, Reason
from screentest.measure.evaluators import resolve, sign
from screentest.measure.items import measure
from screentest.run.session import Tools, settings_of

ROOT = Path(__file__).parent.parent


def films(data: Path) -> list[tuple[Path, str]]:
    captions = json.loads((data / "captions" / "singleshot.json").read_text())["captions"]
    captions |= json.loads((data / "captions" / "cogvideox.json").read_text())
    found = [(data / name, text) for name, text in captions.items() if isinstance(text, str)]
    return [(path, text) for path, text in found if path.is_file()]


def main() -> None:
    data = Path(os.environ.get("SCREENTEST_DATA", ROOT.parent / "shared" / "data")) / "video"
    tools = Tools(settings_of({"models": "light"}, allow_damaged=True))
    metric = resolve("etva_builtin")
    print(sign(metric, tools).signature)
    known = films(data)
    tally: dict[str, Counter[str]] = {"own": Counter(), "other": Counter()}
    kinds: dict[str, Counter[str]] = {"own": Counter(), "other": Counter()}
    for number, (path, text) in enumerate(known):
        others = [known[(number + step) % len(known)][1] for step in (1, 5, 9)]
        for whose, prompt in (("own", text), *(("other", one) for one in others)):
            item = Item(path.stem, path, prompt)
            outcomes = measure(item, {"m": metric.metric}, tools)["m"]
            score = outcomes["score"]
            if score.failure is not None:
                asked: Any = outcomes["coverage"]
                tally[whose]["asked"] += asked.unwrap().details["asked"] if asked.ok else 0
                assert score.failure.reason is Reason.NOT_APPLICABLE, score.failure
                continue
            details: Any = score.unwrap().details
            tally[whose] += Counter({key: details[key] for key in ("yes", "answered", "asked")})
            for scene in details["scenes"]:
                for one in scene["questions"]:
                    if one["answer"] is not None:
                        kinds[whose][f"{one['category']} {one['answer']}"] += 1
    rows = []
    for whose, counts in tally.items():
        yes, answered, asked = counts["yes"], counts["answered"], counts["asked"]
        print(f"{whose:6} yes {yes}/{answered} = {yes / answered:.2f}", end="  ")
        print(f"answered {answered}/{asked} = {answered / asked:.2f}")
        print("      ", dict(sorted(kinds[whose].items())))
        name = "the film's own caption" if whose == "own" else "other films' captions"
        rows.append((name, (yes, answered), yes / answered, (answered, asked), answered / asked))
    columns = {"questions of": "", "yes": "{} of {}", "share of yes": "{:.0%}"}
    columns |= {"answered": "{} of {}", "share answered": "{:.0%}"}
    publish("etva_builtin", "python bench/etva_builtin.py", {"answers": Table(columns, rows)})


if __name__ == "__main__":
    main()
