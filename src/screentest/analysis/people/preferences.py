"""Preferences of people for one of two videos, as they were released, in plain rows.

GenAI-Bench and UVE have votes on pairs. FETV, Video-Bench and TVGE have ratings of single videos: a
rater who gave two videos of one prompt different marks prefers one of them; equal marks are a tie.
FETV is read in two ways: the real video against the generated ones (``fetv``), and the generated
ones against each other (``fetv_generated``). Anything else is a CSV file with ``video_a``,
``video_b``, ``aspect``, ``vote`` and, where there are any, ``rater`` and ``prompt``. Videos are
named as the release names them, or ``<model>/<number>``.

>>> sorted(READERS)
['csv', 'fetv', 'fetv_generated', 'genai_bench', 'tvge', 'uve', 'video_bench']
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from screentest.analysis.people.released import read_json, table_rows
from screentest.core import BadOption, ManifestError
from screentest.inputs.fields import Problem, ProblemKind, one_line, quoted

LONGEST_ASPECT = 60


class Vote(StrEnum):
    """A person's vote on two videos."""

    A = "a"
    B = "b"
    TIE = "tie"
    BOTH_GOOD = "both_good"
    BOTH_BAD = "both_bad"

    @property
    def decided(self) -> bool:
        """Tell whether one of the two was preferred."""
        return self in (Vote.A, Vote.B)


@dataclass(frozen=True, slots=True)
class Preference:
    """One person on one pair and aspect."""

    video_a: str
    video_b: str
    aspect: str
    vote: Vote
    rater: str = ""
    prompt: str = ""
    apart: float = 0.0
    """How many marks ``video_a`` was given more, where people gave marks."""

    @property
    def lead(self) -> float:
        """Lead of ``video_a``: in marks, or 1 for a vote."""
        return self.apart or {Vote.A: 1.0, Vote.B: -1.0}.get(self.vote, 0.0)


@dataclass(frozen=True, slots=True)
class Rating:
    """One person's mark for one video in one aspect."""

    video: str
    aspect: str
    mark: float
    rater: str = ""


@dataclass(slots=True)
class PreferenceReading:
    """The rows that can be used, and what is wrong with the others."""

    form: str = ""
    rows: list[Preference] = field(default_factory=list)
    ratings: list[Rating] = field(default_factory=list)
    """The marks that the rows were made of; none where people chose."""
    problems: list[Problem] = field(default_factory=list)


def read_preferences(path: Path, form: str = "") -> PreferenceReading:
    """Read a release by its name, or find out by its files which one it is.

    A wrong row is one of the problems, and the others are kept. Raises ManifestError where nothing
    can be read.
    """
    name = form or _recognise(path)
    if name not in READERS:
        raise BadOption(f"unknown format {name!r}", advice=f"Known: {', '.join(sorted(READERS))}.")
    if not path.exists():
        raise ManifestError(f"{path} is not there", advice="Give the folder or file of a release.")
    reading = PreferenceReading(name)
    for result in READERS[name](path):
        if isinstance(result, Problem):
            reading.problems.append(result)
        elif isinstance(result, Rating):
            reading.ratings.append(result)
        elif problem := _unusable(path, result):
            reading.problems.append(problem)
        else:
            reading.rows.append(result)
    if not reading.rows:
        listed = "".join(f"\n- {problem}" for problem in reading.problems[:5])
        raise ManifestError(f"no preferences in {path}{listed}", advice="See docs/manifest.md.")
    return reading


def _unusable(path: Path, row: Preference) -> Problem | None:
    """Return the problem of a row that cannot be used."""
    name = one_line(row.video_a)
    if row.video_a == row.video_b:
        return _wrong(path, name, "a video is compared with itself")
    try:
        f"{row.video_a}{row.video_b}{row.prompt}{row.rater}".encode()
    except UnicodeEncodeError:
        return _wrong(path, name, "a name or the prompt is not text that can be written down")
    if len(row.aspect) > LONGEST_ASPECT or not row.aspect.isprintable():
        wanted = f"at most {LONGEST_ASPECT} characters"
        return _wrong(path, name, f"invalid aspect {one_line(row.aspect)}: {wanted}")
    return None


def _recognise(path: Path) -> str:
    if path.is_dir():
        if (path / "fetv_data.json").exists():
            return "fetv"
        return "tvge" if _tvge_files(path) else "video_bench"
    if path.suffix.lower() == ".json":
        content = read_json(path)
        return "uve" if isinstance(content, dict) else "genai_bench"
    return "csv"


