"""Released scores against human votes: the tables of docs/evidence/trust.md.

    SCREENTEST_DATA=FOLDER python bench/trust.py

FOLDER has fetv/, t2vscore/, videobench/, uve/ and genai/ as they were released. Beside the released
scores every table has two baselines: a coin, and the name of the generator alone (how far
people prefer its videos of the other prompts).
"""

from __future__ import annotations

import csv
import json
import os
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import screentest
from _figures import Cell, Table, publish
from screentest.analysis.judges.certificate import Certificate
from screentest.analysis.people.raters import Share
from screentest.analysis.people.releases import Release, read_release
from screentest.stats import Interval, rank_agreement
from screentest.stats.rank import ClusteredCorrelation

GENERATOR, COIN = "the generator's name alone", "a coin"
FETV = {
    "cogvideo": "cogvideo",
    "damo-text2video": "modelscope-t2v",  # the ratings and the scores call it differently
    "ground-truth": "ground-truth",
    "text2video-zero": "text2video-zero",
    "zeroscope": "zeroscope",
}
Scores = dict[str, dict[tuple[str, str], float]]
"""By metric; then by aspect, empty for all, and video."""


def fetv_scores(data: Path) -> Scores:
    """CLIPScore and UMTScore, one file for each generator."""
    found: Scores = {"CLIPScore": {}, "UMTScore": {}}
    for metric, scores in found.items():
        for name, file in FETV.items():
            path = data / "fetv" / metric / f"auto_eval_results_{file}.json"
            values = json.loads(path.read_text(encoding="utf-8"))
            scores |= {("", f"{name}/{number}"): value for number, value in values.items()}
    return found


