"""LoCoT2V-Bench's prompt suite files, both editions, and one's own in the same layout.

The first edition is ``{theme: {id: record}}``; the second a list or object of records. What a
record lacks is empty here, and what it has and cannot be read is reported. The theme of an id
is everything before its last underscore.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from screentest._util.atomic import write_whole
from screentest.analysis.people.released import read_json, read_text
from screentest.core import BadOption, Item, ManifestError
from screentest.inputs.fields import Complaint, Problem, ProblemKind, load_json, one_line
from screentest.inputs.files import VIDEO_SUFFIXES

PROMPT_GROUP = "prompt_id"
"""The group of an item that says which record of a suite it was made from."""
COMPLEXITIES = ("semantic", "structural", "control")
"""In which ways a prompt is complex, each from 1 to 10."""
TERMS: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("terms.toml").read_text(encoding="utf-8")
)
DIMENSIONS: Mapping[str, str] = {
    name: title for name, title, *_ in TERMS["dimensions"][-1]["parts"]
}
"""The seven dimensions of human expectation, by our names, with the paper's."""
_ALIASES: Mapping[str, str] = {
    **{title.lower(): name for name, title in DIMENSIONS.items()},
    **{name: name for name in DIMENSIONS},
    **TERMS["aliases"],
}
_POLARITY = {"positive": True, "negative": False}
CATEGORIES: Mapping[str, list[str]] = TERMS["categories"]
"""The paper's three categories, and words of themes that we count to each."""
_LONG_WORD = 4
"""Letters of a word that tells what a compound is: "seafood" is food, an "oscar" is not a car."""


def category_of(theme: str) -> str:
    """Return the category of a theme by its words; empty where none is listed.

    What is made up is so whatever it shows, and nature is so whoever films it: a theme with words
    of several categories is in the last of them. A word that is not listed counts by its end.

    >>> category_of("soap_opera"), category_of("Wild animals"), category_of("misc")
    ('Human Real Life', 'Nature Exploration', '')
    >>> category_of("science_fiction"), category_of("wildlife documentary"), category_of("minivlog")
    ('Virtual Entertainment', 'Nature Exploration', 'Human Real Life')
    """
    words = re.findall(r"[a-z]+", theme.lower())
    result = [
        name for name, available in CATEGORIES.items() if any(word in available for word in words)
    ]
    if not result:
        ends = {
            name: tuple(word for word in available if len(word) >= _LONG_WORD)
            for name, available in CATEGORIES.items()
        }
        result = [name for name in CATEGORIES if any(word.endswith(ends[name]) for word in words)]
    return result[-1] if result else ""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happens, as the paper defines it: a description and four fields."""

    event: str
    subject: str = ""
    setting: str = ""
    action: str = ""
    camera: str = ""
    prompt: str = ""
    """The same as a prompt of its own, for generators that take several."""
    subjects: tuple[str, ...] = field(default=(), kw_only=True)
    """Who or what it is about, one by one; empty where only ``subject`` tells."""


_EVENT_FIELDS = {name: name for name in ("event", "subject", "setting", "action")}
_EVENT_FIELDS |= {"camera": "camera motion", "prompt": "prompt"}
"""The texts of an event in their order, and what files call them."""


@dataclass(frozen=True, slots=True)
class ExpectationQuestion:
    """A yes-or-no question; ``positive`` where yes says that the expectation is met."""

    text: str
    positive: bool


@dataclass(frozen=True, slots=True)
class HumanAction:
    """Who is to do what."""

    subject: str
    action: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.action}" if self.subject else self.action


@dataclass(frozen=True, slots=True)
class PromptRecord:
    """One prompt of a suite and all that its evaluation needs."""

    id: str
    prompt: str
    """What a generator is given."""
    base: str = ""
    """The prompt without what only concerns evaluation; the prompt itself where empty."""
    theme: str = ""
    category: str = ""
    events: tuple[Event, ...] = ()
    questions: Mapping[str, tuple[ExpectationQuestion, ...]] = field(default_factory=dict)
    """By dimension of human expectation."""
    expectations: Mapping[str, str] = field(default_factory=dict)
    """What was said of the real video, by dimension."""
    actions: tuple[HumanAction, ...] | None = None
    """None where the file does not say; empty where nobody acts."""
    complexity: Mapping[str, float] = field(default_factory=dict)
    """semantic, structural, control: 1 to 10."""
    duration: float | None = None

    @property
    def content(self) -> str:
        return self.base or self.prompt


@dataclass(frozen=True, slots=True)
class PromptSuite:
    """The records of a suite file by id, what was wrong with it, and its hash."""

    records: Mapping[str, PromptRecord]
    problems: tuple[Problem, ...] = ()
    digest: str = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the problems, and the themes that are in no category."""
        themes = Counter(
            one.theme for one in self.records.values() if one.theme and not one.category
        )
        told = [f"{theme}: {count:,} prompts in no category" for theme, count in themes.items()]
        return (*map(str, self.problems), *told)

    def record_of(self, item: Item) -> PromptRecord | None:
        """Return the record that an item was made from: by its group, its id, or its prompt."""
        named = item.groups.get(PROMPT_GROUP, "")
        for name in (named, item.id, Path(item.id).stem):
            if name in self.records:
                return self.records[name]
        matching = [
            record
            for record in self.records.values()
            if item.prompt and record.prompt == item.prompt
        ]
        return matching[0] if len(matching) == 1 else None


