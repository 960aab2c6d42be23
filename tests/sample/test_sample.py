"""The packaged sample is what it says it is."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from screentest.sample import SampleVideo, backgrounds, sample_folder, sample_videos
from screentest.video.probe import probe


def test_it_is_small_enough_to_travel_and_names_its_authors() -> None:
    files = [path for path in sample_folder().rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 6_000_000

    credits = (sample_folder() / "ATTRIBUTION.md").read_text()
    media = [path.name for path in files if path.suffix in {".mp4", ".jpg"}]
    assert len(media) == 8
    for name in media:
        assert name in credits
    assert len(backgrounds()) == 4


@pytest.mark.parametrize("video", sample_videos(), ids=lambda video: video.item.id)
def test_captions_count_frames_of_a_constant_rate_from_zero(video: SampleVideo) -> None:
    info = probe(video.item.video)
    script = video.item.script
    assert script is not None
    spans = [clip.span for clip in script.clips if clip.span is not None]

    assert info.constant_rate
    assert info.start == 0
    assert spans[0].start == 0
    assert spans[-1].end == info.duration
    assert all(one.end == two.start for one, two in pairwise(spans))


def test_the_fixture_of_all_tests_leads_to_the_same_folder(sample: Path) -> None:
    assert sample == sample_folder()
