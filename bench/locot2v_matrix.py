"""Which of LoCoT2V-Bench's sub-dimensions reacts to which harm: sub-dimensions × aspects.

    python bench/locot2v_matrix.py TESTBED [--out RUN] [--chart matrix.svg]
        [--metrics NAME,NAME…] [--model ROLE=BACKEND:MODEL]…

Scores every video of a testbed once, into a run that goes on where it stopped, and counts in
how many pairs the intact video is given more. 0.5 is no reaction.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from screentest.core import Aspect, Item
from screentest.degrade import read_testbed
from screentest.evaluate import Settings, score_items
from screentest.evaluate.results import read_results
from screentest.models import Choice
from screentest.run import InlineEngine, RunStore
from screentest.suites.locot2v.analysis.charts import heatmap, save
from screentest.suites.locot2v.analysis.reactions import PairScores, reactions
from screentest.suites.locot2v.analysis.scores import scores_of, titles
from screentest.suites.locot2v.dimensions import ALL, METRICS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("testbed", type=Path)
    parser.add_argument("--out", type=Path, default=Path("matrix"))
    parser.add_argument("--chart", type=Path)
    parser.add_argument("--metrics", default=",".join(METRICS))
    parser.add_argument("--model", action="append", default=[])
    given = parser.parse_args()
    testbed = read_testbed(given.testbed)
    prompts = {one.id: (given.testbed / one.prompt).read_text() for one in testbed.sources}
    videos: dict[str, Item] = {}
    for pair in testbed.pairs:
        for path in (pair.intact, pair.changed.path):
            videos[path] = Item(path, given.testbed / path, prompt=prompts[pair.source])
    settings = Settings(models=tuple(Choice.parse(text) for text in given.model))
    with RunStore(given.out, command="matrix") as store:
        score_items(
            store, list(videos.values()), given.metrics.split(","), settings, engine=InlineEngine()
        )
        scores = scores_of(read_results(store)).items
    pairs = [
        PairScores(pair.name, scores[pair.intact], scores[pair.changed.path])
        for pair in testbed.pairs
    ]
    found = reactions(pairs)
    aspects = [one.value for one in Aspect if any(one.value in row for row in found.values())]
    aspects += sorted({pair.aspect for pair in pairs} - set(aspects))
    named = titles()
    rows = {
        named[one.name]: {aspect: reaction.share for aspect, reaction in found[one.name].items()}
        for one in ALL
        if one.name in found
    }
    width = max(len(name) for name in rows)
    print(" " * width, *(f"{aspect[:11]:>11}" for aspect in aspects))
    for name, row in rows.items():
        cells = (f"{row[one]:11.2f}" if one in row else f"{'–':>11}" for one in aspects)
        print(f"{name:{width}}", *cells)
    counts = {one: sum(pair.aspect == one for pair in pairs) for one in aspects}
    print(f"{'pairs':{width}}", *(f"{counts[one]:11}" for one in aspects))
    if given.chart:
        print(save(heatmap(rows, aspects), given.chart))


if __name__ == "__main__":
    main()