def read_prompt_suite(path: Path, *, categories: Mapping[str, str] | None = None) -> PromptSuite:
    """Read a suite file of either edition; ``categories`` gives the category of each theme.

    A theme that it does not name is in the category that the record or its own words say. Raises
    ManifestError where the file holds no records at all.
    """
    try:
        content = load_json(read_text(path))
    except Complaint as complaint:
        raise ManifestError(f"{path}: {complaint.message}", advice=complaint.advice) from None
    records: dict[str, PromptRecord] = {}
    problems: list[Problem] = []
    for theme, name, entry in _entries(content):
        if not isinstance(entry, dict) or not isinstance(entry.get("prompt"), str):
            problems.append(Problem(ProblemKind.BAD_ROW, "has no prompt", id=name))
            continue
        if name in records:
            problems.append(Problem(ProblemKind.DUPLICATE_ID, "is there twice", id=name))
            continue
        record = _Reading(name, entry, problems).record()
        theme = theme or name.rpartition("_")[0]
        category = (categories or {}).get(theme, record.category or category_of(theme))
        records[name] = replace(record, theme=theme, category=category)
    if not records:
        raise ManifestError(
            f"{path} holds no prompts of LoCoT2V-Bench",
            advice="Give locot2v_prompt_suite.json, or the second edition's prompt.json.",
        )
    return PromptSuite(records, tuple(problems), hashlib.sha256(path.read_bytes()).hexdigest()[:16])


def read_categories(path: Path | None) -> dict[str, str]:
    """Read a file of the category of each theme; none are given without one."""
    content = read_json(path) if path is not None else {}
    if not isinstance(content, dict) or not all(isinstance(item, str) for item in content.values()):
        raise BadOption(f"{path} is not an object of themes", advice='Write {"food": "…"}.')
    return content


def write_prompt_suite(path: Path, records: Sequence[PromptRecord]) -> None:
    """Write records in the layout of the first edition; what is read back is equal."""
    themes: dict[str, dict[str, Any]] = {}
    for record in records:
        theme = record.theme or record.id.rpartition("_")[0] or "own"
        themes.setdefault(theme, {})[record.id] = as_object(record)
    write_whole(path, f"{json.dumps(themes, indent=2, ensure_ascii=False)}\n")


def as_object(record: PromptRecord) -> dict[str, Any]:
    """Return a record as the first edition's file has it, with our additions if any."""
    entry: dict[str, Any] = {
        "main_content": record.base,
        "evaluation": {DIMENSIONS[name]: text for name, text in record.expectations.items()},
        "herd_questions": {
            DIMENSIONS[name]: [
                {
                    "question": question.text,
                    "q_pos": "positive" if question.positive else "negative",
                }
                for question in questions
            ]
            for name, questions in record.questions.items()
        },
        "events_info": [
            {
                **{written: getattr(event, name) for name, written in _EVENT_FIELDS.items()},
                **({"subjects": list(event.subjects)} if event.subjects else {}),
            }
            for event in record.events
        ],
        "prompt": record.prompt,
    }
    actions = record.actions
    ours = {
        "human_actions": None if actions is None else [asdict(action) for action in actions],
        "duration_ref": record.duration,
        "category": record.category or None,
        "complexity": dict(record.complexity) or None,
    }
    return entry | {name: value for name, value in ours.items() if value is not None}


