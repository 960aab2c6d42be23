"""Scores of other tools on videos of several models: files of VBench, and tables.

VBench's ``*_eval_results.json`` holds ``{dimension: [mean, [{video_path, video_results}, …]]}``; a
table (CSV, TSV) has the columns prompt and value, and where there are several of them model, metric
and seed, or in place of value a column for each metric. Neither says which direction is better, nor
what saving the same video otherwise would change.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from screentest.analysis.people.released import read_json, table_rows
from screentest.analysis.people.score_tables import score_of
from screentest.analysis.results import Results, Value
from screentest.core import BadOption, Item, ManifestError, Outcome, OutputInfo, Score
from screentest.inputs.fields import Problem

_NEEDED = {"prompt": ("prompt", "case", "id", "item")}
_OPTIONAL = {
    "model": ("model", "system"),
    "metric": ("metric", "dimension"),
    "value": ("value", "score"),
    "seed": ("seed", "video"),
}
_TABLES = (".csv", ".tsv")
_SEED = re.compile(r"-(\d+)$")
"""VBench names the videos of a prompt ``PROMPT-0.mp4`` to ``PROMPT-4.mp4``."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One number of one video."""

    model: str
    prompt: str
    metric: str
    value: Outcome[Score]
    seed: str = ""
    video: str = ""


def is_score_file(path: Path) -> bool:
    """Return True for a file that may hold scores of another tool: a run is a folder."""
    return path.suffix.lower() in (".json", *_TABLES) and not path.is_dir()


def read_score_files(paths: Sequence[Path], lower: Sequence[str] = ()) -> Results:
    """Return the scores of some files as results, one video for each prompt, seed and model.

    ``lower`` are the metrics of which less is better. A row that cannot be read is an error: which
    model it was of is not known, so leaving it out could favour one.
    """
    rows_of = {path: list(_rows(path)) for path in dict.fromkeys(paths)}
    for path, rows in rows_of.items():
        if not any(row.value.ok for row in rows):
            raise ManifestError(
                f"no scores in {path}",
                advice="Give VBench's *_eval_results.json, or a table: model,prompt,metric,value.",
            )
    model_of = _model_names(rows_of)
    items: dict[str, Item] = {}
    outputs: dict[str, OutputInfo] = {}
    values: dict[tuple[str, str], Value] = {}
    for path, rows in rows_of.items():
        repeats: Counter[tuple[str, str, str]] = Counter()
        for row in rows:
            model, name = row.model or model_of(path), _name(row.metric)
            seed = row.seed
            if not seed:
                # Several rows of one prompt without a seed are several videos.
                seed = str(repeats[model, row.prompt, name])
                repeats[model, row.prompt, name] += 1
            item = f"{model}: {row.prompt} #{seed}"
            if (item, name) in values and values[item, name].outcome != row.value:
                raise ManifestError(
                    f"{path} has two values of {row.metric!r} for {item}",
                    advice="Give each video of a prompt a seed of its own.",
                )
            groups = {"model": model, "case": row.prompt, "seed": seed}
            video = Path(row.video or f"{model}/{row.prompt}-{seed}.mp4")
            items.setdefault(item, Item(item, video, prompt=row.prompt, groups=groups))
            values[item, name] = Value(item, name, name, row.value, "")
            better = row.metric not in lower and name not in lower
            outputs[name] = OutputInfo(
                row.metric,
                -math.inf,
                math.inf,
                higher_is_better=better,
                bounded=False,
                label=row.metric.replace("_", " "),
            )
    known = {*outputs, *(info.summary for info in outputs.values())}
    unknown = [name for name in lower if name not in known]
    if unknown:
        raise BadOption.of("lower", unknown[0], f"one of {', '.join(outputs)}")
    return Results(items, tuple(values.values()), outputs)


def _name(metric: str) -> str:
    """
    >>> _name("Subject Consistency"), _name("FVD (16 frames)")
    ('subject_consistency', 'fvd_16_frames')
    """
    return re.sub(r"\W+", "_", metric).strip("_").casefold() or "score"


def _rows(path: Path) -> Iterator[_Row]:
    if path.suffix.lower() in _TABLES:
        yield from _table(path)
    else:
        yield from _vbench(path)


def _table(path: Path) -> Iterator[_Row]:
    for line in table_rows(path, _NEEDED, _OPTIONAL):
        if isinstance(line, Problem):
            raise ManifestError(f"{path}, {line}")
        number, cells = line
        model, prompt, metric, seed = (
            cells.pop(name, "") for name in ("model", "prompt", "metric", "seed")
        )
        if not prompt:
            raise ManifestError(f"{path}, line {number}: the prompt is empty")
        if "value" in cells:
            yield _Row(model, prompt, metric or path.stem, score_of(cells["value"]), seed)
        else:
            for name, text in cells.items():
                yield _Row(model, prompt, name, score_of(text), seed)


def _vbench(path: Path) -> Iterator[_Row]:
    content = read_json(path, constants=True)
    for metric, entry in content.items() if isinstance(content, dict) else ():
        match entry:
            case [_, [*videos]]:
                pass
            case _:
                raise ManifestError(
                    f"{path}: {metric!r} lists no videos",
                    advice="Give VBench's *_eval_results.json: its means alone can't be tested.",
                )
        for video in videos:
            match video:
                case {"video_path": str(name), "video_results": value} if name.strip("/\\ "):
                    pass
                case _:
                    raise ManifestError(
                        f"{path}: a video of {metric!r} has no video_path or video_results"
                    )
            # Some dimensions answer yes or no for a video.
            score = score_of(int(value) if isinstance(value, bool) else value)
            file = PurePosixPath(name.replace("\\", "/"))
            seed = _SEED.search(file.stem)
            prompt = file.stem[: seed.start()] if seed else file.stem
            yield _Row("", prompt or file.stem, metric, score, seed[1] if seed else "0", name)


def _model_names(rows_of: Mapping[Path, Sequence[_Row]]) -> Callable[[Path], str]:
    """Return what names the model of a file that names none: the folder of its videos, the file's
    own folder, or its name, the first that tells files apart."""
    unnamed = [path for path, rows in rows_of.items() if not all(row.model for row in rows)]

    def folder_of_videos(path: Path) -> str:
        folders = {PurePosixPath(row.video.replace("\\", "/")).parent.name for row in rows_of[path]}
        return folders.pop() if len(folders) == 1 else ""

    def folder(path: Path) -> str:
        return path.resolve().parent.name

    def stem(path: Path) -> str:
        return path.stem.removesuffix("_eval_results")

    for naming in (folder_of_videos, folder):
        names = {naming(path) for path in unnamed}
        if len(names) > 1 and "" not in names:
            return naming
    return stem
