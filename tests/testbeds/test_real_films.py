"""All ten aspects on real films, their captions read by the rules: ``make testbed``, reduced."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import av
import pytest

from screentest.core import BUILTIN_ASPECTS, Aspect, Reason
from screentest.core.registry import registry
from screentest.models import ModelChoice
from screentest.run.engine import LocalEngine
from screentest.testbeds.builder import BuildResult, build_testbed
from screentest.testbeds.options import BuildOptions
from tests.testbeds.real_films import real_films
from tests.testbeds.stage import QUICK, packets_of

FILMS = ("bbb_047-161s_640x360", "tiny_real_5shots_640x360", "vgot_showcase_Garden_Seasons")
BACKENDS = ("matting=grabcut", "detection=saliency", "segmentation=grabcut", "inpainting=telea")
"""Such as need no weights: the same everywhere."""


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BuildResult]:
    folder = tmp_path_factory.mktemp("reduced")
    films = [film for film in real_films(shared_data) if film.id in FILMS]
    assert len(films) == len(FILMS)
    options = BuildOptions(
        placebos=tuple(registry.names("placebo")),
        clips=(2,),
        least_clips=1,
        long_side=96,
        rate=Fraction(2),
        encoder=QUICK,
        models=tuple(map(ModelChoice.parse, BACKENDS)),
    )
    return folder, build_testbed(films, folder, options, engine=LocalEngine(workers=2))


def test_every_aspect_has_a_pair(built: tuple[Path, BuildResult]) -> None:
    _, done = built
    pairs = Counter(pair.aspect for pair in done.testbed.pairs if pair.aspect)
    assert set(pairs) == set(BUILTIN_ASPECTS)
    assert len(done.testbed.sources) == len(FILMS)
    placebos = Counter(pair.name for pair in done.testbed.pairs if pair.aspect is None)
    assert placebos == dict.fromkeys(registry.names("placebo"), len(FILMS))


def test_what_was_skipped_is_reported(built: tuple[Path, BuildResult]) -> None:
    """Counted by hand in the captions: only the rabbit's film says left or right."""
    _, done = built
    assert {skip.failure.reason for skip in done.testbed.skips} == {Reason.NOT_APPLICABLE}
    words = "1 clip is needed; 0 of {} captions mention something at the left or right"
    told = {
        skip.source: skip.failure.detail
        for skip in done.testbed.skips
        if skip.name == "spatial_relationship"
    }
    assert told == {
        "tiny_real_5shots_640x360": words.format(5),
        "vgot_showcase_Garden_Seasons": words.format(16),
    }


def test_only_the_touched_clips_differ(built: tuple[Path, BuildResult]) -> None:
    """Packets outside the touched clips are those of the intact video."""
    folder, done = built
    moved = (None, Aspect.COMPREHENSIVENESS, Aspect.TEMPORAL_FLOW)
    for pair in (pair for pair in done.testbed.pairs if pair.aspect not in moved):
        with av.open(str(folder / pair.intact)) as container:
            tick = container.streams.video[0].time_base
        before, after = packets_of(folder / pair.intact), packets_of(folder / pair.changed.path)
        assert len(before) == len(after)
        for one, two in zip(before, after, strict=True):
            inside = any(one[0] * tick in touched.intact for touched in pair.touched)
            assert inside or one == two, pair.name
        assert before != after, pair.name
