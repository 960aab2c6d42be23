"""testbed.html in a real browser, opened from the disk as a user opens it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from screentest.testbeds.page import data_of, page_of, write_page
from screentest.testbeds.testbed import read_testbed
from tests.testbeds.test_statistics import film, pair
from tests.testbeds.testbeds import built_in, copy_of, rewrite

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LONG_WAIT = 60_000
"""Milliseconds: a machine may be busy. Everything is waited for by what happens."""
HOSTILE = (
    "</script><script>window.hacked = 1</script>"
    "<img src=x onerror='window.hacked = 2'><!-- {{ 7 * 7 }} \u2028 & &lt; \"'"
    " \u202egnp.4pm\u2066 \u2029 \x1b[31m ' onmouseover='window.hacked = 5'"
    f" {'漢' * 30_000}"
)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_in(tmp_path_factory.getbasetemp())


class Visit:
    """A page with everything that the browser had to say about it."""

    def __init__(self, browser: Browser) -> None:
        self.page: Page = browser.new_page(viewport={"width": 1200, "height": 800})
        self.page.set_default_timeout(LONG_WAIT)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.failed: list[str | None] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("requestfailed", lambda request: self.failed.append(request.failure))

    def open(self, bed: Path, anchor: str = "") -> Page:
        self.page.goto(f"{(bed / 'testbed.html').as_uri()}{anchor}")
        return self.page

    def until(self, condition: str) -> None:
        """Wait for it. (The policy of the page forbids playwright's own way, by eval.)"""
        self.page.evaluate(
            "new Promise((done, fail) => {"
            f" setTimeout(() => fail(new Error('in vain')), {LONG_WAIT});"
            f" const look = () => ({condition}) ? done() : setTimeout(look, 20);"
            " look(); })"
        )

    def times(self) -> tuple[float, float]:
        """What both players show, once they show it."""
        self.until("[intact, changed].every((one) => one.readyState >= 2 && !one.seeking)")
        found: list[float] = self.page.evaluate("[intact.currentTime, changed.currentTime]")
        return found[0], found[1]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    made = Visit(browser)
    yield made
    made.page.close()


def spans(bed: Path, name: str) -> list[tuple[float, float, float | None]]:
    """Begin and end of the touched clips of a pair, and where they begin in the other video."""
    found = next(pair for pair in read_testbed(bed).pairs if pair.name == name)
    return [
        (
            float(one.intact.start),
            float(one.intact.end),
            None if one.degraded is None else float(one.degraded.start),
        )
        for one in found.touched
    ]


def test_both_players_are_at_the_touched_moment(built: Path, visit: Visit) -> None:
    page = visit.open(built, "#real_5shots%2Faesthetics")
    (start, end, _), (later, until, _) = spans(built, "aesthetics")
    ours, theirs = visit.times()
    assert start <= ours < end
    assert theirs == pytest.approx(ours, abs=0.01)
    page.click("#moments li:nth-child(2) button")
    visit.until(f"intact.currentTime >= {later}")
    ours, theirs = visit.times()
    assert later <= ours < until
    assert theirs == pytest.approx(ours, abs=0.01)
    assert page.get_attribute("#moments li:nth-child(2) button", "class") == "here"
    assert visit.said == []
    assert all(address.startswith(built.as_uri()) for address in visit.asked)


def test_a_deleted_clip_is_called_so_and_what_follows_is_found(built: Path, visit: Visit) -> None:
    page = visit.open(built, "#real_5shots%2Fcomprehensiveness")
    (start, end, _), *_ = spans(built, "comprehensiveness")
    page.wait_for_selector("text=This clip was deleted.")
    assert "deleted" in page.inner_text("#moments")
    # One frame after the first deleted clip; a frame lasts a quarter of a second. Before it
    # nothing is missing, so there it begins where that clip began.
    page.evaluate(f"seek({end} + 0.1)")
    ours, theirs = visit.times()
    assert ours == pytest.approx(end + 0.1, abs=0.01)
    assert theirs == pytest.approx(start + 0.1, abs=0.01)
    assert not page.is_visible("#over-changed")
    assert visit.said == []


def test_moved_clips_are_linked_by_time_or_by_clip(built: Path, visit: Visit) -> None:
    page = visit.open(built, "#real_5shots%2Ftemporal_flow")
    (start, _, there), *_ = spans(built, "temporal_flow")
    assert there is not None
    ours, theirs = visit.times()
    assert theirs == pytest.approx(ours, abs=0.01)
    page.select_option("#link", "clip")
    visit.until(f"Math.abs(changed.currentTime - {there}) < 0.2")
    ours, theirs = visit.times()
    assert ours - start == pytest.approx(theirs - there, abs=0.01)


def test_they_play_together_and_stop_together(built: Path, visit: Visit) -> None:
    page = visit.open(built, "#real_5shots%2Faesthetics")
    began, _ = visit.times()
    page.keyboard.press("Space")
    visit.until(f"intact.currentTime > {began} + 0.3 && changed.currentTime > {began}")
    page.keyboard.press("Space")
    visit.until("intact.paused && changed.paused")
    ours, theirs = visit.times()
    assert theirs == pytest.approx(ours, abs=0.01)
    assert visit.said == []


def test_keys_and_filters(built: Path, visit: Visit) -> None:
    page = visit.open(built)
    first = page.inner_text("#label")
    page.keyboard.press("j")
    assert page.inner_text("#label") != first
    page.keyboard.press("k")
    assert page.inner_text("#label") == first
    page.keyboard.press("2")
    (start, end, _) = spans(built, "aesthetics")[1]
    visit.until(f"intact.currentTime >= {start} && intact.currentTime < {end}")
    page.select_option("#source", label="frenchgp_1906")
    assert page.inner_text("#count") == "2 of 7 pairs"
    page.select_option("#source", "")
    page.keyboard.press("Escape")
    page.fill("#search", "cockatoo")
    # Of the five captions one tells of a cockatoo; which pairs touch it, testbed.json says.
    touched = sum(any(one.clip == 1 for one in pair.touched) for pair in read_testbed(built).pairs)
    assert page.inner_text("#count") == f"{touched} of 7 pairs"
    page.fill("#search", "no such words")
    assert page.is_visible("#nothing")
    assert page.inner_text("#count") == "0 of 7 pairs"
    page.click("#theme")
    assert page.get_attribute("html", "data-theme") == "dark"
    page.click("#keys")
    assert page.is_visible("#help")
    assert visit.said == []


def test_hostile_text_is_shown_as_it_is(built: Path, visit: Visit, tmp_path: Path) -> None:
    bed = copy_of(built, tmp_path / "bed")

    def poison(data: Any) -> None:
        for source in data["sources"]:
            source["groups"] = {HOSTILE: HOSTILE}
            for clip in source["clips"]:
                clip["caption"] = HOSTILE
        # Of one film everything that has a name; of the other what is shown beside it.
        strange = next(source for source in data["sources"] if source["id"] != "real_5shots")
        for one in data["pairs"]:
            if one["source"] == strange["id"]:
                one.update(source=f"{HOSTILE} film", name=f"{HOSTILE} {one['name']}")
            one["recipe"] = HOSTILE
            one["models"] = {HOSTILE: HOSTILE}
            for touched in one.get("touched", []):
                touched["details"] = {HOSTILE: HOSTILE}
        strange.update(id=f"{HOSTILE} film", faults=[HOSTILE], video=HOSTILE)
        failure = {"reason": "unsafe", "detail": HOSTILE, "advice": HOSTILE}
        skip = {"source": HOSTILE, "kind": "degradation", "name": HOSTILE, "failure": failure}
        data["skips"] = [skip]

    rewrite(bed, poison)
    write_page(bed, read_testbed(bed))
    scripts = visit.open(built).locator("script").count()
    page = visit.open(bed, "#real_5shots%2Faesthetics")
    visit.times()
    assert page.text_content("#moments .caption") == HOSTILE
    assert page.text_content("#prompt") == " ".join([HOSTILE] * 5)
    assert HOSTILE in (page.text_content("#facts") or "")
    assert HOSTILE in (page.text_content("#about") or "")
    page.evaluate(
        "[...source.options].forEach((one, place) =>"
        " { source.selectedIndex = place; source.dispatchEvent(new Event('change')); })"
    )
    page.select_option("#source", label=f"{HOSTILE} film")
    page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
    page.evaluate(
        "document.querySelectorAll('#list button, #list a').forEach((one) => one.click())"
    )
    hover = "new MouseEvent('mouseover', {bubbles: true})"
    page.evaluate(f"document.querySelectorAll('*').forEach((one) => one.dispatchEvent({hover}))")
    assert page.evaluate("window.hacked") is None
    assert (
        page.evaluate(
            "[...document.querySelectorAll('*')].flatMap((one) => [...one.attributes])"
            ".filter((one) => one.name.startsWith('on')).length"
        )
        == 0
    )
    assert page.locator("script").count() == scripts
    assert not [address for address in visit.asked if not address.startswith(("file:", "data:"))]
    assert page.locator("img").count() == 0
    assert visit.said == []


def test_a_video_that_is_gone_is_reported_on_the_page(
    built: Path, visit: Visit, tmp_path: Path
) -> None:
    bed = copy_of(built, tmp_path / "bed")
    (bed / "videos/real_5shots/aesthetics.mp4").unlink()
    page = visit.open(bed, "#real_5shots%2Faesthetics")
    page.wait_for_selector("#over-changed:has-text('The file is not there')")
    assert not page.is_visible("#over-intact")


def test_the_policy_stops_whatever_is_not_ours(built: Path, visit: Visit) -> None:
    page = visit.open(built)
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'),"
        " {textContent: 'window.hacked = 3'}))"
    )
    page.evaluate(
        "document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1:9/x.png'}))"
    )
    assert page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in text for text in visit.said)
    assert visit.failed == ["csp"]


