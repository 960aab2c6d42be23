from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from screentest.core import Size
from screentest.sample import sample_videos
from screentest.testbeds.contract import Film, boundaries, film_of
from screentest.video.edit.normalize import normalize
from tests.testbeds import disc
from tests.testbeds.stage import ALL, QUICK, Stage
from tests.video.outside import Outside


@pytest.fixture(scope="session")
def outside(ffmpeg: str, ffprobe: str) -> Outside:
    """Debian's ffmpeg, which had no part in making the files."""
    return Outside(ffmpeg, ffprobe)


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """The five live-action shots at 256 × 144 and 8 frames a second; captions allow everything."""
    folder = tmp_path_factory.mktemp("stage")
    item = sample_videos()[2].item
    assert item.script is not None
    video = normalize(
        item.video,
        folder / "intact.mp4",
        keyframes_at=boundaries(item.script),
        size=Size(long_side=256),
        rate=Fraction(8),
        settings=QUICK,
    )
    film = film_of(video, item.script, [ALL] * len(item.script.clips))
    return Stage(film, folder)


@pytest.fixture(scope="session")
def film(tmp_path_factory: pytest.TempPathFactory) -> Film:
    """The drifting disc."""
    return disc.written(tmp_path_factory.mktemp("disc"), [disc.picture(n) for n in range(16)])


@pytest.fixture(scope="module")
def stand_ins() -> Iterator[None]:
    """Models that know the disc, registered as those of a plugin would be."""
    with disc.stand_ins():
        yield


@pytest.fixture
def testbed_folder(tmp_path: Path) -> Path:
    return tmp_path / "testbed"


@pytest.fixture(scope="session")
def saved_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tiny random weights of the classes that the paper's models are of."""
    pytest.importorskip("diffusers")
    from tests.models import tiny
    from tests.models.torchvision_here import make_importable

    make_importable()
    folder = tmp_path_factory.mktemp("models")
    tiny.grounding_dino(folder / "grounding_dino")
    tiny.stable_diffusion_inpainting(folder / "inpainting")
    tiny.qwen_image_edit(folder / "edit")
    return folder
