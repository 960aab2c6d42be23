"""Write the tables of docs/evidence/trust.md: released scores against human votes.

    SCREENTEST_DATA=FOLDER python docs/evidence/trust.py

FOLDER has fetv/, t2vscore/, videobench/, uve/ and genai/ as they were released. Beside the released
scores every table has two baselines: a coin, and the name of the generator alone (how far
people prefer its videos of the other prompts).
"""

from __future__ import annotations

import csv
import json
import os
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import screentest
from screentest.analysis.judges.certificate import Certificate
from screentest.analysis.people.raters import Share
from screentest.analysis.people.releases import Release, read_release
from screentest.stats import rank_agreement

PAGE = Path(__file__).parent / "trust.md"
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


def percent(share: Share | None) -> str:
    """A share for a cell."""
    return "–" if share is None else f"{100 * share.value:.1f}"


def pairs_table(made: list[Certificate]) -> Iterator[str]:
    """Share of pairs, interval, claim and human ceiling, per aspect and score."""
    yield "| people were asked about | score | pairs | prompts | right % | 95% | claim "
    yield "| in a rater's place % | a rater % | with ties % |\n"
    yield "|---|---|---|---|---|---|---|---|---|---|\n"
    for place in range(max(len(one.aspects) for one in made)):
        for one in made:
            result, people = one.aspects[place], one.people[place]
            right, ceiling = result.accuracy.value, people.ceiling
            if right is None:  # of no pair people prefer one video
                continue
            ends = f"{100 * right.interval.low:.1f}–{100 * right.interval.high:.1f}"
            cells = [
                result.aspect.title,
                one.judge,
                f"{right.judgements:,}",
                f"{result.finding.films:,}",
                f"{100 * right.value:.1f}",
                ends,
                result.finding.claim.value,
                percent(ceiling.in_place) if ceiling else "–",
                percent(ceiling.accuracy) if ceiling else "–",
                percent(people.with_ties),
            ]
            yield f"| {' | '.join(cells)} |\n"


def marks_table(made: list[Certificate]) -> Iterator[str]:
    """Rank correlations over all videos."""
    yield "| people were asked about | score | videos | ρ with people's mean | τ-b "
    yield "| τ-b within prompts | ρ in a rater's place | ρ of a rater |\n"
    yield "|---|---|---|---|---|---|---|---|\n"
    for place in range(max(len(one.people) for one in made)):
        for one in made:
            people = one.people[place]
            if people.spearman is None or people.kendall is None or people.tau_b is None:
                continue
            ceiling = people.ceiling
            cells = [
                people.aspect.title,
                one.judge,
                f"{people.spearman.n:,}",
                str(people.spearman),
                str(people.kendall),
                str(people.tau_b),
                f"{ceiling.rank_in_place.value:.3f}" if ceiling and ceiling.rank_in_place else "–",
                f"{ceiling.rank.value:.3f}" if ceiling and ceiling.rank else "–",
            ]
            yield f"| {' | '.join(cells)} |\n"


def people_table(releases: Mapping[str, list[Certificate]]) -> Iterator[str]:
    """People against people."""
    yield "| release | asked about | pairs | ties % | a rater % | 95% | without the rater's ties % "
    yield "| ρ of a rater | α | α without offsets |\n"
    yield "|---|---|---|---|---|---|---|---|---|---|\n"
    for name, made in releases.items():
        for people in made[0].people:
            ceiling = people.ceiling
            if ceiling is None:
                continue
            ends = ceiling.accuracy.interval
            cells = [
                name,
                people.aspect.title,
                f"{people.decided + people.tied:,}",
                f"{100 * people.tied / (people.decided + people.tied):.0f}",
                percent(ceiling.accuracy),
                f"{100 * ends.low:.1f}–{100 * ends.high:.1f}",
                percent(ceiling.when_decided),
                f"{ceiling.rank.value:.3f}" if ceiling.rank else "–",
                f"{ceiling.alpha:.2f}" if ceiling.alpha is not None else "–",
                f"{ceiling.alpha_without_offsets:.2f}" if ceiling.alpha_without_offsets else "–",
            ]
            yield f"| {' | '.join(cells)} |\n"


def systems_table(data: Path) -> Iterator[str]:
    """Rank agreement of generators with people: means over all videos of each."""
    yield "| release | people were asked about | score | generators | ρ | p | τ-b |\n"
    yield "|---|---|---|---|---|---|---|\n"
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
                cells = [title, aspect.replace("_", " "), metric, str(rho.n)]
                cells += [f"{rho.value:.2f}", f"{rho.p_value:.3f}", f"{tau.value:.2f}"]
                yield f"| {' | '.join(cells)} |\n"


def means(groups: Mapping[str, list[float]]) -> dict[str, float]:
    """The mean of each group."""
    return {name: sum(values) / len(values) for name, values in groups.items()}


def put(page: str, name: str, text: str) -> str:
    """The page with another text between its marks."""
    begin, end = f"<!-- {name}: made by docs/evidence/trust.py -->\n", f"<!-- end of {name} -->"
    if begin not in page or end not in page:
        raise SystemExit(f"{PAGE} has no place for {name}")
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    return pattern.sub(lambda _: f"{begin}{text}{end}", page)


def main() -> None:
    """Certify everything, and write the page."""
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
    page = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for form, (place, scores) in given.items():
            made[form] = certificates(data / place, form, Path(folder), scores)
            page = put(page, f"{form} pairs", "".join(pairs_table(made[form])))
            if made[form][0].people[0].spearman is not None:
                page = put(page, f"{form} marks", "".join(marks_table(made[form])))
            print(form, "done")
    raters = {
        "FETV, real and generated": made["fetv"],
        "FETV, generated": made["fetv_generated"],
        "Video-Bench": made["video_bench"],
    }
    page = put(page, "people", "".join(people_table(raters)))
    PAGE.write_text(put(page, "systems", "".join(systems_table(data))), encoding="utf-8")


if __name__ == "__main__":
    main()