def test_thousands_of_pairs_are_listed_as_they_are_scrolled_to(
    visit: Visit, tmp_path: Path
) -> None:
    from screentest.testbeds.testbed import Testbed

    names = ("aesthetics", "color", "temporal_flow", "dynamics_degree")
    films = tuple(film(f"film-{number}", 10, ["a caption"]) for number in range(1000))
    pairs = tuple(pair(one.id, name) for one in films for name in names)
    write_page(tmp_path, Testbed(1, "0", 7, {}, films, pairs))
    page = visit.open(tmp_path)
    assert page.inner_text("#count") == "4000 pairs"
    assert page.locator("#list li").count() < 1000
    before = page.locator("#list li").count()
    page.evaluate("document.getElementById('scroll').scrollTop = 1e6")
    visit.until(f"document.querySelectorAll('#list li').length > {before}")
    page.goto(f"{(tmp_path / 'testbed.html').as_uri()}#film-999%2Fcolor")
    page.reload()
    page.wait_for_selector("#list [aria-current]")
    assert page.get_attribute("#list [aria-current]", "title") == "film-999/color"


# ---- without a browser


class Elements(HTMLParser):
    """Every element that a page has."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_page_is_one_file_without_addresses(built: Path) -> None:
    text = page_of(read_testbed(built))
    assert (built / "testbed.html").read_text(encoding="utf-8") == text
    elements = Elements()
    elements.feed(text)
    for tag, attributes in elements.found:
        assert tag not in {"link", "img", "iframe", "object"}
        assert not {name for name in attributes if name.startswith("on") or name == "style"}
        assert (attributes.get("href") or "#").startswith("#")
        assert "src" not in attributes
    assert not re.search(r"https?://", text)


def test_paths_that_lead_elsewhere_are_not_followed(built: Path, tmp_path: Path) -> None:
    bed = copy_of(built, tmp_path / "bed")

    def reach_out(data: Any) -> None:
        for one, path in zip(
            data["pairs"], ["javascript:alert(1)", "//evil.example/x.mp4", "../x.mp4"], strict=False
        ):
            one["changed"]["path"] = path

    rewrite(bed, reach_out)
    data = json.loads(json.dumps(data_of(read_testbed(bed))))
    assert [one["changed"] for one in data["pairs"][:3]] == ["", "", ""]


def test_odd_file_names_are_addresses_too(built: Path, tmp_path: Path) -> None:
    bed = copy_of(built, tmp_path / "bed")

    def rename(data: Any) -> None:
        data["pairs"][0]["changed"]["path"] = "videos/a b/what?#50%.mp4"

    rewrite(bed, rename)
    address = data_of(read_testbed(bed))["pairs"][0]["changed"]
    assert address == "./videos/a%20b/what%3F%2350%25.mp4"
