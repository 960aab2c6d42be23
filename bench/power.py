"""What `compare` finds, and what it makes up: planted faults on real clips, and equal models.

    python bench/power.py make DATA OUT        48 clips of real films, each saved by every model
    python bench/power.py measure OUT
    python bench/power.py write OUT [DRAWS]

Every draw takes some of the clips as prompts, and compares the models on them as `compare` does,
with the margins of those clips. A fault is found where the intact model is significantly better in
a metric that the fault is planted in. A claim is wrong where a damaged model is better than the
intact one, and no artefact explains it. Equal models show the same films a moment earlier or later,
which of the two being a toss on every prompt.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import screentest
from _figures import Table, publish
from margins import films
from screentest.analysis.models.comparison import ModelComparison, compare_models
from screentest.analysis.models.margins import MOST_CLIPS, own_margins
from screentest.analysis.models.rows import State
from screentest.analysis.results import ORIGINAL, Results
from screentest.analysis.runs import read_results
from screentest.core import Item
from screentest.run.reader import RunReader

SIDE, SECONDS, LATER = 320, 2.0, 2.2
CLIPS = 48
GOOD = ("-preset", "veryfast", "-crf", "17")
CAST = "lutrgb=r=val*1.1:b=val*0.86"
FRAMES = ("steadiness", "frozen")


@dataclass(frozen=True)
class Fault:
    """A damage, and the metrics in which it must show."""

    change: str
    seen_by: tuple[str, ...]
    options: tuple[str, ...] = GOOD


def repeated(share: float) -> str:
    """Show some frames twice, in place of those after them: every so many, never the first."""
    return f"select='eq(n,0)+lt(mod(n*{share:g},1),{1 - share:g})',fps=source_fps"


FAULTS: Mapping[str, Fault] = {
    "repeated 5%": Fault(repeated(0.05), FRAMES),
    "repeated 15%": Fault(repeated(0.15), FRAMES),
    "repeated 30%": Fault(repeated(0.30), FRAMES),
    "blur 0.4": Fault("gblur=sigma=0.4", ("sharpness", "naturalness", "faults")),
    "blur 0.8": Fault("gblur=sigma=0.8", ("sharpness", "naturalness", "faults")),
    "blur 1.6": Fault("gblur=sigma=1.6", ("sharpness", "naturalness", "faults")),
    "flicker 3%": Fault(
        "eq=brightness='0.03*(2*mod(n,2)-1)':eval=frame", ("flicker", "steadiness")
    ),
    "noise 8": Fault("noise=alls=8:allf=t", ("noise", "flicker", "naturalness")),
    "crf 34": Fault("", ("blockiness", "sharpness", "naturalness"), (*GOOD[:2], "-crf", "34")),
    "jitter": Fault(
        "pad=iw+16:ih+16:8:8:color=black,crop=iw-32:ih-32:'16+4*(2*mod(n,2)-1)':16,scale=320:-2",
        ("steadiness", "flicker"),
    ),
}
EQUAL = {"crf 18": "18", "crf 23": "23"}
AFTER = {"~crf18": "18", "~crf26": "26"}
CSV = ("-of", "csv=p=0")
PROMPTS = (8, 12, 20, 40)
MODELS = (2, 3, 5)


def ffmpeg(*arguments: str) -> None:
    subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments], check=True)


def rate_of(path: Path) -> str:
    asked = ("-select_streams", "v:0", "-show_entries", "stream=avg_frame_rate", *CSV)
    done = subprocess.run(
        ["ffprobe", "-v", "error", *asked, str(path)], capture_output=True, text=True, check=True
    )
    return done.stdout.split()[0].strip(",")


def starts(data: Path) -> Iterator[tuple[Path, float]]:
    """Places in films, so far apart that no two clips are alike."""
    for path, _ in films(data):
        if path.parent.name == "etva_microgravity":
            continue
        length = float(
            subprocess.run(
                [
                    "ffprobe",
                    "-v",
                    "error",
                    "-show_entries",
                    "format=duration",
                    "-of",
                    "csv=p=0",
                    str(path),
                ],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.strip()
        )
        room = length - SECONDS - LATER
        for place in range(min(12, 1 + int(max(0.0, room) // 25))):
            yield path, min(place * 25.0, max(0.0, room))


def make(data: Path, out: Path) -> None:
    chosen = list(starts(data))
    random.Random(1).shuffle(chosen)
    rows = []
    for place, (path, start) in enumerate(chosen[:CLIPS]):
        rate = rate_of(path)
        models = {
            "intact": ("", start, GOOD),
            "later": ("", start + LATER, GOOD),
            **{name: (fault.change, start, fault.options) for name, fault in FAULTS.items()},
            **{name: ("", start, (*GOOD[:2], "-crf", crf)) for name, crf in EQUAL.items()},
        }
        for name, (change, begin, options) in models.items():
            file = out / name.replace(" ", "_") / f"{place:02}.mp4"
            file.parent.mkdir(parents=True, exist_ok=True)
            chain = ",".join(filter(None, [f"scale={SIDE}:-2", change]))
            if not file.exists():
                ffmpeg(
                    *("-ss", str(begin), "-i", str(path), "-t", str(SECONDS), "-an"),
                    *("-vf", chain.replace("source_fps", rate), "-pix_fmt", "yuv420p"),
                    *("-threads", "1", "-c:v", "libx264", *options, str(file)),
                )
            rows.append((name, place, file))
        for name, crf in AFTER.items():
            source, file = out / "intact" / f"{place:02}.mp4", out / name / f"{place:02}.mp4"
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.exists():
                ffmpeg("-i", str(source), *GOOD[:2], "-crf", crf, "-threads", "1", str(file))
            rows.append((name, place, file))
    lines = (
        json.dumps(
            {
                "id": f"{name}/{place:02}",
                "video": str(file.absolute()),
                "prompt": f"clip {place}",
                "groups": {"model": name},
            }
        )
        for name, place, file in rows
    )
    (out / "clips.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def measure(out: Path) -> None:
    screentest.score(out / "clips.jsonl", out=out / "run", own_margins=False)


@cache
def measured(out: Path) -> Results:
    with RunReader(out / "run") as run:
        return read_results(run)


def drawn(results: Results, clips: Sequence[int], models: Mapping[str, Sequence[str]]) -> Results:
    """The results of some models on some clips: each model with the maker of every clip's video."""
    items: dict[str, Item] = {}
    takes: dict[str, list[str]] = {}
    for model, makers in models.items():
        for clip, maker in zip(clips, makers, strict=True):
            name, source = f"{model}/{clip:02}", f"{maker}/{clip:02}"
            items[name] = replace(results.items[source], id=name, groups={"model": model})
            takes.setdefault(source, []).append(name)
    values = [
        replace(value, item=name)
        for source, names in takes.items()
        for value in results.of_item(source).values()
        for name in names
    ]
    chosen = replace(results, items=items, values=tuple(values), contents={})
    return replace(chosen, margins=margins_on(results, clips[:MOST_CLIPS]))


