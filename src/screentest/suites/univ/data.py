"""The UniVBench layout: cases with videos, ground truth, edit instructions and references.

    full_list/<n>/<n>.mp4, caption.json, number_of_shot.txt, text_editing*.txt,
                  reference_editing_single/, reference_editing_multiple/
    R2V/<n>/R2V_planning.json, reference_image_k.*

``caption.json`` holds the ground truth under ``json``. What is missing or wrong in one case is
a problem of that case alone. The cases that UniV-Eval was run on are read, too:

    <case>/source.mp4, reference_method.txt, *.jpg, gt.json,
           final_video_t2i_i2v_0.mp4 and generated_script.txt of the model
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from screentest.analysis.people.released import json_lines, read_json, read_text
from screentest.core import Item, ManifestError
from screentest.inputs.fields import Complaint, Problem, ProblemKind, load_json

_PICTURES = (".jpeg", ".jpg", ".png", ".webp")
_VIDEOS = (".mp4", ".webm", ".mov", ".mkv", ".avi")
_TEXT_FIELDS = ("caption", "video_script", "script", "prompt", "text", "planning", "en")
_ENGLISH, _CHINESE = "_en", "_cn"


@dataclass(frozen=True, slots=True)
class Edit:
    """An instruction with the pictures that go with it."""

    instruction: str
    references: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class BenchmarkCase:
    """One case of the benchmark; what a file does not say is empty."""

    number: str
    video: Path | None = None
    caption: str = ""
    truth: Mapping[str, Any] | None = None
    shots: int | None = None
    edit: Edit | None = None
    """TV2V: by text alone."""
    edits: Mapping[str, Edit] = field(default_factory=dict)
    """RV2V: ``single`` and ``multiple``."""
    from_references: Edit | None = None
    """R2V: the text to film, and the pictures to take from."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """All cases, by number, and what is wrong."""

    folder: Path
    cases: Mapping[str, BenchmarkCase]
    problems: tuple[Problem, ...] = ()

    def items(self, task: str, videos: Path, *, model: str = "") -> list[Item]:
        """Return what there is to score of one model: its videos (or texts, for V2T) in a folder.

        A result is called by its case: ``<n>.mp4`` or another video, ``<n>.txt`` for V2T; for
        RV2V ``<n>_single`` and ``<n>_multiple``, or ``<n>`` alone for the single one where no
        result has ``_single``. Each task has a folder of its own.
        """
        result = []
        scripts = _scripts(videos)
        for case in self.cases.values():
            groups = {"case": case.number, "task": task}
            if model:
                groups["model"] = model
            if case.shots is not None:
                groups["shots"] = "one" if case.shots == 1 else "several"
            for name, item in _results(case, task, videos, scripts):
                if item is not None:
                    label = f"{model}/{name}" if model else name
                    result.append(replace(item, id=f"{task}/{label}", groups=groups))
        return result

    def mixed(self, task: str, videos: Path) -> list[Problem]:
        """Return what says that a folder has results of several tasks: which are which?"""
        names = {path.stem for path in videos.iterdir() if path.suffix.lower() in _VIDEOS}
        kinds = [f"{number}_{kind}" for number in self.cases for kind in ("single", "multiple")]
        edited = [name for name in kinds if name in names]
        twice = [name for name in edited if name.removesuffix("_single") in names]
        wrong = twice if task == "rv2v" else edited if task != "v2t" else []
        message = f"the folder has results of several tasks, such as {''.join(wrong[:1])}"
        return [Problem(ProblemKind.BAD_FILE, message, path=videos)] if wrong else []

    def missing(self, task: str, videos: Path) -> list[str]:
        """Results that a model could have, and has not, by the name they would have."""
        scripts = _scripts(videos)
        return [
            name
            for case in self.cases.values()
            for name, item in _results(case, task, videos, scripts)
            if item is None
        ]


@dataclass(frozen=True, slots=True)
class Truth:
    """Ground truth by name, as JSON; what it means is the metric's business."""

    documents: Mapping[str, Mapping[str, Any]]

    @property
    def digest(self) -> str:
        text = json.dumps(self.documents, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]

    def of(self, item: Item) -> Mapping[str, Any] | None:
        """Return what is known of an item: by its case, its id, or its video's name."""
        for name in (item.groups.get("case", ""), item.id, item.video.stem, item.video.name):
            if name and name in self.documents:
                return self.documents[name]
        return None


def read_univbench(folder: Path, *, language: str = "en") -> Benchmark:
    """Read a download of the benchmark; ``language`` is that of the instructions, en or cn."""
    cases: dict[str, BenchmarkCase] = {}
    problems: list[Problem] = []
    home = folder / "full_list" if (folder / "full_list").is_dir() else folder
    places = _numbered(home)
    references = {place.name: place for place in _numbered(folder / "R2V")}
    for place in places:
        cases[place.name] = _case(place, references.get(place.name), language, problems)
    for name, place in references.items():
        if name not in cases:
            cases[name] = BenchmarkCase(name, from_references=_planning(place, problems))
    if not cases and folder.is_dir():
        read = [_evaluated(place) for place in sorted(folder.iterdir()) if place.is_dir()]
        cases = {case.number: case for case in read if case != BenchmarkCase(case.number)}
    if not cases:
        raise ManifestError(
            f"{folder} holds no case of UniVBench",
            advice="Give the folder that holds full_list/ and R2V/, or UniV-Eval's input/.",
        )
    return Benchmark(folder, cases, tuple(problems))


