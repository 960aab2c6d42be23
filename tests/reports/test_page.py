"""The page in a real Chromium, opened from disk with no network."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from screentest.core import Choice, Item, Reason
from screentest.reports.data import read_report
from screentest.reports.html import PageOptions, write_html
from tests.reports.conftest import Open, until
from tests.reports.runs import (
    CALM,
    METRICS,
    Said,
    certificate,
    certify_run,
    items,
    lost,
    score_run,
    scored,
    two_systems,
)

NO_PICTURES = PageOptions(thumbnails=0)


def page_of(runs: list[Path], folder: Path, options: PageOptions = NO_PICTURES) -> Path:
    out = folder / "report.html"
    write_html(read_report(runs), out, options)
    return out


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    """A page with everything: systems, failures, certificates, verdicts, curves, pictures."""
    folder = tmp_path_factory.mktemp("full")
    scores = two_systems(folder / "scores", count=6)
    film = sample / "real_5shots_640x360.mp4"
    own = [
        Item("harbour", film, "A harbour at dawn, then a street.", groups={"model": "ours"}),
        Item("lost", folder / "gone.mp4", "Nothing.", groups={"model": "theirs"}),
    ]
    films = score_run(
        folder / "films",
        own,
        {
            ("harbour", "calm"): scored(0.4, 0.9, 0.2, 0.5, 0.6, note="a flash"),
            ("harbour", "busy"): scored(12.0, 5.0, 50.0, 6.0, 4.0),
            ("lost", "calm"): lost(Reason.MISSING_FILE, "gone.mp4 is not there"),
        },
    )
    said = [
        Said("pair-1", Choice.FIRST, rationale="The second flickers."),
        Said("pair-2", Choice.SECOND, rationale="The first is dull."),
        Said("pair-2", Choice.SECOND, order="second_first"),
        Said("pair-3", Choice.TIE),
    ]
    judged = certify_run(folder / "certificates", [certificate()], said)
    return page_of([scores, films, judged], folder, PageOptions("All of it", thumbnails=9))


def test_the_whole_page(full: Path, opened: Open) -> None:
    seen = opened(full)
    page = seen.page
    assert page.locator("h1").inner_text() == "All of it"
    row = page.locator("#summary tbody tr", has_text="how calm")
    # 18 films by three systems and the harbour have a value, the lost one has none.
    assert "19/20" in row.inner_text()
    assert "missing_file 1" in row.inner_text()
    # 36 of 40 on twenty films: seen; 20 of 40 cannot be told from chance.
    assert "sees harmed aesthetics" in row.inner_text()
    other = page.locator("#summary tbody tr", has_text="how busy")
    assert "not certified" in other.inner_text()
    assert "pending 1" in other.inner_text()
    card = page.locator(".card")
    assert "90.0" in card.inner_text()
    assert "missing_model: no weights" in card.inner_text()
    assert "Placebo container" in card.inner_text()
    assert "people 95.0" in card.inner_text()
    assert page.locator("figure img").count() == 3
    assert all(
        page.eval_on_selector_all("figure img", "all => all.map(one => one.naturalWidth > 0)")
    )
    assert page.locator("table.signatures").inner_text().count("|v:1") >= 2
    assert seen.troubles == []


def test_one_video_with_its_curve_pictures_and_film(full: Path, opened: Open) -> None:
    seen = opened(full)
    page = seen.page
    page.fill("#search", "harbour")
    page.wait_for_selector("#list details[open] .curve")
    assert page.locator("#list details").count() == 1
    # The point with 0.2 of calm and 50 of busy is the worst of both: from 1 s to 2 s.
    shots = page.locator(".shots button")
    assert shots.count() == 4
    labels = shots.evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    assert "Go to 0:00:01.5" in labels
    until(page, "document.querySelector('video').readyState >= 1")
    page.click("button[aria-label='Go to 0:00:01.5']")
    assert page.evaluate("document.querySelector('video').currentTime") == 1.5
    assert seen.troubles == []


def test_a_curve_from_the_keyboard(full: Path, opened: Open) -> None:
    seen = opened(full)
    page = seen.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.focus("#search")
    page.keyboard.type("harbour")
    page.wait_for_selector("#list details[open] .curve")
    slider = page.locator("[aria-label='calm over time']")
    slider.focus()
    assert "0.200 at 0:00:01.0–0:00:02.0, the worst: a flash" in page.inner_text(
        ".body .note >> nth=-1"
    )
    page.keyboard.press("ArrowRight")
    assert "0.500 at 0:00:02.0" in str(slider.get_attribute("aria-valuetext"))
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert page.evaluate("document.querySelector('video').currentTime") == 0
    assert seen.troubles == []


def test_a_row_opens_from_the_keyboard(full: Path, opened: Open) -> None:
    page = opened(full).page
    page.locator("#list summary").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#list details[open] .body")


def test_verdicts_say_who_was_right(full: Path, opened: Open) -> None:
    page = opened(full).page
    rows = page.locator("#verdict-list summary")
    assert [text.split("\n")[-1] for text in rows.all_inner_texts()] == [
        "right",
        "wrong",
        # The second was shown to be better, and the intact one was shown second.
        "right",
        "tie",
    ]
    page.select_option("#which", "0")
    assert page.locator("#verdict-list summary").count() == 1
    page.click("#verdict-list summary")
    assert page.inner_text("#verdict-list .prompt") == "The first is dull."


def test_sorting_puts_the_worst_first_and_the_missing_last(full: Path, opened: Open) -> None:
    page = opened(full).page
    page.select_option("#sort", "busy")
    rows = page.locator("#list summary").all_inner_texts()
    # Lower is better: 20 + (7·n + shift) mod 6 is at most 25.
    assert "25.000" in rows[0]
    assert rows[-1].startswith("lost")
    page.select_option("#sort", "calm")
    assert "missing_file" in page.locator("#list summary").all_inner_texts()[-1]


HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<!--<script>",
    '"><img src=x onerror=alert(3)>',
    "' onmouseover='alert(4)",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(5)",
    "\u202egnp.4pm\u202c \u2066 مرحبا שלום",
    "\u2028\u2029\x00\x07\x1b[31m",
    "$\\frac{x}{y}$ \\input{x}",
    "漢" * 60_000,
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    films, values = [], {}
    for number, text in enumerate(HOSTILE):
        name = f"{number} {text}"
        film = Item(name, Path(f"/nowhere/{number}.mp4"), text, groups={"model": text or "none"})
        films.append(film)
        values[name, "calm"] = scored(0.5, 0.2, 0.8, note=text)
        values[name, "busy"] = lost(Reason.CRASHED, text)
    said = [Said(f"{n} {text}", Choice.FIRST, rationale=text) for n, text in enumerate(HOSTILE)]
    runs = [
        score_run(folder / "scores", films, values),
        certify_run(folder / "certificates", [certificate(judge="calm <b>&\"'")], said),
    ]
    write_html(
        read_report(runs), folder / "report.html", PageOptions("</title><script>alert(6)</script>")
    )
    return folder / "report.html"


def test_untrusted_texts_are_shown_as_they_are(hostile: Path, opened: Open) -> None:
    seen = opened(hostile)
    page = seen.page
    assert page.title() == "</title><script>alert(6)</script>"
    for number, text in enumerate(HOSTILE):
        details = page.locator("#list > li > details").nth(number)
        details.locator("summary").click()
        shown = details.locator(".prompt[aria-label=Prompt]")
        assert shown.evaluate("node => node.textContent") == text
        details.locator("[role=slider]").focus()
        assert page.evaluate("window.scrollX") == 0
    for number in range(len(HOSTILE)):
        details = page.locator("#verdict-list > li > details").nth(number)
        details.locator("summary").click()
        details.locator(".prompt").wait_for()
    assert "<b>" in page.locator(".card h3").inner_text()
    assert page.locator("script").count() == 2
    assert page.locator("img[src=x]").count() == 0
    assert seen.troubles == []


def test_the_policy_lets_nothing_else_run(hostile: Path, opened: Open) -> None:
    seen = opened(hostile)
    seen.page.evaluate(
        "() => { const one = document.createElement('script'); one.textContent = 'window.ran = 1';"
        " document.body.append(one); document.body"
        ".insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 2\">'); }"
    )
    assert seen.page.evaluate("window.ran") is None
    assert any("Content Security Policy" in line for line in seen.troubles)


def test_nothing_in_the_data_can_end_its_element(hostile: Path) -> None:
    text = hostile.read_text(encoding="utf-8")
    assert len(re.findall(r"</script", text)) == 2
    (data,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    assert len(json.loads(data)["items"]) == len(HOSTILE)


def test_five_thousand_videos_are_never_in_the_page_at_once(tmp_path: Path, opened: Open) -> None:
    names = [f"film-{number:04}" for number in range(5000)]
    values = {(name, "calm"): scored(int(name[-4:]) / 5000) for name in names}
    run = score_run(tmp_path / "run", items(*names), values, metrics={"calm": CALM})
    seen = opened(page_of([run], tmp_path))
    page = seen.page
    assert page.locator("#list > li").count() == 50
    page.click("#more")
    assert page.locator("#list > li").count() == 100
    assert page.inner_text("#more") == "Show more (4,900 left)"
    page.select_option("#sort", "calm")
    assert page.locator("#list summary").first.inner_text().startswith("film-0000")
    page.fill("#search", "film-4321")
    page.wait_for_selector("#list details[open]")
    assert page.inner_text("#count") == "1 of 5,000"
    assert page.evaluate("document.querySelectorAll('*').length") < 2000
    assert seen.troubles == []


def test_one_video(tmp_path: Path, opened: Open) -> None:
    run = score_run(tmp_path / "run", items("only"), {("only", "calm"): scored(0.5, 0.4, 0.6)})
    seen = opened(page_of([run], tmp_path))
    assert seen.page.inner_text(".lead").startswith("1 video, 2 values each. A value")
    assert seen.page.locator("#list details[open] .curve").count() == 1
    assert "1 pending" in seen.page.inner_text("#list summary")
    summary = seen.page.inner_text("#summary")
    assert not re.search(r"\d to \d", summary)  # one number has no interval
    assert seen.troubles == []


def test_nothing_scored(tmp_path: Path, opened: Open) -> None:
    values = {(film, name): lost() for film in "ab" for name in METRICS}
    seen = opened(page_of([score_run(tmp_path / "run", items("a", "b"), values)], tmp_path))
    told = seen.page.inner_text("#summary")
    assert "0/2" in told
    assert "undecodable 2" in told
    assert seen.page.locator("figure").count() == 0
    seen.page.locator("#list summary").first.click()
    assert "undecodable: no picture: Make it again." in seen.page.inner_text("#list .body")
    assert seen.troubles == []


def test_only_certificates(tmp_path: Path, opened: Open) -> None:
    run = certify_run(tmp_path / "run", [certificate(), certificate("other")])
    seen = opened(page_of([run], tmp_path))
    assert seen.page.inner_text(".lead").startswith("2 certificates. A value")
    assert seen.page.locator(".card").count() == 2
    assert seen.page.locator("#videos, #summary, #verdicts").count() == 0
    assert seen.troubles == []


def test_films_inside_the_page(tmp_path: Path, opened: Open, sample: Path) -> None:
    film = Item("film", sample / "frenchgp_1906_214x160.mp4")
    run = score_run(tmp_path / "run", [film], {("film", "calm"): scored(0.5)})
    seen = opened(page_of([run], tmp_path, PageOptions(embed=True)))
    until(seen.page, "document.querySelector('video').readyState >= 1")
    assert seen.page.evaluate("document.querySelector('video').src").startswith("data:video/mp4")
    assert seen.troubles == []


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1400, "light")])
def test_axe_finds_nothing(full: Path, opened: Open, axe: str, width: int, scheme: str) -> None:
    page = opened(full, viewport={"width": width, "height": 900}, color_scheme=scheme).page
    page.fill("#search", "harbour")
    page.wait_for_selector("#list details[open] .curve")
    page.click("#verdict-list summary")
    page.wait_for_selector("#verdict-list .prompt")
    page.evaluate(axe)
    found = page.evaluate("axe.run()")
    assert [
        (one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found["violations"]
    ] == []
    assert len(found["passes"]) > 10


def test_nothing_sticks_out(full: Path, opened: Open) -> None:
    page = opened(full).page
    page.fill("#search", "harbour")
    page.wait_for_selector("#list details[open] .curve")
    for width in (320, 360, 800, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_hostile_names_stay_inside_a_small_screen(hostile: Path, opened: Open) -> None:
    page = opened(hostile, viewport={"width": 360, "height": 800}).page
    for summary in page.locator("#list summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_printed(full: Path, opened: Open, tmp_path: Path) -> None:
    page = opened(full).page
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    page.emulate_media(media="print")
    assert not page.is_visible("#search")
    assert page.is_visible(".card")


def test_who_prints_from_a_dark_screen_gets_dark_ink_on_white(full: Path, opened: Open) -> None:
    page = opened(full, color_scheme="dark").page
    shown = "document.querySelector('figure img').currentSrc"
    on_screen = page.evaluate(shown)
    page.emulate_media(media="print", color_scheme="dark")
    style = page.evaluate(
        "(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))"
    )
    assert style == ["rgb(28, 32, 36)", "rgb(255, 255, 255)"]
    until(page, f"{shown} !== {on_screen!r}")


def test_the_command(tmp_path: Path) -> None:
    run = two_systems(tmp_path / "scores", count=2)
    done = subprocess.run(
        [sys.executable, "-m", "screentest", "report", str(run), "--tables", "tables"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").is_file()
    assert len(list((tmp_path / "tables").iterdir())) == 4 * 5