def margins_on(results: Results, clips: Sequence[int]) -> Mapping[tuple[str, str], object]:
    originals = {f"intact/{clip:02}" for clip in clips}
    copies = {
        f"{name}/{clip:02}": replace(
            results.items[f"{name}/{clip:02}"], groups={ORIGINAL: f"intact/{clip:02}"}
        )
        for name in AFTER
        for clip in clips
    }
    values = tuple(value for value in results.values if value.item in copies)
    # The copies are files of their own here; in a run they are made of the originals.
    plain = replace(results, contents={})
    return own_margins(
        plain.only(originals, {value.metric for value in values}),
        replace(plain, items=copies, values=values),
    )


def claims(found: ModelComparison) -> Iterator[tuple[str, str, str]]:
    """Metric, the better and the worse model of everything that is claimed."""
    for row in found.rows:
        for pair in row.pairs:
            if pair.earned:
                yield row.metric, pair.better, pair.worse


@dataclass
class Count:
    draws: int = 0
    found: int = 0
    wrong: int = 0
    equal: float = 0.0


def planted(out: Path, name: str, prompts: int, models: int, half: bool, draws: int) -> Count:
    """How often one fault is found, beside other intact models."""
    results, count = measured(out), Count()
    for seed in range(draws):
        rng = random.Random(f"{name} {prompts} {models} {half} {seed}")
        clips = sorted(rng.sample(range(CLIPS), prompts))
        ways = ["intact", "crf 18", "crf 23", "crf 18"]
        sides = {f"good{place}": [ways[place]] * prompts for place in range(models - 1)}
        hit = set(rng.sample(clips, prompts // 2)) if half else set(clips)
        sides["bad"] = [name if clip in hit else "intact" for clip in clips]
        found = compare_models(drawn(results, clips, sides), "model")
        assert found is not None
        told = list(claims(found))
        count.draws += 1
        count.found += any(
            (metric, "good0", "bad") in {(m, b, w)}
            for m, b, w in told
            for metric in FAULTS[name].seen_by
        )
        count.wrong += any(better == "bad" or worse != "bad" for _, better, worse in told)
    return count


def equal(out: Path, prompts: int, models: int, seeds: range) -> Count:
    """Models that are equal: on every prompt a toss decides who shows which moment."""
    results, count = measured(out), Count()
    for seed in seeds:
        rng = random.Random(f"equal {prompts} {models} {seed}")
        clips = sorted(rng.sample(range(CLIPS), prompts))
        sides = {
            f"m{place}": [rng.choice(("intact", "later")) for _ in clips] for place in range(models)
        }
        found = compare_models(drawn(results, clips, sides), "model")
        count.draws += 1
        count.wrong += found is not None and any(True for _ in claims(found))
    return count


def same(out: Path, prompts: int, draws: int) -> Count:
    """The same frames saved with crf 18 and with crf 23."""
    results, count = measured(out), Count()
    for seed in range(draws):
        rng = random.Random(f"same {prompts} {seed}")
        clips = sorted(rng.sample(range(CLIPS), prompts))
        sides = {name: [name] * prompts for name in EQUAL}
        found = compare_models(drawn(results, clips, sides), "model")
        assert found is not None
        tested = [row for row in found.tested if row.prompts >= prompts // 2]
        alike = sum(row.state is State.EQUIVALENT or row.p is None for row in tested)
        count.draws += 1
        count.equal += alike / len(tested)
        count.wrong += any(True for _ in claims(found))
    return count


def share(cell: Count) -> float:
    return cell.found / cell.draws


def write(out: Path, draws: int = 100) -> None:
    names = ("repeated 15%", "blur 0.8", "noise 8", "crf 34")
    more = [(models, prompts) for models in MODELS[1:] for prompts in (12, 20)]
    alike = [(models, prompts) for models in MODELS for prompts in (12, 40)]
    with ProcessPoolExecutor() as pool:
        two = {
            (half, name): [
                pool.submit(planted, out, name, prompts, 2, half, draws) for prompts in PROMPTS
            ]
            for half in (False, True)
            for name in FAULTS
        }
        several = {
            name: [
                pool.submit(planted, out, name, prompts, models, False, draws)
                for models, prompts in more
            ]
            for name in names
        }
        tosses = {
            (models, prompts): [
                pool.submit(equal, out, prompts, models, range(part * draws, (part + 1) * draws))
                for part in range(20 if (models, prompts) == (2, 12) else 2)
            ]
            for models, prompts in alike
        }
        saved = [pool.submit(same, out, prompts, draws) for prompts in PROMPTS]
    found = {key: [cell.result() for cell in cells] for key, cells in (two | several).items()}
    shares = {"fault": "", **{f"{prompts} prompts": "{:.0%}" for prompts in PROMPTS}}
    crowds = {f"{models} models, {prompts} prompts": "{:.0%}" for models, prompts in more}
    cells = [cell for row in found.values() for cell in row]
    cases = {
        "the damaged model is better, or intact ones differ (all draws above)": cells,
        **{
            f"{models} equal models, {prompts} prompts: any claim": [
                cell.result() for cell in tosses[models, prompts]
            ]
            for models, prompts in alike
        },
    }
    wrong = [
        (name, total, sum(cell.wrong for cell in counts) / total)
        for name, counts in cases.items()
        for total in (sum(cell.draws for cell in counts),)
    ]
    copies = [
        (prompts, cell.equal / cell.draws, cell.wrong / cell.draws)
        for prompts, cell in zip(PROMPTS, (cell.result() for cell in saved), strict=True)
    ]
    shown = {"prompts": "", "metrics shown to be equal": "{:.0%}", "draws with a claim": "{:.0%}"}
    tables = {
        "all": Table(shares, [(name, *map(share, found[False, name])) for name in FAULTS]),
        "half": Table(shares, [(name, *map(share, found[True, name])) for name in FAULTS]),
        "several": Table(
            {"fault": "", **crowds}, [(name, *map(share, found[name])) for name in names]
        ),
        "wrong": Table({"case": "", "draws": "{:,}", "wrong": "{:.1%}"}, wrong),
        "same": Table(shown, copies),
    }
    publish("power", f"python bench/power.py write OUT {draws}", tables)


def main() -> None:
    step, *paths = sys.argv[1:]
    if step == "make":
        make(Path(paths[0]), Path(paths[1]))
    elif step == "measure":
        measure(Path(paths[0]))
    else:
        write(Path(paths[0]), *map(int, paths[1:]))


if __name__ == "__main__":
    main()
