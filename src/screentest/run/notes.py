"""What a run is about: its items, its evaluators and notes of the whole, kept with the records.

A report is made of the run alone: neither the manifest nor the metrics need be at hand.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Self

from screentest._util.text import escaped
from screentest.core.codec import DecodeError, from_object, parse_json, to_json
from screentest.core.errors import UserError
from screentest.core.frames import VideoInfo
from screentest.core.item import Item
from screentest.core.metric import MetricInfo, OutputInfo, Traits
from screentest.core.outcome import Json
from screentest.run.records import SqlRow
from screentest.run.writer import cleared

KINDS: Final = ("judge", "metric")
MODELS: Final = "models"
"""The note that says which backends a run used."""


@dataclass(frozen=True, slots=True)
class EvaluatorNote:
    """What a metric or judge is, as the run has it.

    >>> info = MetricInfo({"flicker": OutputInfo("change of brightness", high=math.inf)})
    >>> note = EvaluatorNote.of_metric("flicker", "flicker|v:1", info)
    >>> note.about["outputs"]["flicker"]["high"], note.outputs["flicker"].high
    (None, inf)
    """

    name: str
    kind: str
    """``metric`` or ``judge``."""
    signature: str
    about: Mapping[str, Json] = field(default_factory=dict)
    """Plain JSON: outputs, roles, options and whatever else a report may tell."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"an evaluator is a {' or a '.join(KINDS)}, not a {self.kind!r}")

    @classmethod
    def of_metric(
        cls, name: str, signature: str, info: MetricInfo, options: Mapping[str, Json] | None = None
    ) -> Self:
        """Return the note of a metric; a limit that is infinite is written as none."""
        about: dict[str, Json] = {
            "outputs": {output: _limits(about) for output, about in info.outputs.items()},
            "level": info.level.value,
            "roles": list(info.roles),
            "needs": list(info.needs),
            "group": info.group,
            "traits": {
                output: {**asdict(one), "helped_by": [asdict(effect) for effect in one.helped_by]}
                for output, one in info.traits.items()
                if one != Traits()
            },
            "options": dict(options or {}),
        }
        return cls(name, "metric", signature, about)

    @property
    def group(self) -> str:
        """The subject of a metric: picture, time, prompt or other."""
        return str(self.about.get("group") or "other")

    @property
    def outputs(self) -> dict[str, OutputInfo]:
        """The declarations of a metric's values; a judge has none."""
        outputs: Any = self.about.get("outputs", {})
        try:
            limited = {output: _with_limits(parts) for output, parts in outputs.items()}
        except AttributeError as error:
            raise DecodeError(f"the run's note on {self.name} cannot be read: {error}") from None
        return {output: from_object(OutputInfo, parts) for output, parts in limited.items()}

    @property
    def traits(self) -> dict[str, Traits]:
        """By output, facts for the comparison of models, with the metric's group."""
        kept: Any = self.about.get("traits") or {}
        if not isinstance(kept, dict):
            raise DecodeError(f"the run's note on {self.name} cannot be read: invalid traits")
        found = {output: from_object(Traits, parts) for output, parts in kept.items()}
        return {
            output: replace(found.get(output, Traits()), group=self.group)
            for output in self.outputs
        }


def _limits(info: OutputInfo) -> dict[str, Json]:
    return {
        "summary": info.summary,
        "low": info.low if math.isfinite(info.low) else None,
        "high": info.high if math.isfinite(info.high) else None,
        "higher_is_better": info.higher_is_better,
        "unit": info.unit,
        "descriptive": info.descriptive,
        **({"label": info.label} if info.label else {}),
    }


def _with_limits(parts: Mapping[str, Any]) -> dict[str, Any]:
    infinite = {"low": -math.inf, "high": math.inf}
    return {key: infinite.get(key) if part is None else part for key, part in parts.items()}


def item_rows(items: Iterable[Item], probes: Mapping[str, VideoInfo]) -> list[SqlRow]:
    """Items as rows; paths are made absolute, so that they lead somewhere from any folder."""
    rows: list[SqlRow] = []
    for item in items:
        _must_be_text(item)
        whole = replace(
            item,
            video=_lasting(item.video),
            references=tuple(_lasting(path) for path in item.references),
            source=None if item.source is None else _lasting(item.source),
            groups=dict(item.groups),
        )
        probe = probes.get(item.id)
        rows.append(
            {
                "item": item.id,
                "body": cleared(to_json(whole)),
                "probe": None if probe is None else cleared(to_json(probe)),
            }
        )
    return rows


def _must_be_text(item: Item) -> None:
    """Bytes that are not UTF-8 reach a program as halves of surrogate pairs: no text has them."""
    texts = {"id": item.id, "prompt": item.prompt, "instruction": item.instruction}
    texts |= {f"group {name}": f"{name}={value}" for name, value in item.groups.items()}
    for number, clip in enumerate(item.script.clips if item.script else (), start=1):
        texts[f"caption {number}"] = clip.caption
    for name, text in texts.items():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise UserError(
                f"the {escaped(name)} of item '{escaped(item.id)}' is not UTF-8"
                f" at character {error.start + 1}",
                advice="Write it in UTF-8.",
            ) from None


def _lasting(path: Path) -> Path:
    # A name that is not text cannot be written as it is; see ``cleared``.
    return Path(str(path.absolute()).encode("utf-8", "backslashreplace").decode())


def evaluator_rows(notes: Iterable[EvaluatorNote]) -> list[SqlRow]:
    """Write evaluators as rows of the database."""
    return [
        {
            "evaluator": note.name,
            "kind": note.kind,
            "signature": note.signature,
            "about": document_text(dict(note.about)),
        }
        for note in notes
    ]


def document_text(value: Json) -> str:
    """Write a document as it is kept, without secrets."""
    return cleared(json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True))


IDENTITY: Final[Mapping[str, tuple[str, ...]]] = {
    "items": ("item",),
    "evaluators": ("kind", "evaluator", "signature"),
    "notes": ("name",),
}
"""What makes a row the same row."""


def parse_document(text: object, what: str) -> Any:
    """JSON of a run, which may be anybody's; ``what`` names it where it cannot be read."""
    try:
        return parse_json(str(text), finite=True)
    except ValueError as error:
        raise DecodeError(f"{what} cannot be read: {error}") from None
