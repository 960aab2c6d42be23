"""What is known of every metric: `src/screentest/evidence/measured.json`, and the matrix of it.

    SCREENTEST_DATA=DATA python bench/evidence.py make WORK [--films N] [--workers 2]
    python bench/evidence.py write WORK

``make`` does every step of the recipe that is not done yet: start it again after a stop. It cuts
the films, builds two testbeds (single shots, and films of several shots), scores all of their
videos with every metric that needs no chat model, with what the base install brings and with the
profile ``light``, certifies every value, takes the time of each metric, and writes the package data
and the figures of docs/evidence/matrix.md.
``write`` does that last step alone.

A film is an excerpt. Excerpts of one work are one witness, however many they are.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import screentest
from _figures import RESULTS, ROOT, Table, _commit, _json, _machine, _short, _versions, publish
from screentest.analysis.evidence import MEASURED, PEOPLE, entry, settings_key
from screentest.analysis.judges.cases import read_cases
from screentest.analysis.judges.certificate import Certificate, Cost
from screentest.analysis.judges.plan import Answers, Plan, make_certificate
from screentest.analysis.results import Value
from screentest.analysis.runs import read_results
from screentest.core import Aspect, Item, Outcome, Score
from screentest.core.errors import BadOption
from screentest.core.registry import build, registry
from screentest.core.signature import Signature, backends_in, split_value_name, value_name
from screentest.judges.cases import Case, Judgement, Order
from screentest.judges.from_metrics import as_judge
from screentest.judges.verdicts import _margins, verdict
from screentest.run.reader import RunReader

sys.path.insert(0, str(ROOT / "docs" / "pictures"))
import matrix

PACKAGE = ROOT / "src" / "screentest" / "evidence"
RELEASES = {
    "fetv_generated_pairs": "FETV, generated",
    "fetv_pairs": "FETV, real and generated",
    "tvge_pairs": "TVGE",
}
COMMAND = "python bench/evidence.py make WORK"
BASELINES = ("a coin", "the generator's name alone")
SECONDS = 4.0
SIDE, RATE, SEED = 256, 8, 7
GENERATED_TEXT = "Water is slowly pouring out of glass cup in the space station."
SHOWCASES = ("Desert_Renaissance", "Garden_Seasons", "Lost_Expedition", "Wildlife_Expedition")
ORDERS = (
    "clip_moved,clip_repeated,played_backwards,reversed_order,temporal_flow,two_swapped,"
    "comprehensiveness,ended_early,neighbour_repeated,cut_short,other_film"
)
"""What takes several shots; of films of several shots nothing else is built."""
CHAT = "chat"
PLAIN = "plain"
PROFILES = (PLAIN, "builtin", "light")
"""What is scored, the cheapest first: metrics without models; those with models, by what the base
install brings; and by the profile ``light``."""
TIMED = (10.0, "tiny/real_5shots_640x360.mp4")
"""Seconds of a film that every metric is timed on."""


@dataclass(frozen=True)
class Film:
    """An excerpt."""

    name: str
    file: str
    work: str
    shots: Sequence[tuple[float, float, str]]
    """Begin, end and caption."""
    sha256: str = ""
    several: bool = False
    groups: Mapping[str, str] = field(default_factory=dict)


def films(data: Path) -> list[Film]:
    """Every film of the data, those of the base data first, each work once but for its excerpts."""
    listed = json.loads((data / "video/manifest.json").read_text(encoding="utf-8"))["files"]
    known = {one["path"]: one for one in listed}
    texts = _captions(data)
    found: list[Film] = []

    def digest(file: str) -> str:
        """The sha256 of a film, from the manifest where it is there; of joined ones none."""
        if file in known or not file:
            return str(known.get(file, {}).get("sha256", ""))
        return hashlib.sha256((data / "video" / file).read_bytes()).hexdigest()

    def add(name: str, file: str, work: str, *shots: tuple[float, float, str]) -> None:
        found.append(Film(name, file, work, shots, digest(file)))

    single = [path for path in known if path.startswith("singleshot/")]
    for path in sorted(single):
        if not path.endswith(".ogv"):  # the same film as the one below
            seconds = min(SECONDS, known[path]["duration"] - 0.1)
            at = max(0.0, (known[path]["duration"] - seconds) / 2)
            add(Path(path).stem, path, Path(path).stem, (at, at + seconds, texts.get(path, "")))
    add("frenchgp", "tiny/frenchgp_1906_214x160.mp4", "frenchgp", (8.0, 12.0, ""))
    for number in range(1, 5):
        path = f"ai_generated/cogvideox_{number}.mp4"
        add(f"cogvideox_{number}", path, f"cogvideox_{number}", (1.0, 5.0, texts[path]))
    for maker in ("baseline", "talc"):
        add(f"talc_{maker}", f"ai_generated/talc_20_{maker}.mp4", "talc", (0.0, 2.9, ""))
    for path in sorted((data / "video/etva_microgravity").glob("*.mp4")):
        file = str(path.relative_to(data / "video"))
        add(f"cup_{path.stem}", file, f"cup_{path.stem}", (0.5, 2.5, GENERATED_TEXT))
    add("ltx2", "../vbench/ltx2/ltx2.mp4", "ltx2", (0.5, 3.5, ""))
    add("videoscore", "../videoscore/video1.mp4", "videoscore", (0.0, 2.0, ""))
    for name in SHOWCASES:
        path, shots = f"ai_generated/vgot_showcase_{name}.mp4", texts[f"shots:{name}"]
        add(name.lower(), path, name.lower(), shots[2])
        add(f"{name.lower()}_2", path, name.lower(), shots[9])
    chef = "ai_generated/vgotstudy_chef_CogVideo.mp4"
    add("chef", chef, "chef", (19.25, 20.5, "A cook in a kitchen."))
    bunny = texts["shots:bbb"]
    long = [shot for shot in bunny if shot[1] - shot[0] >= 3]
    for number, shot in enumerate(long[:3], 1):
        add(f"bunny_{number}", BUNNY, "bunny", (shot[0], min(shot[1], shot[0] + SECONDS), shot[2]))
    trailer = [shot for shot in texts["shots:sintel"] if shot[1] - shot[0] >= 3]
    for number, shot in enumerate(trailer[1:3], 1):
        clip = (shot[0] + 0.3, min(shot[1] - 0.2, shot[0] + SECONDS), shot[2])
        add(f"sintel_{number}", SINTEL, "sintel", clip)
    add("nasa", "multishot/nasa_webb_mirror_480x270.mp4", "nasa", (1.0, 4.0, ""))
    several = list(_several(texts, bunny))
    joined = [film for film in found if film.file in single]
    for number, place in enumerate(range(0, len(joined) - 2, 3), 1):
        several.append(
            Film(
                f"joined_{number}",
                "",
                f"joined_{number}",
                (),
                several=True,
                groups={"of": ",".join(one.name for one in joined[place : place + 3])},
            )
        )
    return [*found, *(replace(f, several=True, sha256=digest(f.file)) for f in several)]


BUNNY = "multishot/bbb_047-161s_640x360.mp4"
SINTEL = "multishot/sintel_trailer_1280x720.mp4"


def _several(texts: Mapping[str, Any], bunny: Sequence[Any]) -> Iterator[Film]:
    """Four shots that follow each other."""
    for name in SHOWCASES:
        for number, first in ((1, 0), (2, 10)):
            path = f"ai_generated/vgot_showcase_{name}.mp4"
            shots = texts[f"shots:{name}"][first : first + 4]
            yield Film(f"{name.lower()}_several_{number}", path, name.lower(), shots)
    yield Film("bunny_several", BUNNY, "bunny", bunny[3:7])
    yield Film("sintel_several", SINTEL, "sintel", texts["shots:sintel"][1:4])


def _captions(data: Path) -> dict[str, Any]:
    folder = data / "video/captions"
    texts: dict[str, Any] = {}
    for path in sorted(folder.glob("*.json")):
        made = json.loads(path.read_text(encoding="utf-8"))
        texts |= {k: v for k, v in (made.get("captions") or made).items() if isinstance(v, str)}
    files = {name: f"vgot_showcase_{name}" for name in SHOWCASES}
    files |= {"bbb": "bbb_047-161s_640x360", "sintel": "sintel_trailer_1280x720"}
    for name, stem in files.items():
        made = json.loads((folder / f"{stem}.json").read_text(encoding="utf-8"))
        texts[f"shots:{name}"] = [
            (float(shot["start"]), float(shot["end"]), shot["caption"])
            for shot in made["shots"]
            if shot.get("start") is not None
        ]
    return texts


def cut(film: Film, data: Path, folder: Path) -> dict[str, Any]:
    """Write an excerpt, and say what it is as a line of a manifest."""
    out = folder / f"{film.name}.mp4"
    parts = [(data / "video" / film.file, begin, end) for begin, end, _ in film.shots]
    captions = [caption for _, _, caption in film.shots]
    if film.groups:  # excerpts of several films, one after the other
        names = film.groups["of"].split(",")
        parts = [(folder / f"{name}.mp4", 0.0, 2.0) for name in names]
        captions = [f"{name.replace('_', ' ')}." for name in names]
    if not out.exists():
        _encode(parts, out)
    clips, at = [], 0.0
    for (_, begin, end), caption in zip(parts, captions, strict=True):
        # Frames come in 24ths: a clip ends with its last one.
        length = round((end - begin) * RATE) / RATE
        clips.append({"caption": caption or "A scene.", "start": at, "end": at + length})
        at += length
    row: dict[str, Any] = {"id": film.name, "video": str(out), "groups": {"work": film.work}}
    return {**row, "script": clips}


def _encode(parts: Sequence[tuple[Path, float, float]], out: Path) -> None:
    """Shots one after the other, each of a whole number of frames at the rate of the testbed."""
    part = out.with_suffix(".part.mp4")
    inputs, chains = [], []
    for number, (path, begin, end) in enumerate(parts):
        length = round((end - begin) * RATE) / RATE
        inputs += ["-i", str(path)]
        size = f"scale={SIDE}:-2" if len(parts) == 1 else f"scale={SIDE}:144,setsar=1"
        frames = round(length * RATE)
        chains.append(
            # Decoded from the beginning: some films break where they are sought in.
            f"[{number}:v]trim=start={begin},setpts=PTS-STARTPTS,fps={RATE},{size},tpad=stop_mode=clone:stop=8,trim=end_frame={frames}"
            f",setpts=PTS-STARTPTS[v{number}]"
        )
    joined = "".join(f"[v{number}]" for number in range(len(parts)))
    graph = ";".join([*chains, f"{joined}concat=n={len(parts)}:v=1[out]"])
    command = ["ffmpeg", "-v", "error", "-y", *inputs, "-filter_complex", graph, "-map", "[out]"]
    command += ["-an", "-c:v", "libx264", "-crf", "8", "-pix_fmt", "yuv420p", "-threads", "1"]
    subprocess.run([*command, str(part)], check=True)
    part.rename(out)


def judges(*, of_roles: bool) -> list[str]:
    """Every value of every metric that can be had without options and without a chat model: of
    those that ask a model, or of the others."""
    found = []
    for metric in registry.entries("metric"):
        try:
            info = build("metric", metric.name).thing.info
        except BadOption:
            continue  # it needs to be told what to measure
        roles = {role.partition(".")[0] for role in info.roles}
        if CHAT not in roles and bool(roles) is of_roles:
            found += [value_name(metric.name, output) for output in info.outputs]
    return found


def make(work: Path, data: Path, most: int, workers: int, profiles: Sequence[str]) -> None:
    """Do every step that is not done."""
    folder = work / "films"
    folder.mkdir(parents=True, exist_ok=True)
    # Alphabetically every work comes once before any comes twice; the first films are a trial.
    chosen = [film for film in films(data) if not film.several][: most or None]
    names = {film.name for film in chosen}
    several = [film for film in films(data) if film.several]
    several = [
        film for film in several if names >= set(film.groups.get("of", "").split(",")) - {""}
    ]
    several = several[: most or None]
    beds = []
    for name, listed, options in (
        ("shots", chosen, {"operators": "all", "placebos": "all"}),
        ("several", several, {"operators": ORDERS.split(","), "placebos": ["reencode", "trim"]}),
    ):
        rows = [cut(film, data, folder) for film in listed]
        manifest = work / f"{name}.jsonl"
        manifest.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        print(f"{len(rows)} films: {name}", flush=True)
        clips = 1 if name == "shots" else 2
        bed = screentest.build(
            manifest,
            out=work / name,
            seed=SEED,
            clips=clips,
            min_clips=1,
            long_side=SIDE,
            fps=RATE,
            workers=workers,
            **options,
        )
        beds.append(bed)
        print(f"{len(bed.testbed.pairs)} pairs", flush=True)
    listed = [
        {
            "name": film.name,
            "work": film.work,
            "kind": "several" if film.several else "single",
            **({"sha256": film.sha256} if film.sha256 else {"of": film.groups["of"]}),
            **({"shots": [[begin, end] for begin, end, _ in film.shots]} if film.shots else {}),
        }
        for film in (*chosen, *several)
    ]
    (work / "films.json").write_text(json.dumps(listed), encoding="utf-8")
    cases = read_cases([bed.folder for bed in beds], placebos=True)
    items = {item.id: item for case in cases for item in (case.first, case.second)}
    for profile in profiles:
        asked = judges(of_roles=profile != PLAIN)
        metrics = list(dict.fromkeys(split_value_name(value)[0] for value in asked))
        begun = time.monotonic()
        screentest.score(
            list(items.values()),
            metrics=metrics,
            out=work / profile,
            own_margins=False,
            models="builtin" if profile == PLAIN else profile,
            workers=workers,
        )
        print(f"{len(metrics)} metrics, {profile}: {time.monotonic() - begun:.0f} s", flush=True)
    timed = work / "costs.json"
    if not timed.exists():
        timed.write_text(json.dumps(costs(data / "video" / TIMED[1])), encoding="utf-8")


def costs(film: Path) -> dict[str, float]:
    """Processor seconds that a metric takes for a second of film, alone, without decoding."""
    import av

    with av.open(str(film)) as container:
        rate = container.streams.video[0].average_rate
        pictures = [
            frame.to_ndarray(format="rgb24")
            for frame, _ in zip(
                container.decode(video=0), range(int(TIMED[0] * rate)), strict=False
            )
        ]
    film_, found = np.stack(pictures), {}
    every = [*judges(of_roles=False), *judges(of_roles=True)]
    for name in sorted({split_value_name(value)[0] for value in every}):
        begun = time.process_time()
        screentest.score_frames(film_, fps=rate, metrics=[name], prompt="A white bird looks round.")
        found[name] = (time.process_time() - begun) / TIMED[0]
    return found


def write(work: Path) -> None:
    """Write the package data of what was certified, and the figures of the page."""
    costed = work / "costs.json"  # taken last: what was scored so far can be written before
    timed = json.loads(costed.read_text(encoding="utf-8")) if costed.exists() else {}
    values: dict[str, Any] = {}
    certificates: list[Certificate] = []
    cases = read_cases([work / "shots", work / "several"], placebos=True)
    for profile in PROFILES:
        if (work / profile / "run.db").exists():
            for key, one in certified(work / profile, cases):
                certificates.append(one)
                values[key] = entry(one, timed.get(split_value_name(one.judge)[0]))
    listed = json.loads((work / "films.json").read_text(encoding="utf-8"))
    recipe = {
        "command": "make evidence",
        "commit": _commit(),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": _machine(),
        "versions": _versions(),
        "seed": SEED,
        "long_side": SIDE,
        "fps": RATE,
        "operators": {"single shots": "all", "several shots": ORDERS},
        "placebos": {"single shots": "all", "several shots": "reencode,trim"},
        "films": listed,
    }
    rows = ",\n".join(f"  {_json(key)}: {_json(values[key])}" for key in sorted(values))
    head = json.dumps(recipe, indent=1, ensure_ascii=False).replace("\n", "\n ")
    text = f'{{\n "recipe": {head},\n "values": {{\n{rows}\n }}\n}}\n'
    PACKAGE.mkdir(exist_ok=True)
    (PACKAGE / MEASURED).write_text(text, encoding="utf-8")
    print(f"{len(values)} values, {len(text) // 1000} kB: {PACKAGE / MEASURED}")
    people()
    counts = {
        several: [one for one in listed if several == ("several" in str(one["kind"]))]
        for several in (False, True)
    }
    rows_ = [
        (
            "several shots" if several else "single shots",
            len(films_),
            len({one["work"] for one in films_}),
            sum(map(len, (one.get("shots", "") for one in films_))),
        )
        for several, films_ in counts.items()
    ]
    shown = dict.fromkeys(("films of", "excerpts", "works", "shots"), "")
    publish("evidence_films", COMMAND, {"films": Table(shown, rows_)})
    matrix.draw([one for one in certificates if one.claims.tested], command=COMMAND)


def certified(folder: Path, cases: Sequence[Case]) -> Iterator[tuple[str, Certificate]]:
    """A certificate of every value that has any."""
    with RunReader(folder) as run:
        results = read_results(run)
    for value in judges(of_roles=folder.name != PLAIN):
        name = next((one for one in results.names if same(one, value)), "")
        numbers = {one.item: one for one in results.of(name)}
        if any(one.outcome.ok for one in numbers.values()):
            made = certificate_of(value, numbers, cases)
            if made.overall.ok:
                yield settings_key(next(iter(numbers.values()))), made


def certificate_of(name: str, numbers: Mapping[str, Value], cases: Sequence[Case]) -> Certificate:
    """What ``certify`` makes of a value, without its records: the better number wins."""
    metric, output = split_value_name(name)
    judge = as_judge(metric, output)

    def rated(item: Item, aspect: Aspect) -> Outcome[Score] | None:
        found = numbers.get(item.id)
        return found and judge.rate(aspect, {metric: {output: found.outcome}})

    have = [case for case in cases if case.failure is None]
    have = [case for case in have if {case.first.id, case.second.id} <= numbers.keys()]
    margins = _margins(have, rated)
    judgements = []
    for case in have:
        margin = margins.of(case.aspect, case.cluster, least=judge.info.margin)
        first, second = rated(case.first, case.aspect), rated(case.second, case.aspect)
        assert first is not None
        assert second is not None
        judgements.append(Judgement(case, Order.AS_GIVEN, 0, verdict(first, second, margin)))
    backends = backends_in(next(iter(numbers.values())).signature)
    answers = Answers(
        name,
        Signature.of(metric, version=1),
        judgements,
        Cost(0.0),
        models=backends,
        margin=judge.info.margin,
    )
    return make_certificate(Plan(tuple(have), (name,), (Order.AS_GIVEN,)), answers)


def same(name: str, judge: str) -> bool:
    """Tell whether a judge made of a metric goes by this value."""
    metric, output = split_value_name(judge)
    spec, other = split_value_name(name)
    return metric == spec.partition(":")[0] and output == other


def people() -> None:
    """Write what released scores and people agree in, of docs/evidence/results/trust.json."""
    made = json.loads((RESULTS / "trust.json").read_text(encoding="utf-8"))
    rows = []
    for table, release in RELEASES.items():
        for about, score, pairs, prompts, right, ends, claim, place, person, _ in made["tables"][
            table
        ]["rows"]:
            if score not in BASELINES:
                share = [
                    None if one is None else one / 100 for one in (right, *ends, place, person)
                ]
                right_, low, high, in_place, other = share
                rows.append(
                    [
                        score,
                        release,
                        about,
                        pairs,
                        prompts,
                        right_,
                        low,
                        high,
                        claim,
                        in_place,
                        other,
                    ]
                )
    origin = {"command": made["command"], "commit": made["commit"], "date": made["date"]}
    lines = ",\n".join(f"  {_json(_short(row))}" for row in rows)
    columns = ["score", "release", "about", "pairs", "prompts", "right", "low", "high"]
    head = _json([*columns, "claim", "in_place", "person"])
    text = f'{{\n "origin": {_json(origin)},\n "columns": {head},\n "rows": [\n{lines}\n ]\n}}\n'
    (PACKAGE / PEOPLE).write_text(text, encoding="utf-8")


def main(arguments: Sequence[str]) -> None:
    """Make everything, or write it alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("make", "write"))
    parser.add_argument("work", type=Path)
    parser.add_argument("--films", type=int, default=0, help="So many alone, for a trial.")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--profiles", default=",".join(PROFILES))
    given = parser.parse_args(arguments)
    if given.what == "make":
        data = Path(os.environ["SCREENTEST_DATA"])
        make(given.work, data, given.films, given.workers, given.profiles.split(","))
    write(given.work)


if __name__ == "__main__":
    main(sys.argv[1:])
