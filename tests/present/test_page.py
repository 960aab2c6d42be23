"""The page in a real browser: the answer first, videos that play, a drawer, nothing that leaks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

import screentest
from screentest.core import Choice, Item, Reason
from screentest.present.page.data import read_report
from screentest.present.page.html import write_html
from tests.present.conftest import Open, Seen, until
from tests.present.runs import (
    CALM,
    METRICS,
    Said,
    certificate,
    certify_run,
    items,
    lost,
    score_run,
    scored,
)


def page_of(runs: list[Path], folder: Path, **options: Any) -> Path:
    out = folder / "report.html"
    write_html(read_report(runs), out, **{"pictures": 0, **options})
    return out


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    """Two models on eight prompts, two with real films; a failure, a certificate, verdicts."""
    folder = tmp_path_factory.mktemp("full")
    film = sample / "frenchgp_1906_214x160.mp4"
    other = folder / "other.mp4"  # the same pictures in another file: an empty box at its end
    other.write_bytes(film.read_bytes() + b"\0\0\0\x08free")
    films, values = [], {}
    for shift, model in enumerate(("ours", "theirs")):
        for number in range(8):
            video = (film, other)[number] if number < 2 else folder / "gone.mp4"
            name = f"{model}-{number}"
            films.append(Item(name, video, f"Prompt number {number}.", groups={"model": model}))
            low = 0.2 + 0.01 * number + 0.4 * (1 - shift)
            values[name, "calm"] = scored(low, 0.9, low, 0.8, 0.8, note="a flash")
            # The models differ by 30 on prompt 5, by 1 elsewhere.
            values[name, "busy"] = scored(
                10.0 + shift * (30 if number == 5 else 1), 5.0, 50.0, 6.0, 4.0
            )
    values["theirs-7", "calm"] = lost(Reason.MISSING_FILE, "gone.mp4 is not there")
    runs = [score_run(folder / "scores", films, values)]
    said = [
        Said("pair-1", Choice.FIRST, rationale="The second flickers."),
        Said("pair-2", Choice.SECOND, rationale="The first is dull."),
        Said("pair-3", Choice.TIE),
    ]
    runs.append(certify_run(folder / "certificates", [certificate()], said))
    return page_of(runs, folder, title="All of it", pictures=3)


@pytest.fixture(scope="module")
def seen(full: Path, opened: Open) -> Seen:
    """One page for the tests of this module: each leaves it as it was."""
    return opened(full, viewport={"width": 1280, "height": 900})


@pytest.fixture
def page(seen: Seen) -> Page:
    assert seen.troubles == []
    seen.page.mouse.move(0, 0)
    return seen.page


def test_the_answer_comes_first(page: Page) -> None:
    # Eight prompts, all for ours in busy: 2 · 2^-8 = 0.008. Of calm one value is missing.
    assert page.inner_text("h1").startswith("ours beats theirs on 1 of 1 metric (8 prompts, ")
    assert page.locator("#answer .card h2").all_inner_texts() == ["ours", "theirs"]
    assert "1 of 32 values (missing file 1)" in page.inner_text("#checks")
    row = page.locator("#differ tr", has_text="how busy it is").first
    assert row.locator(".wins").inner_text() == "8:0"
    assert row.locator("circle").count() == 16
    calm = page.locator("#differ tr", has_text="how calm it is").first
    assert "theirs lacks 1 of 8 values" in str(calm.text_content())
    assert "inverted tones" in str(calm.locator(".sees-cell").text_content())
    assert calm.locator("circle").count() == 14  # the prompts that both have
    assert page.locator(".strip img").first.get_attribute("src").startswith("data:image/webp")  # type: ignore[union-attr]


def test_the_lines_stand_on_the_first_screen_of_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    bottom = page.evaluate("document.querySelector('dl.lines').getBoundingClientRect().bottom")
    assert bottom + page.evaluate("scrollY") < 700
    labels = page.locator("dl.lines dt").all_inner_texts()
    assert {"better", "not compared", "not covered"} <= set(labels)
    page.set_viewport_size({"width": 1280, "height": 900})


def test_a_row_plays_while_it_is_pointed_at(page: Page) -> None:
    row = page.locator("#grid .row").first
    row.hover()
    until(page, "document.querySelectorAll('#grid video.on').length === 2")
    assert page.evaluate("[...document.querySelectorAll('#grid video')].every(v => v.muted)")
    page.mouse.move(0, 0)
    until(page, "document.querySelectorAll('#grid video').length === 0")
    # From the keyboard: focus does the same.
    row.locator("button.small").focus()
    page.keyboard.press("Tab")
    until(page, "document.querySelectorAll('#grid video.on').length === 2")
    page.locator("#search").focus()
    until(page, "document.querySelectorAll('#grid video').length === 0")


def test_prompts_where_they_disagree_most_come_first(page: Page) -> None:
    assert page.locator("#grid .row").count() == 8
    page.click("#order button[value=most]")
    assert page.locator("#grid .row").count() == 4
    page.select_option("#measure", label="busy")
    assert "Prompt number 5." in page.locator("#grid .row").first.inner_text()
    page.click("#order button[value='']")
    page.fill("#search", "number 3")
    until(page, "document.querySelectorAll('#grid .row').length === 1")
    assert page.inner_text("#count") == "1 of 8 prompts"
    page.fill("#search", "zebra")
    until(page, "document.querySelector('#grid .none') !== null")
    assert "Nothing found for “zebra”" in page.inner_text("#grid")
    page.fill("#search", "")
    until(page, "document.querySelectorAll('#grid .row').length === 8")
    # What it is worst at against the other: the difference of 30 is the whole spread of busy.
    five = page.locator("#grid .row").nth(5).locator(".tile").nth(1).inner_text()
    assert five.endswith("furthest behind in busy 40.0 · the other 10.0")


def test_the_drawer_from_the_keyboard(page: Page) -> None:
    first = page.locator("#grid .frame").first
    first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#drawer[open] .curve")
    assert page.inner_text("#drawer h2") == "ours-0"
    until(page, "document.querySelectorAll('#drawer .mark').length === 1")
    moment = page.locator("#drawer .moment")
    # Calm is lowest and busy highest in the second second: one moment, two reasons.
    assert moment.count() == 1
    assert moment.inner_text().split("\n") == ["0:01.5", "busy 50.0", "calm 0.600: a flash"]
    calm = page.locator("#drawer .against li", has_text="how calm it is")
    assert "ahead · the other 0.200" in calm.inner_text()
    moment.press("Enter")
    assert page.evaluate("document.querySelector('#drawer video').currentTime") == 1.5
    slider = page.locator("#drawer [aria-label='calm over time']")
    slider.focus()
    assert "0.600 at 0:01.0–0:02.0, the worst: a flash" in page.inner_text("#drawer .note")
    page.keyboard.press("ArrowRight")
    assert str(slider.get_attribute("aria-valuetext")).startswith("0.800 at 0:02.0")
    page.keyboard.press("Enter")
    assert page.evaluate("document.querySelector('#drawer video').currentTime") == 2
    page.locator("#drawer h3").first.click()
    page.keyboard.press("j")
    assert page.inner_text("#drawer h2") == "theirs-0"
    assert page.evaluate("location.hash") == "#video=theirs-0"
    page.click("#drawer .rivals button >> nth=0")
    assert page.inner_text("#drawer h2") == "ours-0"
    page.keyboard.press("Escape")
    assert not page.evaluate("document.getElementById('drawer').open")
    until(page, "location.hash === ''")  # the dialog says later that it is closed


@pytest.mark.parametrize("width", [400, 1280])
def test_the_keys_of_the_drawer_work_at_once_and_after_each_other(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.locator("#grid .frame").first.click()
    page.wait_for_selector("#drawer[open] .curve")
    video = "document.querySelector('#drawer video')"
    until(page, f"{video}.readyState > 0")
    page.keyboard.press(".")
    fps = page.evaluate("data.items[0].fps")
    assert page.evaluate(f"{video}.currentTime") == pytest.approx(1.5 / fps, abs=1e-3)
    page.keyboard.press(".")
    page.keyboard.press(",")
    assert page.evaluate(f"{video}.currentTime") == pytest.approx(1.5 / fps, abs=1e-3)
    page.keyboard.press("Space")  # plays; the first thing to press is not another model
    assert page.inner_text("#drawer h2") == "ours-0"
    until(page, f"!{video}.paused")
    for key, name in (("j", "theirs-0"), ("k", "ours-0"), ("j", "theirs-0")):
        page.keyboard.press(key)
        assert page.inner_text("#drawer h2") == name
        assert page.evaluate("document.getElementById('drawer').contains(document.activeElement)")
    page.click("#drawer .rivals button >> nth=0")
    page.keyboard.press("Space")
    assert page.inner_text("#drawer h2") == "ours-0"
    until(page, f"!{video}.paused")
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1280, "height": 900})


def test_a_difference_in_the_drawer_counts_by_the_margin(page: Page) -> None:
    """Not by how far apart the whole run is: 10 against 11 is behind, though 40 is there too."""
    page.locator("#grid .frame[aria-label^='Open theirs-3']").click()
    busy = page.locator("#drawer .against li", has_text="how busy it is")
    assert "behind · the other 10.0" in busy.inner_text()
    page.keyboard.press("Escape")


def test_what_is_missing_says_why(page: Page) -> None:
    page.locator("#grid .frame[aria-label^='Open theirs-7']").click()
    assert page.inner_text("#drawer .unscored > summary") == "Not scored: 1 metric"
    page.click("#drawer .unscored > summary")
    assert "calm missing file: gone.mp4 is not there: Make it again." in page.inner_text(
        "#drawer-body"
    )
    assert "file no longer there" in page.inner_text("#drawer-body")
    page.click("#drawer-close")


def test_a_cell_opens_its_pairs(page: Page) -> None:
    cell = page.locator("button.heat.sees").first
    assert cell.inner_text() == "90"
    cell.click()
    assert "calm on Aesthetics: degraded aesthetics" in page.inner_text("#drawer h2")
    chips = page.locator("#drawer .pair .chip").all_inner_texts()
    assert chips == ["wrong", "tie", "right"]
    assert "The first is dull." in page.inner_text("#drawer .pair-body")
    page.locator("#drawer .pair").nth(2).click()
    assert "The second flickers." in page.inner_text("#drawer .pair-body")
    page.keyboard.press("Escape")


def test_verdicts_say_who_was_right(page: Page) -> None:
    page.click("#verdicts > summary")
    rows = page.locator("#verdict-list summary")
    assert [text.split("\n")[-1] for text in rows.all_inner_texts()] == ["right", "wrong", "tie"]
    page.select_option("#which", "wrong")
    page.click("#verdict-list summary")
    assert page.inner_text("#verdict-list .prompt") == "The first is dull."


LENGTHEN = """() => {
  for (const one of document.querySelectorAll("p, li, h1, h2, h3, dt, dd, summary, b, .quiet")) {
    if (one.closest(".heatmap, .segments, svg, button")) continue;
    const word = document.createElement("i");
    word.className = "made";
    word.textContent = "x_y.z".repeat(20);
    one.append(word);
  }
}"""


def test_nothing_sticks_out(page: Page) -> None:
    for width in (320, 360, 800, 1600):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Names of metrics and models are as long as people make them.
    page.set_viewport_size({"width": 360, "height": 900})
    page.evaluate(LENGTHEN)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.evaluate("for (const one of document.querySelectorAll('i.made')) one.remove()")
    page.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_axe_finds_nothing(page: Page, axe: str, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.evaluate(axe)

    def check() -> None:
        found = page.evaluate("axe.run()")
        assert [
            (one["id"], [node["html"][:120] for node in one["nodes"]])
            for one in found["violations"]
        ] == []
        assert len(found["passes"]) > 10

    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    check()
    if scheme == "light":  # the same elements and tokens: once is enough
        return
    page.locator("#grid .frame").first.click()
    page.wait_for_selector("#drawer[open] .curve")
    check()
    page.keyboard.press("Escape")


def test_who_prints_from_a_dark_screen_gets_dark_ink_on_white(page: Page, tmp_path: Path) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    style = page.evaluate(
        "(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))"
    )
    assert style == ["rgb(23, 25, 28)", "rgb(255, 255, 255)"]
    assert not page.is_visible("#search")
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


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
        films.append(Item(name, Path(f"/nowhere/{number}.mp4"), text, groups={"model": text}))
        values[name, "calm"] = scored(0.5, 0.2, 0.8, 0.8, note=text)
        values[name, "busy"] = lost(Reason.CRASHED, text)
    said = [Said(f"{n} {text}", Choice.FIRST, rationale=text) for n, text in enumerate(HOSTILE)]
    runs = [
        score_run(folder / "scores", films, values),
        certify_run(folder / "certificates", [certificate(judge="calm <b>&\"'")], said),
    ]
    return page_of(runs, folder, title="</title><script>alert(6)</script>")


def test_untrusted_texts_are_shown_as_they_are(hostile: Path, opened: Open) -> None:
    seen = opened(hostile, viewport={"width": 360, "height": 800})
    page = seen.page
    assert page.title() == "</title><script>alert(6)</script>"
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for number, text in enumerate(HOSTILE):
        page.evaluate(f"drawer.video({number})")
        shown = page.locator("#drawer .prompt[aria-label=Prompt]")
        assert shown.evaluate("node => node.textContent") == text
        assert page.evaluate("document.getElementById('drawer').scrollWidth") <= 360
    page.keyboard.press("Escape")
    page.locator("button.heat").first.click()
    assert "<b>" in page.inner_text("#drawer h2")
    assert page.locator("script").count() == 2
    assert page.locator("img[src=x]").count() == 0
    assert seen.troubles == []
    # Last, since it makes trouble: nothing but the page's own script runs.
    page.evaluate(
        "() => { const one = document.createElement('script'); one.textContent = 'window.ran = 1';"
        " document.body.append(one); document.body"
        ".insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 2\">'); }"
    )
    assert page.evaluate("window.ran") is None
    assert any("Content Security Policy" in line for line in seen.troubles)


FILE_NAMES = [
    '"><img src=x onerror=alert(7)>.mp4',
    "' onmouseover='alert(8)' #%3Cscript%3E?x=1&amp;.mp4",
    "\u2028\u202egnp\u202c javascript:alert(9).mp4",
]


@pytest.mark.parametrize("rivals", [False, True], ids=["one model", "models"])
def test_nothing_hostile_runs_whatever_is_opened(
    rivals: bool, tmp_path: Path, sample: Path, opened: Open
) -> None:
    """All folds, drawers, pairs, tiles and the search, with films that really play."""
    films, values = [], {}
    for number, text in enumerate(HOSTILE):
        video = tmp_path / FILE_NAMES[number % len(FILE_NAMES)]
        if not video.exists():
            video.write_bytes((sample / "frenchgp_1906_214x160.mp4").read_bytes())
        # As in a comparison: each prompt by two models, both named as badly.
        for model in HOSTILE[:2] if rivals else ("",):
            name = f"{number} {text} {model}"
            groups = {"model": model, text: text} if rivals else {text: text}
            films.append(Item(name, video, text, groups=groups))
            values[name, "calm"] = scored(0.5 + 0.01 * number, 0.2, 0.8, 0.8, note=text)
            values[name, "busy"] = lost(Reason.CRASHED, text) if number % 2 else scored(5.0, 4.0)
    said = [Said(f"{n} {text}", Choice.FIRST, rationale=text) for n, text in enumerate(HOSTILE)]
    runs = [
        score_run(tmp_path / "scores", films, values),
        certify_run(tmp_path / "certificates", [certificate(judge=HOSTILE[0])], said),
    ]
    seen = opened(page_of(runs, tmp_path, title=HOSTILE[1], pictures=2))
    page = seen.page
    scripts = page.locator("script").count()
    assert scripts == 2

    def look() -> None:
        attributes = (
            "[...document.querySelectorAll('*')].flatMap((one) => [...one.attributes])"
            ".filter((one) => one.name.startsWith('on') || /^javascript:/i.test(one.value)"
            " && ['href', 'src'].includes(one.name)).map((one) => one.name)"
        )
        assert page.evaluate(attributes) == []
        assert page.locator("script").count() == scripts
        assert page.locator("img[src=x], iframe, object, embed, base, link, form").count() == 0
        assert seen.troubles == []

    page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
    look()
    for number in range(len(films)):
        page.evaluate(f"drawer.video({number})")
        page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
        look()
    page.keyboard.press("Escape")
    for cell in range(page.locator("button.heat").count()):
        page.evaluate(f"document.querySelectorAll('button.heat')[{cell}].click()")
        page.evaluate("document.querySelectorAll('#drawer .pair').forEach((one) => one.click())")
        look()
        page.keyboard.press("Escape")
    hover = "new MouseEvent('mouseover', {bubbles: true})"
    page.evaluate(f"document.querySelectorAll('*').forEach((one) => one.dispatchEvent({hover}))")
    page.evaluate("document.querySelectorAll('.row button.small').forEach((one) => one.click())")
    for text in HOSTILE[:-1]:
        page.evaluate(
            "(text) => { search.value = text; search.dispatchEvent(new Event('input')); }", text
        )
        page.wait_for_timeout(200)
        look()


def test_nothing_in_the_data_can_end_its_element(hostile: Path) -> None:
    text = hostile.read_text(encoding="utf-8")
    assert len(re.findall(r"</script", text)) == 2
    (data,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    assert len(json.loads(data)["items"]) == len(HOSTILE)


def test_thousands_of_videos_are_never_in_the_page_at_once(tmp_path: Path, opened: Open) -> None:
    names = [f"film-{number:04}" for number in range(1500)]
    values = {(name, "calm"): scored(int(name[-4:]) / 1500) for name in names}
    run = score_run(tmp_path / "run", items(*names), values, metrics={"calm": CALM})
    seen = opened(page_of([run], tmp_path))
    page = seen.page
    assert page.locator("#grid > li").count() == 48
    page.click("#more")
    assert page.inner_text("#more") == "Show more (1,404 left)"
    page.select_option("#measure", label="calm")
    assert "film-0000" in page.locator("#grid > li").first.inner_text()
    page.fill("#search", "film-1234")
    until(page, "document.querySelectorAll('#grid > li').length === 1")
    assert page.inner_text("#count") == "1 of 1,500 videos"
    assert page.evaluate("document.querySelectorAll('*').length") < 1000
    assert seen.troubles == []


def test_films_inside_the_page(tmp_path: Path, opened: Open, sample: Path) -> None:
    film = Item("film", sample / "frenchgp_1906_214x160.mp4")
    run = score_run(tmp_path / "run", [film], {("film", "calm"): scored(0.5)})
    seen = opened(page_of([run], tmp_path, embed=True))
    seen.page.locator("#grid .frame").click()
    until(seen.page, "document.querySelector('#drawer video').readyState >= 1")
    assert seen.page.evaluate("document.querySelector('#drawer video').src").startswith(
        "data:video/mp4"
    )
    assert seen.troubles == []


def test_scores_of_another_tool_have_no_empty_boxes(tmp_path: Path, opened: Open) -> None:
    rows = [
        f"{model},Prompt {n},{0.5 + n / 100 + gap},fine\n"
        for model, gap in (("ours", 0.1), ("theirs", 0.0))
        for n in range(8)
    ]
    table = tmp_path / "scores.csv"
    table.write_text("model,prompt,clip,comment\n" + "".join(rows))
    page = opened(screentest.report(table, out=tmp_path / "report.html").page).page
    assert page.locator("#grid > .row").count() == 8
    assert page.locator("#grid .blank, .card").count() == 0
    assert page.get_by_role("button", name="Play all").count() == 0
    page.get_by_role("button", name="All values of").first.click()
    page.locator("#drawer-body", has_text="0.6").wait_for()
    assert page.locator(".lines dt", has_text="no value").count() == 1
    assert page.locator(".lines dd", has_text="comment (").count() == 1


def test_nothing_scored(tmp_path: Path) -> None:
    values = {(film, name): lost() for film in "ab" for name in METRICS}
    page = page_of([score_run(tmp_path / "run", items("a", "b"), values)], tmp_path).read_text()
    assert "No value could be measured on 2 videos" in page
    assert "2 of 2 videos" in page


def test_only_certificates(tmp_path: Path) -> None:
    run = certify_run(tmp_path / "run", [certificate(), certificate("other")])
    page = page_of([run], tmp_path).read_text()
    assert "Judges that see a degradation: 2 of 2 (20 films)" in page
    assert page.count('<article class="card">') == 2
    assert 'id="side"' not in page
