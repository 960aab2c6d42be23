"""Faults of generated video: whether `compare` finds them, and whether `baseline` sees them.

    python bench/artefacts.py measure DATA VALUES [PART]    real clips under every fault, in memory
    python bench/artefacts.py write VALUES [DRAWS]

The faults are those of core_artefacts.py, at one plain strength. The clips are of films on which
neither metrics nor judge were tuned. Each goes through the testbeds' encoder, as do its placebos.
`measure` takes every second clip with PART 0 or 1.

A draw compares three models on 12 of the clips in which something moves: the damaged one, the
intact one, and the intact one encoded again, whose change is the margin. A fault is found where the
damaged model is significantly worse in a value that the fault is planted in. A claim is wrong where
it is better in anything and no artefact explains it, or where the intact ones differ.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np

from _figures import ROOT, Table, publish
from core_artefacts import ALL, FIRST, SECOND, SEEN_BY, Frame
from screentest.analysis.models.comparison import compare_models
from screentest.analysis.results import POOLS, Margin, Pool, Results, Value
from screentest.core import Aspect, Item, Outcome, Score, build
from screentest.core.signature import value_name
from screentest.judges.baseline import BaselineJudge
from screentest.judges.spread import PlaceboSpreads
from screentest.stats.intervals import upper_mean

sys.path.insert(0, str(ROOT))
from tests.judges.harmed_shots import METRICS, converted, encoded, film_scores, placebo, values_of

SINGLE = {
    **dict.fromkeys(("sam2_bedroom", "sam2_blocks", "sam2_coffee", "sam2_cups", "sam2_dog"), 1.0),
    "imageio_cockatoo": 2.0,
    "his_girl_friday_clip": 2.0,
    "mdn_flower": 1.0,
}
CLIPS: tuple[tuple[str, float], ...] = (
    *((f"singleshot/{name}.mp4", start) for name, start in SINGLE.items()),
    ("singleshot/intel_one_by_one_person.mp4", 4.0),
    ("singleshot/kivy_cityCC0.mpg", 1.0),
    ("singleshot/renpy_oa4_launch.webm", 2.0),
    *((f"ai_generated/cogvideox_{number}.mp4", 1.0) for number in (1, 2, 3, 4)),
    ("ai_generated/talc_20_talc.mp4", 0.5),
    *(("multishot/sintel_trailer_1280x720.mp4", start) for start in (13.5, 22.0, 31.0, 40.0)),
    *(("multishot/real_montage_12shots_640x360.mp4", at) for at in (0.3, 6.5, 13.0, 20.0, 28.0)),
)
"""Films in DATA/video that the judge was not tuned on, and from which second on."""
SIDE, SECONDS, MOST = 320, 2.0, 60
LEAST_MOTION = 0.35
"""`steadiness.lively` from which on something moves."""
PLACEBOS = ("reencode", "noise", "painted_instruction")
COMPARED = tuple(
    dict.fromkeys(
        (
            *("contrast", "sharpness", "noise", "blockiness", "naturalness", "grain", "flicker"),
            *("frozen", *METRICS),
        )
    )
)
PROMPTS = 12


def decoded(path: Path, start: float) -> tuple[list[Frame], Fraction]:
    """RGB frames of a clip, and their rate."""
    frames: list[Frame] = []
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        rate = Fraction(stream.average_rate or 15).limit_denominator(1001)
        for frame in container.decode(stream):
            if frame.time is None or frame.time < start:
                continue
            if frame.time >= start + SECONDS or len(frames) == MOST:
                break
            scale = SIDE / max(frame.width, frame.height)
            size = [round(side * scale / 4) * 4 for side in (frame.width, frame.height)]
            small = frame.reformat(*size, "rgb24", interpolation="AREA").to_ndarray()
            frames.append(np.asarray(small, np.uint8))
    return frames, rate


def measure(data: Path, out: Path, part: int | None = None) -> None:
    """A line of JSON for each clip and what was done to it; what is there is not done again."""
    cv2.setNumThreads(1)
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    known = {(row["clip"], row["what"]) for row in map(json.loads, lines)}
    with out.open("a", encoding="utf-8") as file:
        for number, (name, start) in enumerate(CLIPS):
            if part is not None and number % 2 != part:
                continue
            frames, rate = decoded(data / "video" / name, start)
            plain = [converted(frame, "rgb24", "yuv420p") for frame in frames]
            made = {"intact": encoded(plain, rate)}
            for what in PLACEBOS:
                given = made["intact"] if what == "reencode" else plain
                changed = placebo(what, given, f"artefacts/{number}")
                made[what] = changed if what == "reencode" else encoded(changed, rate)
            for what, shot in made.items():
                if (number, what) not in known:
                    keep(file, number, what, shot, rate)
            for what, fault in ALL.items():
                if (number, what) in known:
                    continue
                damaged = fault(frames, float(rate), np.random.default_rng(1000 + number))
                shot = [converted(frame, "rgb24", "yuv420p") for frame in damaged]
                keep(file, number, what, encoded(shot, rate), rate)
            print(name, flush=True)


def keep(file: Any, clip: int, what: str, shot: Sequence[Frame], rate: Fraction) -> None:
    row = {"clip": clip, "what": what, "values": values_of(shot, COMPARED, rate)}
    file.write(json.dumps(row) + "\n")
    file.flush()


# Whether `compare` finds it.

Values = dict[tuple[int, str], dict[str, float]]


def results(values: Values, clips: Sequence[int], fault: str) -> Results:
    """The results of three models on some clips, with the margins of those clips."""
    items: dict[str, Item] = {}
    found: list[Value] = []
    outputs, traits = {}, {}
    margins: dict[tuple[str, Pool], Margin] = {}
    for metric in COMPARED:
        spec = build("metric", metric)
        for output, info in spec.thing.info.outputs.items():
            name, key = value_name(metric, output), f"{metric}.{output}"
            outputs[name], traits[name] = info, spec.thing.info.traits_of(output)
            changes = []
            for model, what in (("bad", fault), ("clean", "intact"), ("again", "reencode")):
                for clip in clips:
                    item = f"{model}/{clip:02}"
                    video = Path(f"/{item}.mp4")
                    items[item] = Item(item, video, f"prompt {clip}", groups={"model": model})
                    number = values[clip, what].get(key)
                    if number is not None:
                        score = Outcome.of(Score(number))
                        found.append(Value(item, metric, output, score, str(spec.spec.signature)))
                        intact = values[clip, "intact"].get(key)
                        if model == "again" and intact is not None:
                            changes.append(abs(number - intact))
            for pool in POOLS if len(changes) > 1 else ():
                own = upper_mean(changes)
                margins[name, pool] = Margin(own, len(changes), "clips", own=True)
    there = {value.name for value in found}
    known = {name: info for name, info in outputs.items() if name in there}
    return Results(items, tuple(found), known, traits=traits, margins=margins)


def compared(values: Values, fault: str, draws: int) -> tuple[float, float, float]:
    """Shares of draws in which it is found and in which a claim is wrong; of clips, how many have
    more of it."""
    name = ALL[fault].__name__.partition("_")[0]
    clips = sorted(
        {
            clip
            for clip, what in values
            if what == fault and values[clip, "intact"]["steadiness.lively"] > LEAST_MOTION
        }
    )
    found = wrong = 0
    for seed in range(draws):
        drawn = sorted(random.Random(f"{fault} {seed}").sample(clips, PROMPTS))
        result = compare_models(results(values, drawn, fault), "model")
        assert result is not None
        earned = [(row, pair) for row in result.tested for pair in row.pairs if pair.earned]
        found += any(
            pair.worse == "bad" and row.name.startswith(SEEN_BY[name]) for row, pair in earned
        )
        wrong += any(pair.better == "bad" or pair.worse != "bad" for _, pair in earned)
    key = SEEN_BY[name][0] if "." in SEEN_BY[name][0] else f"{SEEN_BY[name][0]}.{SEEN_BY[name][0]}"
    more = [
        values[clip, fault][key] > values[clip, "intact"][key]
        for clip in clips
        if key in values[clip, fault] and key in values[clip, "intact"]
    ]
    return found / draws, wrong / draws, float(np.mean(more))


# Whether `baseline` sees it.


def ratings(values: Values, aspect: Aspect) -> dict[tuple[int, str], float]:
    judge = BaselineJudge()
    scores = {key: judge.rate(aspect, film_scores([one])) for key, one in values.items()}
    return {key: score.unwrap().value for key, score in scores.items() if score.ok}


def judged(values: Values, aspect: Aspect) -> Iterator[tuple[str, float, float]]:
    """Each fault, then each placebo: 100 where the intact clip is always preferred, or always a
    tie. With the judge's own margin, and with that of the other clips' placebos, as in certify."""
    rated = ratings(values, aspect)
    clips = sorted({clip for clip, what in rated if what == "intact"})
    lost = {
        (clip, what): rated[clip, "intact"] - rated[clip, what]
        for clip in clips
        for what in (*ALL, *PLACEBOS)
        if (clip, what) in rated
    }
    least = BaselineJudge().info.margin
    moved = [(aspect, str(clip), gap) for (clip, what), gap in lost.items() if what in PLACEBOS]
    learnt = PlaceboSpreads.learnt(moved)
    for what in (*ALL, *PLACEBOS):
        shares = []
        for wide in (False, True):
            points = []
            for clip in clips:
                if (clip, what) in lost:
                    margin = learnt.of(aspect, str(clip), least=least).value if wide else least
                    tie = abs(lost[clip, what]) <= margin
                    won = float(lost[clip, what] > 0)
                    points.append(float(tie) if what in PLACEBOS else 0.5 if tie else won)
            shares.append(100 * float(np.mean(points)))
        yield what, shares[0], shares[1]


def order(fault: str) -> str:
    """Which implementation of its fault it is."""
    places = {"first": FIRST, "second": SECOND, "third": ALL}
    return next((name for name, faults in places.items() if fault in faults), "")


def write(path: Path, draws: int = 20) -> None:
    values: Values = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        values[row["clip"], row["what"]] = row["values"]
    # A clip that is not measured in full, as where measuring was stopped, is left out.
    last = {clip for clip, what in values if what == list(ALL)[-1]}
    values = {key: value for key, value in values.items() if key[0] in last}
    found = [(fault, order(fault), *compared(values, fault, draws)) for fault in ALL]
    quality = {name: cells for name, *cells in judged(values, Aspect.TECHNICAL_QUALITY)}
    dynamics = {name: cells for name, *cells in judged(values, Aspect.DYNAMICS_DEGREE)}
    seen = [
        (
            name,
            order(name),
            *cells,
            dynamics[name][1],
        )
        for name, cells in quality.items()
    ]
    clips = len({clip for clip, _ in values})
    faults = [row[2:] for row in seen if row[0] not in PLACEBOS]
    seen.append((f"mean of {len(faults)} faults, {clips} clips", "", *np.mean(faults, axis=0)))
    compare = {"fault": "", "implementation": "", "found": "{:.0%}", "wrong claims": "{:.0%}"}
    judge = {"fault, or placebo": "", "implementation": "", "technical quality": "{:.0f}"}
    judge |= dict.fromkeys(("technical quality, margin of placebos", "dynamics degree"), "{:.0f}")
    tables = {
        "compare": Table(compare | {"clips that have more of it": "{:.0%}"}, found),
        "judge": Table(judge, seen),
    }
    publish("artefacts", f"python bench/artefacts.py write VALUES {draws}", tables)


def main() -> None:
    if len(sys.argv) < 3:
        print("needs films: see the docstring")
        return
    step, *paths = sys.argv[1:]
    if step == "measure":
        measure(Path(paths[0]), Path(paths[1]), int(paths[2]) if len(paths) > 2 else None)
    else:
        write(Path(paths[0]), *map(int, paths[1:]))


if __name__ == "__main__":
    main()