def items_of_suite(
    suite: PromptSuite, videos: Path, model: str = ""
) -> tuple[list[Item], list[str]]:
    """Return the items whose videos are a folder's ``<id>.<suffix>``, and the ids without one."""
    if not videos.is_dir():
        raise ManifestError(f"{videos} is not a folder of videos")
    result = {
        path.stem: path
        for path in sorted(videos.iterdir())
        if path.suffix.lower() in VIDEO_SUFFIXES
    }
    items = []
    for name, record in suite.records.items():
        if name in result:
            named = {"theme": record.theme, "category": record.category, "model": model}
            groups = {PROMPT_GROUP: name, **{key: value for key, value in named.items() if value}}
            for kind in COMPLEXITIES:
                if kind in record.complexity:
                    groups[f"{kind}_complexity"] = f"{record.complexity[kind]:g}"
            label = f"{model}/{name}" if model else name
            items.append(Item(label, result[name], prompt=record.prompt, groups=groups))
    return items, [name for name in suite.records if name not in result]


def items_with_videos(
    suite: PromptSuite, videos: Path, model: str = ""
) -> tuple[list[Item], list[str]]:
    """Return the same, where a folder without any of the suite's videos is a mistake."""
    result, missing = items_of_suite(suite, videos, model)
    if not result:
        raise BadOption(
            f"{videos} holds none of the {len(suite.records):,} videos of the prompt suite",
            advice="Name each video by its prompt's id, such as food_3.mp4.",
        )
    return result, missing


def complexity_of(item: Item) -> dict[str, float]:
    """Return how complex the prompt of an item is, as far as its groups tell.

    >>> complexity_of(Item("a", Path("a.mp4"), groups={"control_complexity": "7"}))
    {'control': 7.0}
    """
    result = {}
    for kind in COMPLEXITIES:
        try:
            result[kind] = float(item.groups.get(f"{kind}_complexity", ""))
        except ValueError:  # not given, or in somebody's own words
            continue
    return {kind: grade for kind, grade in result.items() if math.isfinite(grade)}


def _entries(content: Any) -> Iterator[tuple[str, str, Any]]:
    """Theme, id and record of each entry, whichever layout the file has."""
    if isinstance(content, list):
        for number, entry in enumerate(content, start=1):
            name = entry.get("id", str(number)) if isinstance(entry, dict) else str(number)
            yield "", str(name), entry
    elif isinstance(content, dict):
        for name, entry in content.items():
            values = entry.values() if isinstance(entry, dict) and "prompt" not in entry else ()
            if values and all(isinstance(value, dict) for value in values):
                for inner, record in entry.items():
                    yield name, inner, record
            else:
                yield "", name, entry


