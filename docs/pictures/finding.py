"""The picture at the top of the README, from the certificates of docs/evidence/trust.md.

python docs/pictures/finding.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot

HERE = Path(__file__).parent
RESULTS = HERE.parent / "evidence" / "results" / "trust.json"
QUESTIONS = ("alignment", "static quality", "temporal quality")
SCORES = {
    "a coin": ("#9aa0a6", "a coin"),
    "UMTScore": ("#7e57c2", "UMTScore"),
    "CLIPScore": ("#d84315", "CLIPScore"),
    "the generator's name alone": ("#00796b", "knowing only which model made it"),
}
RATER = "one person, against the others"


def rows() -> list[dict[str, Any]]:
    """The rows of the table, by column."""
    table = json.loads(RESULTS.read_text(encoding="utf-8"))["tables"]["fetv_generated_pairs"]
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def draw(path: Path) -> None:
    """Shares of right answers with their intervals, question by question."""
    pyplot.rcParams.update({"font.size": 11, "svg.hashsalt": "screentest", "svg.fonttype": "path"})
    figure, axes = pyplot.subplots(figsize=(9.6, 3.5))
    table = rows()
    for place, question in enumerate(reversed(QUESTIONS)):
        own = {row["score"]: row for row in table if row["people were asked about"] == question}
        for number, (score, (colour, label)) in enumerate(SCORES.items()):
            low, high = own[score]["95%"]
            height = place + (number - 1.5) * 0.17
            axes.plot([low, high], [height, height], color=colour, lw=2.5, solid_capstyle="round")
            axes.plot(own[score]["right %"], height, "o", color=colour, ms=7, label=label)
        ceiling = own["CLIPScore"]["a rater %"]
        axes.plot([ceiling] * 2, [place - 0.4, place + 0.4], color="black", lw=2, label=RATER)
    axes.axvline(50, color="#9aa0a6", lw=1, ls="--")
    axes.set_yticks(range(3), [f"{one}" for one in reversed(QUESTIONS)])
    axes.set_xlim(40, 95)
    axes.set_xlabel("pairs in which it prefers the video that people prefer, % (50 is chance)")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    handles, labels = axes.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    order = [label for _, label in reversed(SCORES.values())]
    names = [RATER, *order]
    axes.legend(
        [once[name] for name in names],
        names,
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        frameon=False,
    )
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    draw(HERE / "finding.svg")