def tvge_scores(data: Path) -> Scores:
    """Four scores of T2VScore's authors, a row for each video."""
    found: Scores = defaultdict(dict)
    with (data / "t2vscore/t2vscore_results.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            video = f"{row.pop('model_name')}/{row.pop('video_id')}"
            row.pop("prompt")
            for metric, value in row.items():
                found[metric]["", video] = float(value)
    return dict(found)


def generator_of(release: Release, video: str) -> str:
    """The folder that a video is in; Video-Bench has one more for the aspect."""
    parts = video.split("/")
    return parts[1] if release.name == "video_bench" else parts[0]


def generators(release: Release) -> dict[tuple[str, str], float]:
    """Preference for the videos of a generator in all prompts but the video's own."""
    found: dict[tuple[str, str], float] = {}
    for aspect in release.aspects:
        leads: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for pair in release.of(aspect):
            leads[generator_of(release, pair.first)][pair.cluster].append(pair.lead)
            leads[generator_of(release, pair.second)][pair.cluster].append(-pair.lead)
        whole = {
            name: (sum(map(sum, by.values())), sum(map(len, by.values())))
            for name, by in leads.items()
        }
        for pair in release.of(aspect):
            for video in (pair.first, pair.second):
                name = generator_of(release, video)
                total, count = whole[name]
                own = leads[name][pair.cluster]
                if count > len(own):
                    found[aspect, video] = (total - sum(own)) / (count - len(own))
    return found


def certificates(data: Path, form: str, folder: Path, scores: Scores) -> list[Certificate]:
    """The certificates of some scores, a coin and the generator's name, corrected together."""
    release = read_release(data, form)
    rng = random.Random(7)
    given = dict(scores)
    if form != "genai_bench":  # its videos have no names that say who made them
        given[GENERATOR] = generators(release)
    given[COIN] = {("", video): rng.random() for video in release.clusters}
    table = folder / f"{form}.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["metric", "aspect", "id", "value"])
        for metric, values in given.items():
            rows.writerows([metric, aspect, name, v] for (aspect, name), v in values.items())
    made = screentest.certify_scores(table, data, form=form, out=folder / form)
    return list(made.certificates)


PAIRS = {
    "people were asked about": "",
    "score": "",
    "pairs": "{:,}",
    "prompts": "{:,}",
    "right %": "{:.1f}",
    "95%": "{:.1f}–{:.1f}",
    "claim": "",
    **dict.fromkeys(("in a rater's place %", "a rater %", "with ties %"), "{:.1f}"),
}
RANK = "{:.3f} [{:.3f}, {:.3f}]"
MARKS = {
    "people were asked about": "",
    "score": "",
    "videos": "{:,}",
    "ρ with people's mean": RANK,
    "τ-b": RANK,
    "τ-b within prompts": RANK,
    **dict.fromkeys(("ρ in a rater's place", "ρ of a rater"), "{:.3f}"),
}
PEOPLE = {
    "release": "",
    "asked about": "",
    "pairs": "{:,}",
    "ties %": "{:.0f}",
    "a rater %": "{:.1f}",
    "95%": "{:.1f}–{:.1f}",
    "without the rater's ties %": "{:.1f}",
    "ρ of a rater": "{:.3f}",
    "α": "{:.2f}",
    "α without offsets": "{:.2f}",
}
SYSTEMS = {
    "release": "",
    "people were asked about": "",
    "score": "",
    "generators": "",
    "ρ": "{:.2f}",
    "p": "{:.3f}",
    "τ-b": "{:.2f}",
}
Row = tuple[Cell, ...]


def percent(share: Share | None) -> float | None:
    """A share for a cell."""
    return None if share is None else 100 * share.value


def percents(interval: Interval) -> tuple[float, float]:
    """Its ends."""
    return 100 * interval.low, 100 * interval.high


def ranked(value: ClusteredCorrelation) -> Cell:
    """A correlation with the ends of its interval, where there are clusters enough for one."""
    if value.interval is None:
        return f"{value.value:.3f}"
    return value.value, value.interval.low, value.interval.high


def pairs_rows(made: list[Certificate]) -> Iterator[Row]:
    """Share of pairs, interval, claim and human ceiling, per aspect and score."""
    for place in range(max(len(one.aspects) for one in made)):
        for one in made:
            result, people = one.aspects[place], one.people[place]
            right, ceiling = result.accuracy.value, people.ceiling
            if right is None:  # of no pair people prefer one video
                continue
            yield (
                *(result.aspect.title, one.judge, right.judgements, result.finding.films),
                *(100 * right.value, percents(right.interval), result.finding.claim.value),
                percent(ceiling.in_place) if ceiling else None,
                percent(ceiling.accuracy) if ceiling else None,
                percent(people.with_ties),
            )


def marks_rows(made: list[Certificate]) -> Iterator[Row]:
    """Rank correlations over all videos."""
    for place in range(max(len(one.people) for one in made)):
        for one in made:
            people = one.people[place]
            if people.spearman is None or people.kendall is None or people.tau_b is None:
                continue
            ceiling = people.ceiling
            yield (
                *(people.aspect.title, one.judge, people.spearman.n),
                *map(ranked, (people.spearman, people.kendall, people.tau_b)),
                ceiling.rank_in_place.value if ceiling and ceiling.rank_in_place else None,
                ceiling.rank.value if ceiling and ceiling.rank else None,
            )


def people_rows(releases: Mapping[str, list[Certificate]]) -> Iterator[Row]:
    """People against people."""
    for name, made in releases.items():
        for people in made[0].people:
            ceiling = people.ceiling
            if ceiling is None:
                continue
            pairs = people.decided + people.tied
            yield (
                *(name, people.aspect.title, pairs, 100 * people.tied / pairs),
                *(percent(ceiling.accuracy), percents(ceiling.accuracy.interval)),
                percent(ceiling.when_decided),
                ceiling.rank.value if ceiling.rank else None,
                *(ceiling.alpha, ceiling.alpha_without_offsets),
            )


def systems_rows(data: Path) -> Iterator[Row]:
    """Rank agreement of generators with people: means over all videos of each."""
    given = {
        ("FETV, with the real videos", "fetv"): ("fetv", fetv_scores(data)),
        ("FETV, generated", "fetv_generated"): ("fetv", fetv_scores(data)),
        ("TVGE", "tvge"): ("t2vscore", tvge_scores(data)),
    }
    for (title, form), (place, scores) in given.items():
        release = read_release(data / place, form)
        for aspect, marks in release.marks.items():
            people: dict[str, list[float]] = defaultdict(list)
            for video, mark in marks.items():
                people[generator_of(release, video)].append(sum(mark.values()) / len(mark))
            for metric, values in scores.items():
                own: dict[str, list[float]] = defaultdict(list)
                for video in marks:
                    own[generator_of(release, video)].append(values["", video])
                found = rank_agreement(means(own), means(people)).unwrap()
                rho, tau = found.spearman, found.kendall
                asked = aspect.replace("_", " ")
                yield title, asked, metric, rho.n, rho.value, rho.p_value, tau.value


def means(groups: Mapping[str, list[float]]) -> dict[str, float]:
    """The mean of each group."""
    return {name: sum(values) / len(values) for name, values in groups.items()}


def main() -> None:
    """Certify everything."""
    data = Path(os.environ.get("SCREENTEST_DATA", "../shared/data"))
    if not data.is_dir():
        raise SystemExit(f"no released votes at {data}: set SCREENTEST_DATA to their folder")
    given: dict[str, tuple[str, Scores]] = {
        "fetv": ("fetv", fetv_scores(data)),
        "fetv_generated": ("fetv", fetv_scores(data)),
        "tvge": ("t2vscore", tvge_scores(data)),
        "video_bench": ("videobench", {}),
        "uve": ("uve/annotations.json", {}),
        "genai_bench": ("genai/data.json", {}),
    }
    made: dict[str, list[Certificate]] = {}
    tables: dict[str, Table] = {}
    with tempfile.TemporaryDirectory() as folder:
        for form, (place, scores) in given.items():
            made[form] = certificates(data / place, form, Path(folder), scores)
            tables[f"{form}_pairs"] = Table(PAIRS, list(pairs_rows(made[form])))
            if rows := list(marks_rows(made[form])):
                tables[f"{form}_marks"] = Table(MARKS, rows)
            print(form, "done", flush=True)
    raters = {
        "FETV, real and generated": made["fetv"],
        "FETV, generated": made["fetv_generated"],
        "Video-Bench": made["video_bench"],
    }
    tables["people"] = Table(PEOPLE, list(people_rows(raters)))
    tables["systems"] = Table(SYSTEMS, list(systems_rows(data)))
    publish("trust", "python bench/trust.py", tables)


if __name__ == "__main__":
    main()
