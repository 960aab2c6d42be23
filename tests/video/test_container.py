"""What is let in, what is kept out, and that nothing but the file itself is opened."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import av
import pytest

from screentest.core import Reason, VideoError
from screentest.video.container import open_container, video_stream
from screentest.video.limits import DEFAULT_LIMITS, Limits
from tests.video import hostile, references
from tests.video.witnesses import FileWatch, PortWatch

Maker = Callable[[Path], Path]
HUGE: tuple[Maker, ...] = (
    hostile.huge_gif,
    hostile.huge_y4m,
    hostile.huge_avi,
    hostile.huge_png_mov,
    hostile.huge_h264,
)


def refused(path: Path, limits: Limits = DEFAULT_LIMITS) -> VideoError:
    with pytest.raises(VideoError) as caught:
        open_container(path, limits)
    assert caught.value.advice
    return caught.value


def decoded(path: Path) -> int:
    with open_container(path) as container:
        stream = video_stream(container)
        assert stream is not None
        return sum(1 for _ in container.decode(stream))


@pytest.mark.parametrize("kind", list(hostile.CODECS))
def test_ordinary_containers_come_in(kind: str, tmp_path: Path) -> None:
    assert decoded(hostile.film(tmp_path / "no_suffix_needed", kind)) == hostile.FRAMES


@pytest.mark.parametrize("name", ["bbb_first30s_640x360.mp4", "frenchgp_1906_214x160.mp4"])
def test_frames_are_those_of_a_plain_open(name: str, sample: Path) -> None:
    with av.open(str(sample / name)) as plain, open_container(sample / name) as gated:
        here, there = ([(p.pts, p.size) for p in one.demux(video=0)] for one in (plain, gated))
    assert here == there


# --- names ---

NAMES = (
    *("it's.mp4", 'quo"te.mp4', "new\nline.mp4", "$(touch x).mp4", "`touch x`.mp4", "a;b.mp4"),
    *("-i.mp4", "--help", "%d.mp4", "%03d.png", "frame*.jpg", "[a-z].mp4", "a|b&c>d.mp4"),
    *("http:", "http:127.0.0.1", "concat:a|b", "pipe:", "pipe:0", "file:", "fd:", "data:,x"),
    *("subfile,,start,0,end,9,,:x", "crypto:x", "async:x", "cache:x", "tcp:127.0.0.1:1"),
    *("lavfi", "movie=x.mp4", "film 🎬.mp4", "\u202e4pm.mlif", "C:film.mp4", "x" * 251 + ".mp4"),
    *(os.fsdecode(b"\xff\xfe not utf-8.mp4"), " ", "~", "trailing.", "playlist.m3u8", "x.ffconcat"),
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", ["absolute", "relative"])
def test_a_name_is_only_a_name(
    name: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile.film(tmp_path / "film", frames=5)
    (tmp_path / "film").rename(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    assert decoded(tmp_path / name if how == "absolute" else Path(name)) == 5
    assert os.listdir(tmp_path) == [name]  # noqa: PTH208 - names as the system has them


def test_twins_that_look_the_same_are_two_files(tmp_path: Path) -> None:
    composed, decomposed = tmp_path / "caf\u00e9.mp4", tmp_path / "cafe\u0301.mp4"
    hostile.film(composed, frames=3)
    hostile.film(decomposed, frames=4)
    if len(list(tmp_path.iterdir())) == 1:
        pytest.skip("this file system takes them for one")
    assert (decoded(composed), decoded(decomposed)) == (3, 4)


# --- references to elsewhere ---


@pytest.mark.parametrize("maker", references.ALL)
def test_no_reference_is_followed(maker: Callable[[Path, str], Path], tmp_path: Path) -> None:
    secret = hostile.film(tmp_path / "secret.mp4")
    with FileWatch(secret) as file, PortWatch() as port:
        for number, target in enumerate(
            (f"file://{secret}", str(secret), f"http://127.0.0.1:{port.port}/secret.mp4")
        ):
            path = maker(tmp_path / f"{number}.mp4", target)
            file.opened()  # makers may look
            try:
                frames = decoded(path)
            except (VideoError, av.FFmpegError):
                frames = 0
            assert frames < hostile.FRAMES, "the secret's frames were shown"
            assert not file.opened()
            assert not port.called()


@pytest.mark.parametrize(
    "maker",
    [
        references.hls,
        references.concat_list,
        references.dash,
        references.session_description,
    ],
)
def test_a_playlist_is_told_to_be_one(maker: Callable[[Path, str], Path], tmp_path: Path) -> None:
    error = refused(maker(tmp_path / "film.avi", "file:///etc/hostname"))
    assert error.reason is Reason.UNSAFE


def test_the_witness_can_see(tmp_path: Path) -> None:
    """A trusting demuxer does open the secret: the check above can fail."""
    secret = hostile.film(tmp_path / "secret.mp4")
    path = references.concat_list(tmp_path / "list.mp4", str(secret))
    with FileWatch(secret) as watch, av.open(str(path), options={"safe": "0"}) as container:
        assert sum(1 for _ in container.decode(video=0)) == hostile.FRAMES
        assert watch.opened()


def test_nothing_else_is_opened_in_the_eyes_of_the_kernel(tmp_path: Path) -> None:
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    secret = hostile.film(tmp_path / "secret.mp4")
    given = [maker(tmp_path / f"{maker.__name__}.mp4", str(secret)) for maker in references.ALL]
    given += [maker(tmp_path / f"{maker.__name__}.mp4") for maker in HUGE]
    given += [hostile.film(tmp_path / f"{kind}.mp4", kind) for kind in hostile.CODECS]
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from screentest.video.source import VideoSource\n"
        "from screentest.core import VideoError\n"
        "def read(path):\n"
        "    try:\n"
        "        with VideoSource(path) as source:\n"
        "            for _ in source.frames(): pass\n"
        "    except VideoError: pass\n"
        # Once unwatched: whatever Python loads late is loaded then.
        "for path in sys.argv[1:]: read(Path(path))\n"
        "os.access('/from-' + 'here-on', os.R_OK)\n"
        "for path in sys.argv[1:]: read(Path(path))\n"
    )
    log = tmp_path / "strace.log"
    calls = "trace=open,openat,openat2,access,faccessat,faccessat2,connect,sendto,execve,creat"
    command = [strace, "-f", "-qq", "-s", "4096", "-e", calls, "-o", str(log)]
    done = subprocess.run(
        [*command, sys.executable, "-c", script, *map(str, given)], capture_output=True, text=True
    )
    if "ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    lines = log.read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if "/from-here-on" in line)
    touched = {name for line in lines[start + 1 :] for name in re.findall(r'"([^"]+)"', line)}
    system = {name for name in touched if name.startswith(("/sys/", "/proc/"))}
    assert touched - system == {str(path) for path in given}
    assert not any("connect(" in line or "execve(" in line for line in lines[start + 1 :])


# --- too much ---


@pytest.mark.parametrize("maker", HUGE)
def test_a_picture_too_large_is_refused_by_its_header(maker: Maker, tmp_path: Path) -> None:
    path = maker(tmp_path / "film.mp4")
    for _ in range(2):  # FFmpeg tells repeated things only once
        error = refused(path)
        assert error.reason is Reason.TOO_LARGE
        assert re.search("30000×30000|16000×16000", error.message)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the memory from /proc")
@pytest.mark.parametrize("maker", HUGE)
def test_no_picture_is_allocated_to_find_that_out(maker: Maker, tmp_path: Path) -> None:
    """In a fresh process: the peak of its memory grows by less than one such picture.

    30000×30000 needs 900 MB for its luma alone, 16000×16000 needs 256 MB.
    """
    path = maker(tmp_path / "film.mp4")
    script = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from screentest.core import VideoError\n"
        "from screentest.video.container import open_container\n"
        "def peak():\n"
        "    status = Path('/proc/self/status').read_text()\n"
        "    return int(re.search(r'VmHWM:\\s+(\\d+)', status)[1])\n"
        "before = peak()\n"
        "try: open_container(Path(sys.argv[1]))\n"
        "except VideoError: print(peak() - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 150_000  # kilobytes


def test_pictures_count_and_not_the_claim(tmp_path: Path) -> None:
    path = hostile.lying_about_size(tmp_path / "film.mp4")
    with open_container(path) as container:
        stream = video_stream(container)
        assert stream is not None
        assert (stream.codec_context.width, stream.codec_context.height) == (64, 64)


def test_a_size_within_a_raised_limit(tmp_path: Path) -> None:
    path = hostile.film(tmp_path / "film.mp4")
    assert refused(path, Limits(pixels=64 * 64 - 1)).reason is Reason.TOO_LARGE
    open_container(path, Limits(pixels=64 * 64)).close()


def test_too_long_by_its_header(tmp_path: Path) -> None:
    error = refused(hostile.endless(tmp_path / "film.mkv"))
    assert error.reason is Reason.TOO_LARGE
    assert "lasts" in error.message


@pytest.mark.parametrize("kind", ["matroska", "mp4", "nut", "avi"])
def test_too_many_tracks(kind: str, tmp_path: Path) -> None:
    path = hostile.many_tracks(tmp_path / "film", kind, 6)
    open_container(path, Limits(streams=6)).close()
    error = refused(path, Limits(streams=5))
    assert error.reason is Reason.TOO_LARGE
    assert error.message == "more than 5 tracks"


# --- no video ---


def test_bytes_that_are_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.mp4").write_bytes(Random(1).randbytes(5000))
    assert refused(tmp_path / "x.mp4").reason is Reason.UNDECODABLE


@pytest.mark.parametrize("maker", [hostile.sound_only, hostile.subtitles_only])
def test_without_a_video_track(maker: Maker, tmp_path: Path) -> None:
    error = refused(maker(tmp_path / "film.mp4"))
    assert error.reason is Reason.UNDECODABLE
    assert "video track" in error.message


def test_a_still_picture_is_no_video(sample: Path) -> None:
    picture = next((sample / "backgrounds").glob("*.jpg"))
    error = refused(picture)
    assert error.reason is Reason.UNDECODABLE
    assert "jpeg" in error.message  # it says what was found


def test_a_cover_is_not_the_video(tmp_path: Path) -> None:
    with open_container(hostile.cover_first(tmp_path / "film.mp4")) as container:
        assert container.streams.video[0].codec_context.name == "mjpeg"
        stream = video_stream(container)
        assert stream is not None
        assert stream.codec_context.name == "h264"


def test_of_two_tracks_the_first(tmp_path: Path) -> None:
    with open_container(hostile.two_videos(tmp_path / "film.mkv")) as container:
        stream = video_stream(container)
        assert stream is not None
        assert stream.codec_context.width == hostile.SIDE


# --- leaves nothing behind ---


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts descriptors in /proc")
def test_descriptors_come_back(tmp_path: Path) -> None:
    good = hostile.film(tmp_path / "good.mp4")
    bad = hostile.huge_gif(tmp_path / "bad.gif")
    list_ = references.concat_list(tmp_path / "list.mp4", str(good))
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        open_container(good).close()
        refused(bad)
        refused(list_)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_the_users_log_settings_stay(tmp_path: Path) -> None:
    refused(hostile.huge_gif(tmp_path / "bad.gif"))
    assert av.logging.get_level() is None
    assert av.logging.get_skip_repeated() is True


def test_a_file_that_vanishes_is_read_to_its_end(tmp_path: Path) -> None:
    path = hostile.film(tmp_path / "film.mp4")
    with open_container(path) as container:
        path.unlink()
        assert sum(1 for _ in container.decode(video=0)) == hostile.FRAMES
