"""Source: an item on its way to a testbed, and what is known of it so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from screentest.core import (
    Built,
    Clip,
    Failure,
    Item,
    NoValue,
    Outcome,
    PairKind,
    Signature,
    VideoError,
    build,
)
from screentest.models import Models
from screentest.run.inputs import Stamp
from screentest.run.records import RecordKey
from screentest.testbeds.captions.facts import CaptionFacts
from screentest.testbeds.captions.rules import read_caption, rules_signature
from screentest.testbeds.catalogue import OperatorSet, operator_set
from screentest.testbeds.checks import check_signature
from screentest.testbeds.contract import Degradation
from screentest.testbeds.intact import Intact
from screentest.testbeds.options import OFF, REQUIRE, BuildOptions, Rung
from screentest.testbeds.sightings import clip_check
from screentest.video.limits import Limits
from screentest.video.probe import decoder_version


@dataclass(frozen=True, slots=True)
class Extractor:
    """Reads captions in this process. The name is part of the recipe."""

    name: str
    extract: Callable[[str], CaptionFacts]


def by_rules() -> Extractor:
    """Return the built-in reading."""
    return Extractor(str(rules_signature()), read_caption)


@dataclass(slots=True)
class BuildSource:
    """An item on its way to a testbed."""

    item: Item
    stamps: tuple[Stamp, ...] = ()
    """Its file as it was before anything was read of it."""
    inputs: str = ""
    facts: tuple[CaptionFacts | None, ...] = ()
    """Of each caption; None where it could not be read."""
    faults: list[str] = field(default_factory=list)
    """What was wrong with it, in words."""
    lost: Failure | None = None
    """Why nothing can be made of it."""
    waiting: bool = False
    """The build was stopped before it was prepared."""
    intact_key: RecordKey = field(default_factory=lambda: RecordKey("-", "-"))
    film: Outcome[Intact] | None = None
    keys: dict[tuple[str, Rung | None], RecordKey] = field(default_factory=dict)
    """By operator and rung."""

    @property
    def usable(self) -> bool:
        return self.lost is None and not self.waiting

    @property
    def clips(self) -> Sequence[Clip]:
        return self.item.script.clips if self.item.script is not None else ()

    @property
    def unread(self) -> tuple[int, ...]:
        """Clips whose caption could not be read."""
        return tuple(number for number, facts in enumerate(self.facts) if facts is None)


def sources_of(
    items: Iterable[Item], lost: Mapping[str, Failure], home: Path, limits: Limits
) -> list[BuildSource]:
    """Items as sources, and with them those that were lost before they came here.

    A file above the limit is lost by what the file system says, before a byte of it is read.
    """
    # The stamp is taken before anything is hashed: a file swapped in between is noticed.
    sources = [_source(item, limits) for item in items]
    return [
        *sources,
        *(BuildSource(Item(name, home), lost=failure) for name, failure in lost.items()),
    ]


def _source(item: Item, limits: Limits) -> BuildSource:
    stamp = Stamp.of(item.video)
    if stamp is None:
        return BuildSource(item)
    try:
        limits.check_file(stamp.size)
    except VideoError as error:
        return BuildSource(item, (stamp,), lost=error.failure)
    return BuildSource(item, (stamp,))


# What a build will do to every source: operators, their rungs, and what their results rest on.


@dataclass(frozen=True, slots=True)
class Change:
    """One operator and the rungs it is wanted at."""

    kind: PairKind
    spec: str
    name: str
    aspect: str
    operator_set: OperatorSet | None
    side: int | None
    """The long side at which both videos of its pairs are."""
    rungs: tuple[tuple[Rung | None, Signature], ...]
    """Each with everything that decides its result, the source apart. A placebo has none."""
    inputs: str = ""
    """A hash of the files it draws on besides the film."""
    remarks: tuple[str, ...] = ()
    """What the user should know of those files."""


def changes(options: BuildOptions, extractor: str) -> list[Change]:
    """Return all operators of a build, in the order asked for."""
    models = check_models(options)
    return [*_degradations(options, models, extractor), *_placebos(options)]


def check_models(options: BuildOptions) -> Models:
    """Return the models of a build; UserError where those of a profile are not all here."""
    models = Models(options.models, device=options.device)
    models.must_be_here(roles_of(options), whole=True)
    return models


def roles_of(options: BuildOptions) -> list[str]:
    """Return the roles that the operators of a build ask for."""
    operators = [build(PairKind.DEGRADATION.value, spec).thing for spec in options.degradations]
    return sorted({role for operator in operators for role in operator.info.roles})


def _degradations(options: BuildOptions, models: Models, extractor: str) -> Iterator[Change]:
    for spec in options.degradations:
        built: Built[Degradation] = build(PairKind.DEGRADATION.value, spec)
        info = built.thing.info
        side = smaller(options.long_side, info.long_side)
        for name in info.checks:
            clip_check(name)  # before anything is made
        base = _base(built, options, side).with_parts(
            {
                "captions": extractor,
                **{role: _backend(models, role) for role in info.roles},
                "check": None if options.check == OFF else check_signature(info, models),
                "checked": None if options.check == REQUIRE else options.check,
                # Of several rungs the strongest settles which clips all of them have.
                "ladder": f"up to {max(options.severities):g} in {max(options.clips)}"
                if len(options.rungs) > 1
                else None,
            }
        )
        rungs = tuple(
            (
                rung,
                base.with_parts(
                    {
                        "severity": f"{rung.severity:g}",
                        "clips": rung.clips,
                        "least": options.least_clips,
                    }
                ),
            )
            for rung in options.rungs
        )
        yield Change(
            PairKind.DEGRADATION,
            spec,
            built.spec.name,
            info.aspect.value,
            operator_set(built.spec.name),
            side,
            rungs,
            info.inputs,
            info.remarks,
        )


def _placebos(options: BuildOptions) -> Iterator[Change]:
    for spec in options.placebos:
        built = build(PairKind.PLACEBO.value, spec)
        rungs = ((None, _base(built, options, options.long_side)),)
        yield Change(PairKind.PLACEBO, spec, built.spec.name, "", None, options.long_side, rungs)


def _base(built: Built[Any], options: BuildOptions, side: int | None) -> Signature:
    return built.spec.signature.with_parts(
        {"seed": options.seed, **dict(film_signature(options, side).parts[1:])}
    )


def film_signature(options: BuildOptions, *sides: int | None) -> Signature:
    """Return the signature of intact videos of these sides, as far as options decide."""
    return Signature.of(
        "intact",
        version=1,
        side=" ".join(map(str, sides)),
        rate=options.rate,
        encoder=options.encoder.signature,
        decoder=decoder_version(),
        names=len(options.rungs) > 1 or None,  # files are named otherwise then
    )


def smaller(*sides: int | None) -> int | None:
    """Return the smallest of some long sides, of which None says nothing.

    >>> smaller(None, 512), smaller(384, 512), smaller(None, None)
    (512, 384, None)
    """
    return min((side for side in sides if side is not None), default=None)


def _backend(models: Models, role: str) -> str:
    """Return the backend of a role by name and options, without loading it."""
    try:
        return str(models.choice(role))
    except NoValue:
        return f"{role}="