def read_truth(path: Path) -> Truth:
    """Ground truth: a benchmark, a folder of ``<name>/gt.json``, one JSON file, or JSON lines."""
    if path.is_dir():
        result = {}
        for place in sorted(path.glob("*/gt.json")):
            result[place.parent.name] = _object(read_json(place), place)
        if not result:
            bench = read_univbench(path)
            result = {n: dict(case.truth) for n, case in bench.cases.items() if case.truth}
        if not result:
            raise ManifestError(f"no case in {path} has a ground truth")
        return Truth(result)
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return Truth(dict(json_lines(path, _described)))
    document = _object(read_json(path), path)
    inner = _checklist(document)
    name = str(document.get("id") or path.stem)
    return Truth({name: document if inner is None else inner})


def _case(
    place: Path, references: Path | None, language: str, problems: list[Problem]
) -> BenchmarkCase:
    number = place.name
    video = next(
        (v for v in (place / f"{number}.mp4", *sorted(place.glob("*.mp4"))) if v.is_file()), None
    )
    if video is None:
        problems.append(
            Problem(ProblemKind.MISSING, "the case has no video", id=number, path=place)
        )
    caption, truth = _caption(place / "caption.json", number, problems)
    instruction = _instruction(number, place, "text_editing", language, problems)
    edits = {}
    for kind in ("single", "multiple"):
        inside = place / f"reference_editing_{kind}"
        text = _instruction(number, inside, "reference_editing", language, problems)
        pictures = _pictures(inside)
        if text and pictures:
            edits[kind] = Edit(text, pictures)
        elif inside.is_dir():
            message = f"{inside.name} has no {'pictures' if text else 'instruction'}"
            problems.append(Problem(ProblemKind.MISSING, message, id=number, path=inside))
    return BenchmarkCase(
        number,
        video,
        caption,
        truth,
        _shot_count(place / "number_of_shot.txt"),
        Edit(instruction) if instruction else None,
        edits,
        _planning(references, problems) if references is not None else None,
    )


def _evaluated(place: Path) -> BenchmarkCase:
    """Return a case as UniV-Eval's input has it: what is there says which tasks it is of."""
    source, truth = place / "source.mp4", place / "gt.json"
    text, pictures = _read_text(place / "reference_method.txt"), _pictures(place)
    edit = Edit(text, pictures) if text and pictures else None
    return BenchmarkCase(
        place.name,
        source if source.is_file() else None,
        text,
        _object(read_json(truth), truth) if truth.is_file() else None,
        edit=Edit(text) if text and not pictures else None,
        edits={"single": edit} if edit else {},
        from_references=edit,
    )


def _scripts(folder: Path) -> dict[str, str]:
    """Return the captions that UniV-Eval's captioner wrote, by the name of their video."""
    path = folder / "v2t_baseline_results.jsonl"
    rows = json_lines(path, lambda _, row: row) if path.is_file() else []
    return {
        Path(str(row.get("video_filename", ""))).stem: str(row.get("generated_script", "")).strip()
        for row in rows
    }


def _results(
    case: BenchmarkCase, task: str, folder: Path, scripts: Mapping[str, str]
) -> Iterator[tuple[str, Item | None]]:
    """Yield each result that a model could have of one case; None where it has none."""
    number, source = case.number, case.video
    if task == "v2t":
        if source is not None or case.truth is not None:
            files = (folder / f"{number}.txt", folder / number / "generated_script.txt")
            text = next(filter(None, map(_read_text, files)), scripts.get(number, ""))
            yield number, Item(number, source or files[1], prompt=text) if text else None
        return
    told = task == "rv2v" and next(folder.glob("*_single.*"), None) is not None
    for names, fields in _wanted(case, task):
        names = names[:1] if told else names
        paths = (folder / f"{name}{suffix}" for name in names for suffix in _VIDEOS)
        made = sorted((folder / number).glob("final_video*.mp4"))
        video = next((path for path in (*paths, *made) if path.is_file()), None)
        yield names[0], None if video is None else Item(number, video, **fields)