Found = Iterator[Preference | Rating | Problem]


def _wrong(path: Path, row: str, message: str) -> Problem:
    return Problem(ProblemKind.BAD_ROW, message, id=row, path=path)


_VOTES: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)


def read_genai_bench(path: Path) -> Found:
    """GenAI-Bench, video: a list of votes on the whole impression."""
    content = read_json(path)
    names = ("video_left", "video_right", "vote_type")
    for number, row in enumerate(content if isinstance(content, list) else []):
        yield _voted(path, str(number), row, names, _VOTES["genai_bench"], "overall")


def read_uve(path: Path) -> Found:
    """UVE: an object of votes by their id, each on one aspect.

    Alignment was asked twice of a pair, of appearance and of motion: the last part says of which.
    """
    content = read_json(path)
    names = ("video_a", "video_b", "preference")
    for name, row in content.items() if isinstance(content, dict) else ():
        aspect = row.get("aspect") if isinstance(row, dict) else None
        parts = row.get("subaspects") if isinstance(row, dict) else None
        if isinstance(parts, list) and parts and str(parts[-1]).startswith(f"{aspect}_"):
            aspect = parts[-1]
        yield _voted(path, name, row, names, _VOTES["uve"], aspect)


def _voted(
    path: Path,
    name: str,
    row: Any,
    names: tuple[str, str, str],
    votes: Mapping[str, str],
    aspect: Any,
) -> Preference | Problem:
    if not isinstance(row, dict):
        return _wrong(path, name, "is not an object")
    first, second, vote = (row.get(key) for key in names)
    if not (isinstance(first, str) and first and isinstance(second, str) and second):
        return _wrong(path, name, f"{names[0]} and {names[1]} do not name two videos")
    if not isinstance(vote, str) or vote not in votes:
        allowed = ", ".join(votes)
        return _wrong(path, name, f"{names[2]} is {one_line(str(vote))}: must be one of {allowed}")
    if not isinstance(aspect, str) or not aspect:
        return _wrong(path, name, "has no aspect")
    prompt = row.get("prompt")
    text = prompt if isinstance(prompt, str) else ""
    return Preference(first, second, aspect, Vote(votes[vote]), prompt=text)


# Ratings of single videos, as preferences.


def _compared(
    marks: Mapping[str, float], aspect: str, rater: str, prompt: str, against: str = ""
) -> Iterator[Preference | Rating]:
    """Yield the marks of one prompt, and every two videos, or each with ``against``."""
    for video, mark in marks.items():
        yield Rating(video, aspect, mark, rater)
    pairs = combinations(marks, 2) if not against else ((against, item) for item in marks)
    for first, second in pairs:
        if first == second:
            continue
        apart = marks[first] - marks[second]
        vote = Vote.TIE if apart == 0 else Vote.A if apart > 0 else Vote.B
        yield Preference(first, second, aspect, vote, rater, prompt, apart)


def _is_mark(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value)


FETV_TRUTH = "ground-truth"
FETV_ASPECTS = ("static_quality", "temporal_quality", "alignment")


def read_fetv(folder: Path, *, generated: bool = False) -> Found:
    """FETV: the real video against each generated one, by every rater and aspect.

    ``human0`` … have a file per model; a row is ``{number: {video_id, marks}}``. With ``generated``
    it is the generated ones against each other.
    """
    about = read_json(folder / "fetv_data.json")
    rows_about = about if isinstance(about, list) else []
    prompts = [str(row.get("prompt") or "") if isinstance(row, dict) else "" for row in rows_about]
    for rater in sorted(item for item in folder.glob("human*") if item.is_dir()):
        marks: dict[str, dict[str, Any]] = {}
        for file in sorted(rater.glob("*.json")):
            rows = read_json(file)
            marks[file.stem] = {
                number: given
                for row in (rows if isinstance(rows, list) else [rows])
                if isinstance(row, dict)
                for number, given in row.items()
                if isinstance(given, dict)
            }
        truth = marks.pop(FETV_TRUTH, None)
        if generated:
            truth = dict.fromkeys(number for rows in marks.values() for number in rows)
        if truth is None:
            message = f"{quoted(str(rater))} has no marks of the real videos"
            yield Problem(ProblemKind.MISSING, message, path=rater)
            continue
        for number, real in truth.items():
            available = number.isdecimal() and int(number) < len(prompts)
            prompt = prompts[int(number)] if available else ""
            for aspect in FETV_ASPECTS:
                real_name = "" if real is None else f"{FETV_TRUTH}/{number}"
                given = ({} if real is None else {real_name: real.get(aspect)}) | {
                    f"{model}/{number}": rows[number].get(aspect)
                    for model, rows in marks.items()
                    if number in rows
                }
                if not all(_is_mark(mark) for mark in given.values()):
                    yield _wrong(rater, number, f"{aspect} is not a number for every model")
                    continue
                yield from _compared(given, aspect, rater.name, prompt, against=real_name)


