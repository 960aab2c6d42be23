"""The contracts of degradations and placebos, checked on testbeds that are built of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from screentest.api.testbeds import build as build_bed
from screentest.core.item import Item
from screentest.core.outcome import Reason
from screentest.present.results import BuiltTestbed
from screentest.run.engine import InlineEngine
from screentest.testbeds.catalogue import OperatorSet
from screentest.testing.checks import FAULTS, collected, must_name
from screentest.testing.films import captioned_film, pictures_of
from screentest.video.scan import scan


def check_degradation(*specs: str, models: Sequence[str] = (), items: Sequence[Item] = ()) -> None:
    """Check degradations on a small captioned film, at half and at full severity.

    Every changed copy decodes to as many frames as it says, and the frames of clips that were
    not chosen stay as they are. Full severity changes something, and no less than half of it.
    Built twice, once by two workers, it is the same to the byte. Where no clip can be harmed
    there is a typed reason.
    """
    for names in _rounds(specs):
        _check_build("degradation", names, models, items)


def check_placebo(*specs: str, models: Sequence[str] = (), items: Sequence[Item] = ()) -> None:
    """Check placebos: every copy decodes, and building again gives the same bytes."""
    for names in _rounds(specs):
        _check_build("placebo", names, models, items)


def _rounds(specs: Sequence[str]) -> list[list[str]]:
    """Group specs so that a testbed has each name once."""
    must_name(specs)
    rounds: list[dict[str, str]] = []
    for spec in specs:
        name = spec.partition(":")[0]
        free = next((names for names in rounds if name not in names), None)
        if free is None:
            rounds.append(free := {})
        free[name] = spec
    return [list(names.values()) for names in rounds]


def _check_build(
    kind: str, specs: Sequence[str], models: Sequence[str], items: Sequence[Item]
) -> None:
    with collected() as problems, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        films = [captioned_film(folder), *items]

        def made(how: str, **engine: Any) -> BuiltTestbed:
            wanted: dict[str, Any] = {"operators": specs} if kind == "degradation" else {}
            if kind == "placebo":
                wanted = {"operators": ["aesthetics"], "placebos": specs}
            return build_bed(
                films,
                out=folder / how,
                clips=2,
                min_clips=1,
                severities=(0.5, 1.0),
                long_side=None,
                models=models,
                **wanted,
                **engine,
            )

        once, again = made("inline", engine=InlineEngine()), made("workers", workers=2)
        hashes = [
            {(p.source, p.name, p.severity): p.changed.sha256 for p in bed.testbed.pairs}
            for bed in (once, again)
        ]
        if hashes[0] != hashes[1]:
            named = sorted({key[1] for key in hashes[0] if hashes[0][key] != hashes[1].get(key)})
            problems.append(f"{', '.join(named)}: built again, the files differ")
        names = [spec.partition(":")[0] for spec in specs]
        for skip in once.testbed.skips:
            if skip.failure.reason in FAULTS:
                problems.append(f"{skip.name}: {skip.failure}")
            elif (
                skip.operator_set is OperatorSet.PLUGIN and skip.failure.reason is Reason.NO_CHANGE
            ):
                problems.append(f"{skip.name}: full severity changes nothing ({skip.failure})")
            elif skip.failure.reason is Reason.HARMS_LESS:
                problems.append(f"{skip.name}: {skip.failure.detail}")
        handled = {pair.name for pair in once.testbed.pairs}
        handled |= {skip.name for skip in once.testbed.skips}
        for operator in names:
            if operator not in handled:
                problems.append(f"{operator}: there is neither pair nor reason")
            problems += _pair_problems(once, operator)


def _pair_problems(bed: BuiltTestbed, name: str) -> Iterator[str]:
    harms: dict[str, list[tuple[float, float]]] = {}
    for pair in (pair for pair in bed.testbed.pairs if pair.name == name):
        report = scan(bed.folder / pair.changed.path, [])
        if report.decoded != pair.changed.frames or not report.complete:
            yield f"{name}: {report.decoded} frames decode, {pair.changed.frames} are recorded"
            continue
        if pair.severity is None:
            continue
        intact, changed = (
            pictures_of(bed.folder / path) for path in (pair.intact, pair.changed.path)
        )
        again = any(
            clip.degraded and clip.degraded.duration > clip.intact.duration for clip in pair.touched
        )
        if len(intact) < len(changed) and not again:
            yield f"{name}: {len(changed)} frames of {len(intact)}"
        elif len(intact) == len(changed):
            apart = [
                np.abs(before - after)
                for before, after in zip(_floats(intact), _floats(changed), strict=True)
            ]
            harms.setdefault(pair.source, []).append((pair.severity, float(np.mean(apart))))
    for rungs in harms.values():
        listed = [harm for _, harm in sorted(rungs)]
        if listed[-1] == 0:
            yield f"{name}: full severity changes nothing"
        if any(after < 0.95 * before for before, after in pairwise(listed)):
            yield f"{name}: more severity harms less ({', '.join(map('{:.2f}'.format, listed))})"


def _floats(pictures: Sequence[Any]) -> Iterator[Any]:
    return (picture.astype(np.float32) for picture in pictures)
