"""Pages for another platform: shown by a server that knows nothing of us, answers brought back."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Browser, expect

from screentest.annotate.answers import Unit
from screentest.annotate.bundle import Key, read_answers, write_bundle
from screentest.annotate.language import read_language
from screentest.annotate.material import read_units
from screentest.annotate.media import prepare_all
from screentest.annotate.records import import_records, read_records
from screentest.core import UserError
from screentest.judges.votes import VoteTask
from tests.annotate.stand import Stand
from tests.annotate.test_browser import PATIENCE


class Platform(SimpleHTTPRequestHandler):
    """Any platform: shows pages, keeps what is posted."""

    taken: list[dict[str, list[str]]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.taken.append(parse_qs(body))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<h1>thanks</h1>")

    def log_message(self, *args: object) -> None: ...


@contextmanager
def platform(folder: Path) -> Iterator[tuple[str, list[dict[str, list[str]]]]]:
    taken: list[dict[str, list[str]]] = []
    handler = type("Here", (Platform,), {"taken": taken})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", taken
        finally:
            server.shutdown()
            thread.join()


def _ends(unit: Unit) -> list[float]:
    return [mark.end for mark in unit.marks] or [0]


def made(testbed: Path, out: Path, task: VoteTask) -> tuple[list[Unit], dict[str, Key]]:
    # The platform cannot seek: whatever is marked is reached by playing all before it.
    units = [min(read_units(testbed, task), key=lambda unit: max(_ends(unit)))]
    ready = prepare_all([video.path for unit in units for video in unit.videos], out)
    return units, write_bundle(units, ready, out / "bundle", read_language("en"))


def test_an_original_has_other_bytes_in_every_item(testbed: Path, tmp_path: Path) -> None:
    units = [unit for unit in read_units(testbed, VoteTask.PAIRS) if unit.source == "birds"]
    ready = prepare_all([video.path for unit in units for video in unit.videos], tmp_path)
    write_bundle(units, ready, tmp_path / "bundle", read_language("en"))
    videos = [path.read_bytes() for path in (tmp_path / "bundle" / "pages").glob("media/*")]
    # Three pairs of one film: the original is there three times.
    assert len(videos) == 6
    for part in (slice(None), slice(4096), slice(-4096, None), slice(4096, 8192)):
        assert len({video[part] for video in videos}) == 6


def test_pages_tell_nothing(testbed: Path, tmp_path: Path) -> None:
    _, keys = made(testbed, tmp_path, VoteTask.PAIRS)
    assert sorted(key.left for key in keys.values()) == [0, 1]
    pages = tmp_path / "bundle" / "pages"
    for page in pages.glob("*.html"):
        text = page.read_text()
        assert not any(word in text for word in ("intact", "birds", "degraded", 'class="part"'))
    sizes = {video.stat().st_size for video in (pages / "media").iterdir()}
    assert len(sizes) == 1


def test_a_check_there_and_back(
    testbed: Path, tmp_path: Path, browser: Browser, stand: Stand
) -> None:
    units, keys = made(testbed, tmp_path, VoteTask.CHECK)
    page_id, key = next(iter(keys.items()))
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    with platform(tmp_path / "bundle" / "pages") as (address, taken):
        page.goto(f"{address}/{page_id}.html?submit={address}/done&assignment=a7")
        page.wait_for_selector("#answer[data-ready]")
        page.keyboard.press("1")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("[data-ready] .part")
        assert page.locator("[name=rating]").first.is_disabled()
        page.select_option("#speed", "2")
        for left in (1, 0):
            page.keyboard.press("n")
            expect(page.locator('.part[data-seen="0"]')).to_have_count(left, timeout=PATIENCE)
        page.check("[name=confirmed]")
        page.keyboard.press("a")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("text=thanks")
    context.close()
    assert troubles == []
    ((sent,), (assignment,)) = (taken[0]["answer"], taken[0]["assignment"])
    assert assignment == "a7"
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"worker": "p-17", "answer": sent}) + "\n")
    records = read_answers(answers, tmp_path / "bundle" / "key.json", units)
    done = import_records(stand.database, records)
    assert (done.added, done.known) == (1, 0)
    with stand.database.read() as connection:
        (row,) = read_records(connection)
    assert (row.worker, row.unit, row.rating) == ("p-17", units[0].key, "A")
    assert row.choice == ("intact" if key.left == 0 else "changed")


def test_answers_that_cannot_be_are_reported(testbed: Path, tmp_path: Path) -> None:
    units, keys = made(testbed, tmp_path, VoteTask.PAIRS)
    key = tmp_path / "bundle" / "key.json"
    good = {
        "page": next(iter(keys)),
        "vote": "v" * 32,
        "steps": {"choice": {"choice": "left"}},
        "seconds": 3,
        "watched": {},
    }
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"worker": "w", "answer": good}))
    assert len(read_answers(path, key, units)) == 1
    for bad in (
        {**good, "page": "none"},
        {**good, "steps": {}},
        {**good, "steps": {"choice": {"choice": "left"}, "check": {}}},
        {**good, "steps": {"choice": {"choice": "up"}}},  # not taken for the right
        {**good, "steps": {"choice": "left"}},
        {**good, "vote": "x"},
        {**good, "seconds": "soon"},
        "{",
        None,
    ):
        path.write_text(json.dumps({"worker": "w", "answer": bad}))
        with pytest.raises(UserError, match="line 1"):
            read_answers(path, key, units)
    with pytest.raises(UserError, match="not the key"):
        read_answers(path, path, units)