@dataclass(frozen=True, slots=True)
class _Reading:
    """One record being read; what cannot be read is left out and reported."""

    name: str
    entry: Mapping[str, Any]
    problems: list[Problem]

    def record(self) -> PromptRecord:
        base = self.entry.get("main_content"), self.entry.get("purified_prompt")
        return PromptRecord(
            self.name,
            _plain(self.entry.get("prompt")),
            next(filter(None, map(_plain, base)), ""),
            category=_plain(self.entry.get("category")),
            events=tuple(self._events()),
            questions=self._questions(),
            expectations=self._by_dimension(
                self.entry.get("evaluation") or self.entry.get("herd_expectations"), "expectations"
            ),
            actions=self._actions(),
            complexity=self._complexity(),
            duration=_number(self.entry.get("duration_ref")),
        )

    def _report(self, message: str) -> None:
        self.problems.append(Problem(ProblemKind.BAD_ROW, message, id=self.name))

    def _events(self) -> Iterator[Event]:
        listed = self.entry.get("events_info")
        scenes = self.entry.get("scene_infos")
        for item in listed if isinstance(listed, list) else ():
            if isinstance(item, dict) and isinstance(item.get("event"), str):
                texts = [_plain(item.get(written)) for written in _EVENT_FIELDS.values()]
                yield Event(*texts, subjects=_listed(item.get("subjects")))
            else:
                self._report("an event has no description")
        for item in scenes if isinstance(scenes, list) and not listed else ():
            if isinstance(item, dict):
                subjects, actions = self._characters(item.get("character_mapping"))
                yield Event(
                    event=_plain(item.get("summary")) or _plain(item.get("prompt")),
                    subject=", ".join(subjects),
                    setting=self._places(item.get("background_mapping")),
                    action=", ".join(actions),
                    camera=_plain(item.get("camera_movement")),
                    prompt=_plain(item.get("prompt")),
                    subjects=subjects,
                )

    def _characters(self, mapping: Any) -> tuple[tuple[str, ...], list[str]]:
        """Return who is in a scene, as they look, and what they do: actions by name."""
        named = mapping.items() if isinstance(mapping, dict) else ()
        subjects = (
            self._info("character_infos", name, "sam_prompt", "description", "concept")
            for name, _ in named
        )
        actions = [text for _, given in named for text in _listed(given)]
        return tuple(dict.fromkeys(subjects)), actions

    def _places(self, names: Any) -> str:
        listed = _listed(names) or filter(None, [_plain(names)])
        return ", ".join(self._info("background_infos", name, "description") for name in listed)

    def _info(self, infos: str, name: str, *fields: str) -> str:
        """Return the first of these fields that a file has of somebody; else the name."""
        given = self.entry.get(infos)
        info = given.get(name) if isinstance(given, dict) else None
        texts = (_plain(info.get(field)) for field in fields if isinstance(info, dict))
        return next(filter(None, texts), name)

    def _questions(self) -> dict[str, tuple[ExpectationQuestion, ...]]:
        given = self.entry.get("herd_questions")
        result: dict[str, tuple[ExpectationQuestion, ...]] = {}
        for title, listed in given.items() if isinstance(given, dict) else ():
            name = _ALIASES.get(title.strip().lower())
            if name is None:
                self._report(f"questions on {one_line(title)}, which is not a dimension")
                continue
            questions = []
            for item in listed if isinstance(listed, list) else ():
                text = item.get("question") if isinstance(item, dict) else None
                polarity = item.get("q_pos") if isinstance(item, dict) else None
                if isinstance(text, str) and str(polarity).lower() in _POLARITY:
                    positive = _POLARITY[str(polarity).lower()]
                    questions.append(ExpectationQuestion(text.strip(), positive))
                else:
                    self._report(f"a question on {title} has no text or no polarity")
            result[name] = tuple(questions)
        return result

    def _by_dimension(self, given: Any, what: str) -> dict[str, str]:
        result = {}
        for title, text in given.items() if isinstance(given, dict) else ():
            name = _ALIASES.get(str(title).strip().lower())
            if name is None or not isinstance(text, str):
                self._report(f"{what} on {one_line(str(title))} cannot be read")
            elif text.strip():
                result[name] = text.strip()
        return result

    def _actions(self) -> tuple[HumanAction, ...] | None:
        listed = self.entry.get("human_actions")
        if not isinstance(listed, list):
            return None
        actions = []
        for item in listed:
            if isinstance(item, str) and item.strip():
                actions.append(HumanAction("", item.strip()))
            elif isinstance(item, dict) and _plain(item.get("action")):
                actions.append(HumanAction(_plain(item.get("subject")), _plain(item.get("action"))))
            else:
                self._report("a human action has no text")
        return tuple(actions)

    def _complexity(self) -> dict[str, float]:
        given = self.entry.get("complexity")
        if not isinstance(given, dict):
            return {}
        numbers = {str(name): _number(value) for name, value in given.items()}
        return {name: number for name, number in numbers.items() if number is not None}


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and value is not True else None


def _plain(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _listed(value: Any) -> tuple[str, ...]:
    """Return the texts of a list; nothing where it is none."""
    listed = value if isinstance(value, list) else ()
    return tuple(item.strip() for item in listed if isinstance(item, str) and item.strip())