def _wanted(case: BenchmarkCase, task: str) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the names that a video of a case may have, and the fields of its item."""
    number, source, given = case.number, case.video, case.from_references
    if task == "t2v" and case.caption:
        yield (number,), {"prompt": case.caption}
    elif task == "r2v" and given is not None:
        yield (number,), {"prompt": given.instruction, "references": given.references}
    elif source is not None and task == "tv2v" and case.edit is not None:
        yield (number,), {"source": source, "instruction": case.edit.instruction}
    elif source is not None and task == "rv2v":
        for kind, edit in case.edits.items():
            names = (f"{number}_{kind}", *((number,) if kind == "single" else ()))
            fields = {"instruction": edit.instruction, "references": edit.references}
            yield names, {"source": source, **fields}
    elif source is not None and task == "v2v":
        yield (number,), {"source": source}


def _caption(
    path: Path, number: str, problems: list[Problem]
) -> tuple[str, Mapping[str, Any] | None]:
    try:
        document = _object(read_json(path), path)
        truth = _checklist(document)
    except ManifestError as error:
        problems.append(Problem(ProblemKind.UNREADABLE, error.message, id=number, path=path))
        return "", None
    if truth is None:
        message = "caption.json has no checklist under `json`"
        problems.append(Problem(ProblemKind.BAD_FILE, message, id=number, path=path))
    return _longest_text(document), truth


def _checklist(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what stands under ``json``, be it an object or an object written as text."""
    inner = document.get("json")
    if isinstance(inner, str):
        try:
            inner = load_json(inner)
        except Complaint as complaint:
            raise ManifestError(f"the text under `json`: {complaint.message}") from None
    return inner if isinstance(inner, dict) else None


def _longest_text(document: Mapping[str, Any]) -> str:
    """Return the caption: a field that is named like one, else the longest text there is."""
    texts = (text for name, text in document.items() if isinstance(text, str) and name != "json")
    plain = (text for text in texts if not text.lower().endswith(_PICTURES))
    return _named_text(document) or max(plain, key=len, default="").strip()


def _named_text(document: Mapping[str, Any]) -> str:
    """Return the text of a field that is named like a caption; empty where there is none."""
    names = (name for wanted in _TEXT_FIELDS for name in (f"{wanted}{_ENGLISH}", wanted))
    texts = (document.get(name) for name in names)
    return next((text.strip() for text in texts if isinstance(text, str) and text.strip()), "")


def _planning(place: Path, problems: list[Problem]) -> Edit | None:
    path = place / "R2V_planning.json"
    try:
        document = read_json(path)
    except ManifestError as error:
        problems.append(Problem(ProblemKind.UNREADABLE, error.message, id=place.name, path=path))
        return None
    text = "\n".join(_planned(document)).strip()
    pictures = _pictures(place)
    if not text or not pictures:
        message = f"the R2V case has no {'pictures' if text else 'text to film'}"
        problems.append(Problem(ProblemKind.BAD_FILE, message, id=place.name, path=path))
        return None
    return Edit(text, pictures)


def _planned(node: Any) -> Iterator[str]:
    """Yield the texts to film in their order, however deep they stand, such as in ``shots``."""
    if isinstance(node, str) and not node.lower().endswith(_PICTURES):
        yield node.strip()
    elif isinstance(node, list):
        for inner in node:
            yield from _planned(inner)
    elif isinstance(node, dict):
        named = _named_text(node)
        inside = [inner for inner in node.values() if isinstance(inner, list | dict)]
        texts = [] if named else [text for text in _planned(inside) if text]
        yield named or "\n".join(texts) or _longest_text(node)


def _instruction(
    number: str, folder: Path, stem: str, language: str, problems: list[Problem]
) -> str:
    """Return the instruction in the wanted language; the file without one is next."""
    wanted = _CHINESE if language == "cn" else _ENGLISH
    for path in (folder / f"{stem}{wanted}.txt", folder / f"{stem}.txt"):
        if path.is_file():
            if text := _read_text(path):
                return text
            message = f"{path.name} is empty, or neither UTF-8 nor GBK"
            problems.append(Problem(ProblemKind.UNREADABLE, message, id=number, path=path))
            return ""
    return ""


def _pictures(folder: Path) -> tuple[Path, ...]:
    result = [path for path in folder.glob("*") if path.suffix.lower() in _PICTURES]
    return tuple(sorted(result, key=lambda path: (len(path.stem), path.name)))  # 2 before 10


def _numbered(folder: Path) -> list[Path]:
    places = [place for place in folder.glob("*") if place.is_dir() and place.name.isdecimal()]
    return sorted(places, key=lambda place: (int(place.name), place.name))


def _shot_count(path: Path) -> int | None:
    text = _read_text(path)
    return int(text) if text.isdecimal() and len(text) < 5 else None


def _read_text(path: Path) -> str:
    """Return the text with its lines ended in one way; empty where there is none.

    What is not UTF-8 is read as GBK, in which some instructions were released.
    """
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return re.sub("\r\n?", "\n", read_text(path, encoding=encoding)).strip()
        except ManifestError:
            continue
    return ""


def _object(document: Any, path: Path) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise ManifestError(f"{path} is not a JSON object")
    return document


def _described(line: int, row: dict[str, Any]) -> tuple[str, Mapping[str, Any]]:
    name = row.get("id")
    if not isinstance(name, str) or not name:
        raise ManifestError("it has no id")
    inner = _checklist(row)
    return name, row if inner is None else inner
