"""What a build will do to every source: operators, their rungs, and what their results rest on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from screentest.core import Built, NoValue, Signature, build
from screentest.degrade.contract import Degradation
from screentest.degrade.options import BuildOptions, Rung
from screentest.degrade.testbed import Kind
from screentest.models import Models, Role
from screentest.models.choice import BUILTIN, best_builtin
from screentest.video import decoder_version


@dataclass(frozen=True, slots=True)
class Change:
    """One operator and the rungs it is wanted at."""

    kind: Kind
    spec: str
    name: str
    aspect: str
    side: int | None
    """The long side at which both videos of its pairs are."""
    rungs: tuple[tuple[Rung | None, Signature], ...]
    """Each with everything that decides its result, the source apart. A placebo has none."""
    inputs: str = ""
    """A hash of the files it draws on besides the film."""
    remarks: tuple[str, ...] = ()
    """What the user should know of those files."""


def changes(options: BuildOptions, extractor: str) -> list[Change]:
    """All operators of a build, in the order asked for."""
    models = Models(options.models, device=options.device)
    return [*_degradations(options, models, extractor), *_placebos(options)]


def _degradations(options: BuildOptions, models: Models, extractor: str) -> Iterator[Change]:
    for spec in options.degradations:
        built: Built[Degradation] = build(Kind.DEGRADATION.value, spec)
        info = built.thing.info
        side = smaller(options.long_side, info.long_side)
        base = _base(built, options, side).with_parts(
            {"captions": extractor, **{role: _backend(models, role) for role in info.roles}}
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
            Kind.DEGRADATION,
            spec,
            built.spec.name,
            info.aspect.value,
            side,
            rungs,
            info.inputs,
            info.remarks,
        )


def _placebos(options: BuildOptions) -> Iterator[Change]:
    for spec in options.placebos:
        built = build(Kind.PLACEBO.value, spec)
        rungs = ((None, _base(built, options, options.long_side)),)
        yield Change(Kind.PLACEBO, spec, built.spec.name, "", options.long_side, rungs)


def _base(built: Built[Any], options: BuildOptions, side: int | None) -> Signature:
    return built.spec.signature.with_parts(
        {"seed": options.seed, **dict(film_signature(options, side).parts[1:])}
    )


def film_signature(options: BuildOptions, *sides: int | None) -> Signature:
    """What of intact videos of these sides the options decide."""
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
    """The smallest of some long sides, of which None says nothing.

    >>> smaller(None, 512), smaller(384, 512), smaller(None, None)
    (512, 384, None)
    """
    return min((side for side in sides if side is not None), default=None)


def _backend(models: Models, role: str) -> str:
    """The backend of a role by name and options, without loading it."""
    choice = models.choice(Role(role))
    if choice.backend != BUILTIN:
        return str(choice)
    try:
        return f"{role}={best_builtin(Role(role))}"
    except NoValue:
        return f"{role}={BUILTIN}"