def read_video_bench(folder: Path) -> Found:
    """Video-Bench: a file per aspect; the models of each prompt, marked by the same raters."""
    files = sorted(folder.glob("*.json"))
    for file in files:
        content = read_json(file)
        for number, row in enumerate(content if isinstance(content, list) else []):
            videos = row.get("videos") if isinstance(row, dict) else None
            marks = row.get("human_anno") if isinstance(row, dict) else None
            if not isinstance(videos, dict) or not isinstance(marks, dict):
                yield _wrong(file, str(number), "has no videos and human_anno")
                continue
            if not all(isinstance(item, str) for item in videos.values()):
                yield _wrong(file, str(number), "videos are not names")
                continue
            lists = {videos[model]: given for model, given in marks.items() if model in videos}
            good = all(
                isinstance(item, list) and all(map(_is_mark, item)) for item in lists.values()
            )
            if not good or len({len(item) for item in lists.values()}) != 1:
                yield _wrong(file, str(number), "human_anno is not as many marks for every model")
                continue
            prompt = str(row.get("prompt_en") or "")
            for rater in range(len(next(iter(lists.values())))):
                given = {video: item[rater] for video, item in lists.items()}
                yield from _compared(given, file.stem, str(rater), prompt)


def _tvge_files(folder: Path) -> dict[str, Path]:
    ends = {"alignment": "*alignment_score.json", "quality": "*quality_score.json"}
    result = {aspect: sorted(folder.glob(end)) for aspect, end in ends.items()}
    return {aspect: files[0] for aspect, files in result.items() if files}


def read_tvge(folder: Path) -> Found:
    """TVGE: the mean mark of each video, for alignment and for quality."""
    for aspect, file in _tvge_files(folder).items():
        content = read_json(file)
        for number, row in content.items() if isinstance(content, dict) else ():
            models = row.get("models") if isinstance(row, dict) else None
            given = {
                f"{model}/{number}": marks[0] if isinstance(marks, list) and marks else marks
                for model, marks in (models.items() if isinstance(models, dict) else ())
            }
            if len(given) < 2 or not all(_is_mark(mark) for mark in given.values()):
                yield _wrong(file, number, "models are not two or more with a mark each")
                continue
            yield from _compared(given, aspect, "mean", str(row.get("prompt") or ""))


def read_csv(path: Path) -> Found:
    """Plain rows; ``vote`` is a, b, tie, both_good or both_bad."""
    needed = ("video_a", "video_b", "aspect", "vote")
    optional = ("rater", "prompt")
    for table_row in table_rows(
        path, {name: (name,) for name in needed}, {name: (name,) for name in optional}
    ):
        if isinstance(table_row, Problem):
            yield table_row
            continue
        line, row = table_row
        empty = [name for name in needed if not row[name]]
        vote = row["vote"].lower()
        if empty:
            message = f"{', '.join(empty)} is empty"
        elif vote not in set(Vote):
            message = f"vote is {one_line(vote)}: must be one of {', '.join(Vote)}"
        else:
            yield Preference(
                row["video_a"],
                row["video_b"],
                row["aspect"],
                Vote(vote),
                row.get("rater", ""),
                row.get("prompt", ""),
            )
            continue
        yield Problem(ProblemKind.BAD_ROW, message, path=path, line=line)


READERS: dict[str, Callable[[Path], Found]] = {
    "csv": read_csv,
    "fetv": read_fetv,
    "fetv_generated": partial(read_fetv, generated=True),
    "genai_bench": read_genai_bench,
    "tvge": read_tvge,
    "uve": read_uve,
    "video_bench": read_video_bench,
}
