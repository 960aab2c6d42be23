"""Two encodes of the same frames are no two models; a blurred one is."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

import screentest
from screentest.analysis.models.margins import margin_of
from screentest.analysis.results import Value
from screentest.core import BadOption, Outcome, Score, registry
from screentest.judges.spread import PlaceboSpread
from screentest.run.reader import RunReader
from screentest.suites.core import METRICS
from tests.present.runs import certificate, certify_run, two_systems
from tests.terminal import invoke

FILMS = ("sintel", "bbb", "real")


def test_every_margin_has_its_origin_and_is_of_a_metric_there_is() -> None:
    table = json.loads(
        (files("screentest.analysis.models") / "margins.json").read_text(encoding="utf-8")
    )
    assert table["origin"]["made_by"] == "bench/margins.py"
    assert {"crf23", "trim", "container"} <= set(table["origin"]["placebos"])
    causes = {
        value
        for metric in METRICS
        for traits in registry.build("metric", metric).thing.info.traits.values()
        for effect in traits.helped_by
        for value in (effect.value, effect.unless)
    }
    for key, margin in table["margins"].items():
        name, version, *_ = key.split("|")
        metric, _, output = name.partition(".")
        info = registry.build("metric", metric).thing.info.outputs[output or metric]
        # What only describes has one where it explains leads in something else.
        assert not info.descriptive or name in causes
        assert f"v:{registry.entry('metric', metric).version}" == version, key
        assert 0 <= margin["worst"] <= info.high - info.low
        assert margin["films"] >= 5
    known = {key.partition("|")[0].partition(".")[0] for key in table["margins"]}
    # What asks for a script, or only describes, was not measured.
    apart = {"colourfulness", "tint", "motion", "shot_count"}
    assert set(METRICS) - known - {"prompt_objects"} <= apart


def test_another_version_or_model_has_no_margin() -> None:
    def margin(signature: str) -> float | None:
        value = Value("x", "noise", "noise", Outcome.of(Score(0.1)), signature)
        found = margin_of(value, "worst")
        return found.value if found else None

    assert margin("noise|v:1|rate:4.0") == pytest.approx(0.164, rel=0.5)
    assert margin("noise|v:99|rate:4.0") is None
    assert margin("noise|v:1|model.flow:raft") is None


def encode(ffmpeg: str, source: Path, start: float, out: Path, crf: int, blur: str = "") -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    picture = f"scale=192:108{blur}"
    subprocess.run(
        [
            *(ffmpeg, "-v", "error", "-y", "-ss", str(start), "-i", str(source), "-t", "0.5"),
            *("-an", "-vf", picture, "-crf", str(crf), "-preset", "veryfast", "-threads", "1"),
            *("-pix_fmt", "yuv420p", str(out)),
        ],
        check=True,
    )


@pytest.mark.slow
def test_a_second_encode_wins_nothing_and_a_blur_loses(
    ffmpeg: str, sample: Path, tmp_path: Path
) -> None:
    films = [path for path in sorted(sample.glob("*.mp4")) if path.name.startswith(FILMS)]
    for number in range(12):
        source, start = films[number % len(films)], 1.5 + 1.1 * (number // len(films))
        for model, crf, blur in (("a", 16, ""), ("b", 18, ""), ("c", 16, ",gblur=sigma=3")):
            encode(ffmpeg, source, start, tmp_path / model / f"{number}.mp4", crf, blur)
    metrics = "sharpness,noise,flicker,blockiness,contrast,naturalness"
    scores = screentest.score(
        [tmp_path / model for model in "abc"],
        metrics=metrics,
        out=tmp_path / "run",
        progress=False,
    )
    twice = scores.answer("folder=a,b")
    assert twice is not None
    assert not any(row.state == "holds" for row in twice.rows)
    assert not any(row.leader for row in twice.rows), [row.leader for row in twice.rows]
    every = scores.answer()
    assert every is not None
    assert every.prompts == 12
    sharp = next(row for row in every.rows if row.name == "sharpness")
    assert (sharp.state, sharp.leader, sharp.last) == ("holds", "", "c")
    assert every.loser == "c"
    with RunReader(tmp_path / "run") as run:
        assert len(set(run.contents().values())) <= 36
    assert "c" in json.loads(invoke("compare", tmp_path / "run", "--json").stdout)["loser"]


def test_margins_of_certificates_count_where_pixels_were_changed(tmp_path: Path) -> None:
    """``compare --margins``: placebos that pack the same pixels otherwise teach nothing."""
    run = two_systems(tmp_path / "scores")

    def certified(margin: float, *placebos: str) -> Path:
        one = certificate("calm")
        aspects = tuple(replace(part, margin=PlaceboSpread(margin, 7)) for part in one.aspects)
        tried = tuple(replace(one.placebos[0], name=name) for name in placebos)
        folder = tmp_path / f"{margin:g} {'+'.join(placebos)}"
        return certify_run(folder, [replace(one, aspects=aspects, placebos=tried)])

    said = {}
    for margin in (0.01, 0.5):
        folder = certified(margin, "container", "reencode")
        told = invoke("compare", run, "--by", "model=ours,theirs", "--margins", folder, "--json")
        row = next(one for one in json.loads(told.stdout)["rows"] if one["name"] == "calm")
        said[margin] = (row["margin"]["value"], row["margin"]["films"], row["state"])
        assert row["margin"]["run"] == str(folder)
    assert said == {0.01: (0.01, 7, "significant"), 0.5: (0.5, 7, "equivalent")}
    with pytest.raises(BadOption, match="pixels"):
        screentest.compare(run, margins=certified(0.0, "container", "trim"))
