"""Scores of other tools. The form of VBench's files is that of its `evaluate.py`:
`{dimension: [mean, [{"video_path", "video_results", …}]]}`, videos named `PROMPT-0.mp4` to `-4`."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import screentest
from screentest.analysis.models.coverage import PromptCoverage
from screentest.analysis.models.rows import State
from screentest.analysis.score_files import read_score_files
from screentest.core.errors import BadOption, ManifestError
from tests.messages import names

PROMPTS = [f"a person swimming in ocean {number}" for number in range(12)]


def vbench(path: Path, videos: str, scores: Mapping[str, Sequence[Any]], seeds: int = 1) -> Path:
    """Write a file as VBench does: the numbers of each dimension, prompt after prompt."""
    names = [f"{videos}/{prompt}-{seed}.mp4" for prompt in PROMPTS for seed in range(seeds)]
    content = {
        dimension: [
            0.5,
            [
                {"video_path": name, "video_results": number}
                for name, number in zip(names, numbers, strict=False)
            ],
        ]
        for dimension, numbers in scores.items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=4))
    return path


def table(path: Path, rows: Sequence[Sequence[object]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def drawn(centre: float, count: int, seed: int) -> list[float]:
    return [float(x) for x in np.random.default_rng(seed).normal(centre, 0.02, count)]


def two_models(folder: Path, gap: float) -> list[Path]:
    return [
        vbench(folder / f"{name}.json", f"/videos/{name}", {"subject_consistency": numbers}, 5)
        for name, numbers in (("ours", drawn(0.8 + gap, 60, 1)), ("theirs", drawn(0.8, 60, 2)))
    ]


def test_models_of_vbench_files_are_compared_by_prompts(tmp_path: Path) -> None:
    compared = screentest.compare(*two_models(tmp_path, 0.1)).models
    assert compared is not None
    assert (compared.winner, compared.unit, compared.prompts) == ("ours", "prompt", 12)
    row = compared.rows[0]
    assert row.state is State.SIGNIFICANT
    assert row.margin is None
    assert compared.not_covered.prompts is PromptCoverage.FOREIGN
    assert {value.model: value.scored for value in row.values} == {"ours": 60, "theirs": 60}


def test_equal_models_have_no_winner(tmp_path: Path) -> None:
    compared = screentest.compare(*two_models(tmp_path, 0.0)).models
    assert compared is not None
    assert not compared.winner
    assert compared.rows[0].state is State.UNDECIDED


def test_a_dimension_of_yes_and_no_counts_shares(tmp_path: Path) -> None:
    results = read_score_files(
        [vbench(tmp_path / "a.json", "videos", {"human_action": [True, False, None]})]
    )
    assert [value.number for value in results.of("human_action")] == [1.0, 0.0, None]


@pytest.mark.parametrize(
    ("files", "models"),
    [
        ({"one/r.json": "/v/ours", "two/r.json": "/v/theirs"}, ["ours", "theirs"]),
        ({"one/r.json": "/a/videos", "two/r.json": "/b/videos"}, ["one", "two"]),
        ({"x_eval_results.json": "videos", "y_eval_results.json": "videos"}, ["x", "y"]),
    ],
    ids=["videos", "folder", "name"],
)
def test_a_model_is_named_by_what_tells_files_apart(
    tmp_path: Path, files: Mapping[str, str], models: list[str]
) -> None:
    paths = [vbench(tmp_path / name, at, {"a": [0.1] * 12}) for name, at in files.items()]
    items = read_score_files(paths).items.values()
    assert sorted({item.groups["model"] for item in items}) == models


def test_a_table_of_long_rows_and_of_wide_ones_say_the_same(tmp_path: Path) -> None:
    long = [["model", "prompt", "seed", "metric", "value"]]
    wide = [["model", "prompt", "seed", "FVD", "clip score"]]
    for model in ("a", "b"):
        for number, prompt in enumerate(PROMPTS):
            pair = [str(300 + number), str(0.3 + number / 100 + (model == "b"))]
            long += [
                [model, prompt, "0", "FVD", pair[0]],
                [model, prompt, "0", "clip score", pair[1]],
            ]
            wide.append([model, prompt, "0", *pair])
    first, second = (
        screentest.compare(table(tmp_path / f"{name}.csv", rows), lower="FVD").models
        for name, rows in (("long", long), ("wide", wide))
    )
    assert first is not None
    assert first == second
    better = {row.info.label: row.better for row in first.rows}
    assert better == {"FVD": "lower", "clip score": "higher"}
    assert first.winner == "b"


def test_rows_without_a_seed_are_videos_of_a_prompt(tmp_path: Path) -> None:
    rows = [["model", "prompt", "value"], ["a", "x", "1"], ["a", "x", "3"], ["b", "x", "2"]]
    results = read_score_files([table(tmp_path / "q.csv", rows)])
    assert len(results.items) == 3
    assert {results.unit(item) for item in results.items} == {"x"}
    compared = screentest.compare(tmp_path / "q.csv").models
    assert compared is not None
    assert {value.model: value.mean for value in compared.rows[0].values} == {"a": 1.0, "b": 2.0}


def test_what_is_no_score_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    files = {
        "means.json": '{"a": 0.5}',
        "empty.json": "{}",
        "text.csv": "prompt,value\nx,high\n",
        "short.csv": "model,prompt,value\na,x\n",
        "twice.csv": "model,prompt,seed,value\na,x,0,1\na,x,0,2\n",
        "unnamed.csv": "prompt,value\n,1\n",
        "columns.csv": "film,value\nx,1\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(ManifestError) as refused:
            screentest.compare(tmp_path / name)
        assert names(refused.value, name)


def test_options_of_runs_and_of_files_do_not_mix(tmp_path: Path) -> None:
    first, second = two_models(tmp_path, 0.1)
    for wrong in (
        lambda: screentest.compare(first, tmp_path),
        lambda: screentest.compare(first, second, lower="subject"),
        lambda: screentest.compare(first, second, judges="a"),
        lambda: screentest.compare(tmp_path, lower="a"),
        lambda: screentest.compare(first),
    ):
        with pytest.raises(BadOption):
            wrong()


def test_the_page_of_such_files_has_the_answer(tmp_path: Path) -> None:
    page = screentest.report(*two_models(tmp_path, 0.1), out=tmp_path / "page.html")
    text = Path(page).read_text()
    assert "ours" in text
    assert "subject consistency" in text
