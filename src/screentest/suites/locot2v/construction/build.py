"""Building: every stage of every video, as far as it can be; start again to go on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from screentest.core import BadOption, Failure, Item, NoValue, Reason, Resources, UserError
from screentest.inputs.files import VIDEO_SUFFIXES
from screentest.run.inputs import ABSENT, hash_file
from screentest.suites.locot2v.construction.documents import Documents, digest, write_reviews
from screentest.suites.locot2v.construction.stages import STAGES, Choices, SourceVideo, Stage
from screentest.suites.locot2v.data import (
    COMPLEXITIES,
    Event,
    ExpectationQuestion,
    HumanAction,
    PromptRecord,
    write_prompt_suite,
)

_NAME = re.compile(r"[^\w.-]+")


def sources_in(folder: Path, theme: str = "") -> list[SourceVideo]:
    """Return the videos of a folder; those in a folder of their own have its name as theme.

    The id of ``pets/dog.mp4`` is ``pets_dog``, so that its theme is what stands before the
    last underscore.
    """
    if not folder.is_dir():
        raise BadOption(f"{folder} is not a folder of videos")
    sources: dict[str, SourceVideo] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in VIDEO_SUFFIXES or not path.is_file():
            continue
        inside = path.relative_to(folder).parts[:-1]
        subject = theme or (_NAME.sub("_", inside[0]) if inside else "")
        stem = _NAME.sub("-", path.stem).replace("_", "-")
        name = f"{subject}_{stem}" if subject else _NAME.sub("-", path.stem)
        if name in sources:
            raise BadOption(
                f"{path} and {sources[name].item.video} would both be called {name!r}",
                advice="Rename one of them.",
            )
        sources[name] = SourceVideo(name, Item(name, path), subject)
    if not sources:
        raise BadOption(f"{folder} holds no videos")
    return list(sources.values())


SUITE_FILE = "suite.json"
VERSION = 1
"""Rises whenever a stage would make something else of the same inputs."""
Notice = Callable[[str, str], None]
"""Hears of the video and stage that is being made."""


@dataclass(slots=True)
class SuiteBuild:
    """How far the building of a suite got."""

    made: int = 0
    kept: int = 0
    corrected: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    """Corrected by hand, though what they were made from has changed since."""
    failures: dict[str, Failure] = field(default_factory=dict)
    """By ``id/stage``."""
    left_out: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Videos that are not used, with their flags."""
    flagged: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Videos that are used and that a person should look at."""
    records: list[PromptRecord] = field(default_factory=list)
    drafts: Path | None = None
    """The manifest with which people can look over the drafts."""


def build_suite(
    sources: Sequence[SourceVideo],
    out: Path,
    resources: Resources,
    choices: Choices | None = None,
    *,
    notice: Notice | None = None,
) -> SuiteBuild:
    """Make what is missing and write ``suite.json`` with the records that are complete.

    A failure costs its video the stages that depend on it, and nothing else.
    """
    work = _StageRun(resources, choices or Choices(), Documents(out), notice or (lambda *_: None))
    results: dict[str, dict[str, Mapping[str, Any]]] = {}
    for source in sources:
        available = results[source.id] = work.video(source)
        if len(available) == len(STAGES):
            work.done.records.append(record_of(source, available))
    if work.done.records:
        write_prompt_suite(out / SUITE_FILE, work.done.records)
    work.done.drafts = write_reviews(sources, results, out)
    return work.done


@dataclass(slots=True)
class _StageRun:
    resources: Resources
    choices: Choices
    documents: Documents
    notice: Notice
    done: SuiteBuild = field(default_factory=SuiteBuild)

    def video(self, source: SourceVideo) -> dict[str, Mapping[str, Any]]:
        """Return the documents of one video, as many as can be had."""
        available: dict[str, Mapping[str, Any]] = {}
        film = hash_file(source.item.video)
        if film == ABSENT:
            failure = Failure(Reason.MISSING_FILE, f"cannot read {source.item.video}")
            self.done.failures[f"{source.id}/collect"] = failure
            return available
        for stage in STAGES:
            if any(name not in available for name in stage.after):
                continue  # what it builds on could not be had
            result = self.stage(source, stage, film, available)
            if result is None:
                continue
            available[stage.name] = result
            if stage.name == "collect" and not self._used(source, result):
                break
        return available

    def stage(
        self, source: SourceVideo, stage: Stage, film: str, known: Mapping[str, Mapping[str, Any]]
    ) -> Mapping[str, Any] | None:
        """Return what a stage made, now or before; None where it fails."""
        place = f"{source.id}/{stage.name}"
        inputs = self._inputs(source, stage, film, known)
        kept = self.documents.read(source.id, stage.name, inputs)
        if kept is not None:
            self.done.kept += 1
            if kept.edited:
                (self.done.conflicts if kept.conflicts else self.done.corrected).append(place)
            stage.check(kept.result, self.documents.path(source.id, stage.name))
            return kept.result
        self.notice(source.id, stage.name)
        try:
            result = stage.make(source, known, self.resources, self.choices)
        except NoValue as error:
            self.done.failures[place] = error.failure
            return None
        self.documents.write(source.id, stage.name, inputs, result)
        self.done.made += 1
        return result

    def _inputs(
        self, source: SourceVideo, stage: Stage, film: str, known: Mapping[str, Mapping[str, Any]]
    ) -> str:
        """Return all that a result depends on, apart from models, which may change."""
        templates = self.resources.prompts.digest(*(ask.template for ask in stage.asks))
        return digest(
            [
                *(VERSION, stage.name, templates),
                [film, source.theme] if stage.watches else [],
                [getattr(self.choices, name) for name in stage.uses],
                {name: known[name] for name in stage.after},
            ]
        )

    def _used(self, source: SourceVideo, collected: Mapping[str, Any]) -> bool:
        flags = tuple(str(flag) for flag in collected["flags"])
        if not collected["use"]:
            self.done.left_out[source.id] = flags
        elif flags:
            self.done.flagged[source.id] = flags
        return bool(collected["use"])


def record_of(source: SourceVideo, known: Mapping[str, Mapping[str, Any]]) -> PromptRecord:
    """Return the stages of one video as a record of the suite."""
    grades = known["complexity"]
    try:
        return PromptRecord(
            source.id,
            known["merge"]["text"],
            known["draft"]["text"],
            theme=source.theme or source.id.rpartition("_")[0],
            events=tuple(
                Event(**{**item, "subjects": tuple(item.get("subjects", ()))})
                for item in known["events"]["events"]
            ),
            questions={
                name: tuple(
                    ExpectationQuestion(item["question"], item["positive"]) for item in listed
                )
                for name, listed in known["questions"].items()
            },
            expectations={name: text for name, text in known["evaluate"].items() if text},
            actions=tuple(HumanAction(**item) for item in known["events"]["actions"]),
            complexity={name: float(grades[name]) for name in COMPLEXITIES},
            duration=float(known["collect"]["duration"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"the stages of {source.id} do not fit together: {error}",
            advice="Something was edited into another shape; fix that file or remove it.",
        ) from None
