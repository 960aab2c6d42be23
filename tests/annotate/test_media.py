"""Videos: ranges, lengths that tell nothing, tags that are gone, and nothing but them."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import av
import httpx2
import pytest
from sqlalchemy import select, update

from screentest.annotate.media import (
    Layout,
    NoLayout,
    Unsatisfiable,
    asked_range,
    prepare,
    served_length,
)
from screentest.annotate.schema import files, media, sittings
from screentest.annotate.server import create_app
from screentest.annotate.web import pages
from tests.annotate.stand import Page, Person, Stand, served


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("bytes=0-", (0, 99)),
        ("bytes=0-0", (0, 0)),
        ("bytes=99-", (99, 99)),
        ("bytes=10-1000", (10, 99)),
        ("bytes=-1", (99, 99)),
        ("bytes=-1000", (0, 99)),
        ("bytes=5-4", None),  # not a range at all, RFC 9110 14.1.1
        ("bytes=-", None),
        ("bytes=a-b", None),
        ("items=0-1", None),
        ("bytes=0-1,2-3", None),
        ("bytes=" + ",".join(["0-9"] * 1000), None),
        ("bytes=٠-٩", None),
    ],
)
def test_ranges(header: str | None, expected: tuple[int, int] | None) -> None:
    assert asked_range(header, 100) == expected


@pytest.mark.parametrize(
    "header", ["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=" + "9" * 19 + "-"]
)
def test_ranges_beyond_the_end(header: str) -> None:
    with pytest.raises(Unsatisfiable):
        asked_range(header, 100)


def at_work(stand: Stand) -> tuple[Person, Page]:
    person = stand.worker()
    return person, person.begin()


def test_a_video_and_its_parts(stand: Stand) -> None:
    person, page = at_work(stand)
    for address in page.videos:
        whole = person.client.get(address)
        assert (whole.status_code, whole.headers["content-type"]) == (200, "video/mp4")
        assert whole.headers["accept-ranges"] == "bytes"
        length = len(whole.content)
        assert person.client.get(address).content == whole.content
        for asked, (begin, end) in {
            "bytes=0-": (0, length - 1),
            "bytes=100-199": (100, 199),
            f"bytes={length // 3}-{length // 2}": (length // 3, length // 2),
            "bytes=-7": (length - 7, length - 1),
        }.items():
            part = person.client.get(address, headers={"Range": asked})
            assert part.status_code == 206
            assert part.headers["content-range"] == f"bytes {begin}-{end}/{length}"
            assert part.content == whole.content[begin : end + 1]
        beyond = person.client.get(address, headers={"Range": f"bytes={length}-"})
        assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{length}")
        head = person.client.head(address)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == str(length)
        since = person.client.get(address, headers={"Range": "bytes=0-1", "If-Range": '"x"'})
        assert since.status_code == 200


def frames(ffmpeg: str, path: Path) -> str:
    """Times and hashes of all decoded pictures and sounds; fails where a decoder complains."""
    done = subprocess.run(
        [ffmpeg, "-v", "error", "-i", path, "-map", "0", "-f", "framemd5", "-"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    return "".join(line for line in done.stdout.splitlines(True) if line[0] != "#")


def pictures(path: Path) -> list[tuple[int | None, bytes]]:
    with av.open(path) as container:
        return [(one.pts, one.to_ndarray().tobytes()) for one in container.decode(video=0)]


FILMS = {
    "h264": ["-c:v", "libx264", "-bf", "3", "-g", "20"],
    "h264 of several slices and delimiters": ["-c:v", "libx264", "-x264-params", "slices=4:aud=1"],
    "h264 with sound": ["-c:v", "libx264", "-c:a", "aac", "-map", "1"],
    "h264 with its index in front": ["-c:v", "libx264", "-movflags", "faststart"],
    "h264 in fragments": ["-c:v", "libx264", "-movflags", "frag_keyframe+empty_moov"],
    "vp9": ["-c:v", "libvpx-vp9", "-cpu-used", "8"],
}


@pytest.mark.parametrize("options", FILMS.values(), ids=FILMS)
def test_a_layout_has_the_same_pictures(tmp_path: Path, ffmpeg: str, options: list[str]) -> None:
    film = tmp_path / "film.mp4"
    subprocess.run(
        [ffmpeg, "-v", "error", "-f", "lavfi", "-i", "testsrc=s=96x64:r=10:d=5",
         "-f", "lavfi", "-i", "sine=d=5", "-map", "0", "-pix_fmt", "yuv420p", *options, film],
        check=True,
    )  # fmt: skip
    ready = prepare(film, tmp_path / "ready")
    assert [content for _, content in pictures(ready)] == [content for _, content in pictures(film)]
    size = ready.stat().st_size
    # Alone, and beside a video ten times as long: then nearly all of it is filled up.
    for length in (served_length([size]), served_length([size * 10])):
        for seed in ("one", "two", "three"):
            layout = Layout(ready, length, seed)
            served = tmp_path / f"{seed}.mp4"
            served.write_bytes(layout.read(0, length))
            assert served.stat().st_size == length
            assert pictures(served) == pictures(ready)
            assert frames(ffmpeg, served) == frames(ffmpeg, ready)


def test_any_part_of_a_layout_is_that_part(sample: Path) -> None:
    path = sample / "frenchgp_1906_214x160.mp4"
    length = served_length([path.stat().st_size])
    layout, again = (Layout(path, length, "seed") for _ in range(2))
    whole = layout.read(0, length)
    assert len(whole) == length
    for begin in range(0, length, 9973):
        for count in (1, 17, 4096, 100_000):
            assert again.read(begin, count) == whole[begin : begin + count]


def test_a_broken_index_is_refused_or_laid_out(sample: Path, tmp_path: Path) -> None:
    """Cut or overwritten at every seventh place: nothing but NoLayout, and nothing is read."""
    good = (sample / "frenchgp_1906_214x160.mp4").read_bytes()
    moov = good.index(b"moov")
    broken = tmp_path / "broken.mp4"
    for place in range(moov - 4, min(len(good), moov + 3000), 7):
        for content in (good[:place], good[:place] + b"\xff" * 4 + good[place + 4 :]):
            broken.write_bytes(content)
            length = served_length([len(content)])
            try:
                assert len(Layout(broken, length, "").read(0, length)) == length
            except NoLayout:
                continue


def test_nothing_tells_which_is_which(stand: Stand) -> None:
    """No name, no model, no order: in pages, addresses, headers, lengths and tags."""
    seen = set()
    for _ in range(4):
        person = stand.worker()
        page = person.begin()
        answers = [person.client.head(address) for address in page.videos]
        first, second = (dict(answer.headers) for answer in answers)
        assert first == second
        assert "etag" not in first
        assert "last-modified" not in first
        for word in ("intact", "birds", "degraded", ".mp4", "damaged", "severity"):
            assert word not in page.html
            assert word not in json.dumps(first)
        seen.update(page.videos)
    # Fresh addresses for everybody, though films repeat.
    assert len(seen) == 8


def test_tags_are_taken_off(tmp_path: Path, sample: Path, ffmpeg: str, ffprobe: str) -> None:
    tagged = tmp_path / "named_after_a_model.mp4"
    subprocess.run(
        [ffmpeg, "-v", "error", "-i", sample / "frenchgp_1906_214x160.mp4", "-t", "2", "-c", "copy",
         "-metadata", "title=SuperModel-9", "-metadata", "comment=made by SuperModel",
         "-metadata:s:v", "handler_name=SuperModel", tagged],
        check=True,
    )  # fmt: skip
    ready = prepare(tagged, tmp_path / "clean")
    assert ready.parent == tmp_path / "clean"
    assert b"SuperModel" in tagged.read_bytes()
    assert b"SuperModel" not in ready.read_bytes()
    assert packets(ffprobe, ready) == packets(ffprobe, tagged)
    assert prepare(tagged, tmp_path / "clean") == ready


def test_what_no_browser_plays_is_made_playable(
    tmp_path: Path, sample: Path, ffmpeg: str, ffprobe: str
) -> None:
    old = tmp_path / "old.avi"
    subprocess.run(
        [ffmpeg, "-v", "error", "-i", sample / "frenchgp_1906_214x160.mp4", "-t", "1",
         "-c:v", "mpeg4", old],
        check=True,
    )  # fmt: skip
    ready = prepare(old, tmp_path / "clean")
    told = subprocess.run(
        [
            ffprobe,
            "-v",
            "error",
            "-show_entries",
            "stream=codec_name",
            "-of",
            "csv=p=0",
            ready,
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == ["h264"]


def packets(ffprobe: str, path: Path) -> str:
    done = subprocess.run(
        [ffprobe, "-v", "error", "-show_data_hash", "md5", "-show_entries",
         "packet=pts_time,data_hash", "-of", "csv=p=0", path],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


TRAVERSALS = [
    "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "..%252f..%252fetc%252fpasswd", "%2e%2e/%2e%2e/x",
    "/etc/passwd", "%2fetc%2fpasswd", "..\\..\\x", "..%5c..%5cx", "C:%5cx", "x%00.mp4", "....//x",
    "%c0%ae%c0%ae/x", "intact.mp4", "votes.sqlite", "", ".", "%2e", "a" * 22, "A" * 5000,
]  # fmt: skip


def test_traversal_in_all_spellings_is_404(stand: Stand) -> None:
    _, page = at_work(stand)
    with served(stand) as address, httpx2.Client(base_url=address) as client:
        for base in ("/media/", "/static/"):
            for spelling in TRAVERSALS:
                assert client.get(base + spelling).status_code == 404, spelling
    person = page.person
    for spelling in TRAVERSALS:
        answer = person.client.get("/media/" + spelling)
        assert answer.status_code in (303, 404), spelling
        assert b"root:" not in answer.content


def test_a_link_put_in_the_files_place_is_not_followed(stand: Stand, tmp_path: Path) -> None:
    person, page = at_work(stand)
    secret = tmp_path / "secret.txt"
    secret.write_text("x" * 1000)
    link = tmp_path / "link.mp4"
    link.symlink_to(secret)
    with stand.database.write() as connection:
        connection.execute(update(files).values(served=str(link), bytes=1000))
    assert person.client.get(page.videos[0]).status_code == 404


def test_a_file_that_changed_is_not_served(stand: Stand) -> None:
    person, page = at_work(stand)
    with stand.database.write() as connection:
        connection.execute(update(files).values(bytes=files.c.bytes + 1))
    assert person.client.get(page.videos[0]).status_code == 404


def test_videos_of_others_are_not_there(stand: Stand) -> None:
    _, page = at_work(stand)
    other, _ = at_work(stand)
    assert other.client.get(page.videos[0]).status_code == 404
    assert stand.client().get(page.videos[0]).status_code == 404


def test_readers_that_never_read_are_few(stand: Stand) -> None:
    """One worker cannot take all connections of the app; when they are gone, videos come again."""
    person, page = at_work(stand)
    ((name, session),) = person.client.cookies.items()
    host = stand.origin.removeprefix("http://")
    heads = {"host": host, "cookie": f"{name}={session}"}
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": page.videos[0],
        "query_string": b"",
        "headers": [(key.encode(), value.encode()) for key, value in heads.items()],
        "client": ("127.0.0.1", 1),
    }

    async def ask() -> list[int]:
        app, reads, codes = create_app(stand.site), asyncio.Event(), []

        async def send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                codes.append(message["status"])
            elif message.get("body"):
                await reads.wait()

        def start() -> asyncio.Task[None]:
            return asyncio.create_task(app(dict(scope), asyncio.Event().wait, send))

        begun = []
        for number in range(pages.MOST_VIDEOS + 1):
            begun.append(start())
            while len(codes) == number:
                await asyncio.sleep(0.001)
        reads.set()
        await asyncio.gather(*begun)
        await start()
        return codes

    assert asyncio.run(ask()) == [*[200] * pages.MOST_VIDEOS, 429, 200]


def test_half_a_gigabyte_with_flat_memory(stand: Stand, tmp_path: Path) -> None:
    import psutil

    person, page = at_work(stand)
    large = tmp_path / "large.mp4"
    wanted = 500 * 1024 * 1024
    served_now = person.client.get(page.videos[0]).content
    free = served_now.index(b"free") - 4
    video = bytearray(served_now[:24] + (free - 24).to_bytes(4) + served_now[28:free])
    # The same index, with one size for all samples, in one chunk that lies behind it.
    sizes, chunks = video.index(b"stsz"), video.index(b"co64")
    number = int.from_bytes(video[sizes + 12 : sizes + 16])
    video[sizes + 8 : sizes + 12] = (wanted // number).to_bytes(4)
    assert int.from_bytes(video[chunks + 8 : chunks + 12]) == 1
    video[chunks + 12 : chunks + 20] = len(video).to_bytes(8)
    size = len(video) + wanted // number * number
    with large.open("wb") as file:
        file.write(video)
        file.truncate(size)
        file.seek(size - 3)
        file.write(b"end")
    with stand.database.write() as connection:
        connection.execute(update(files).values(served=str(large), bytes=size))
        connection.execute(update(media).values(length=served_length([size])))
        assert connection.execute(select(sittings)).first()
    with served(stand) as address:
        port = address.rpartition(":")[2]
        (session,) = person.client.cookies.values()
        with httpx2.Client(
            base_url=address, headers={"Cookie": f"screentest-{port}={session}"}
        ) as client:
            length = served_length([size])
            for begin in (length - 3, length // 2, 0):
                part = client.get(page.videos[0], headers={"Range": f"bytes={begin}-{begin + 2}"})
                assert (part.status_code, len(part.content)) == (206, 3)
            # The last sample ends with it, and a hundredth of the file or less comes behind.
            last = client.get(page.videos[0], headers={"Range": f"bytes=-{size // 64}"}).content
            assert b"\0\0end" in last
            before = psutil.Process().memory_info().rss
            taken = 0
            highest = 0
            with client.stream("GET", page.videos[0]) as answer:
                for chunk in answer.iter_raw():
                    taken += len(chunk)
                    highest = (
                        max(highest, psutil.Process().memory_info().rss)
                        if taken % 7 == 0
                        else highest
                    )
                    if taken > 200 * 1024 * 1024:
                        break
            highest = max(highest, psutil.Process().memory_info().rss)
            # Client and server live in this process: 200 MB went through both.
            assert highest - before < 40 * 1024 * 1024
