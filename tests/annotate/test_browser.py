"""The app in a real Chromium: every task, keyboard only, bad networks, hostile texts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect
from playwright.sync_api import Error as PlaywrightError
from sqlalchemy import select, update

from screentest.annotate.language import read_language
from screentest.annotate.people import exclude, invite
from screentest.annotate.records import read_records
from screentest.annotate.schema import files, texts, units, votes, workers
from screentest.annotate.web.visitor import Finish
from screentest.judges.votes import VoteRecord, VoteTask
from tests.annotate.stand import OPERATOR, Stand, open_stand, served
from tests.video.hostile import film

PROMPT = "cars race past a crowd."
CORRECTED = "A grand prix in 1906.\nDust everywhere."

PATIENCE = 60_000
"""Milliseconds; a busy machine is not a failure."""


@dataclass
class Visit:
    """Somebody at a browser, and what went wrong there."""

    stand: Stand
    address: str
    context: BrowserContext
    page: Page
    troubles: list[str]

    def rows(self) -> list[VoteRecord]:
        with self.stand.database.read() as connection:
            return read_records(connection)

    def stored(self) -> list[Any]:
        with self.stand.database.read() as connection:
            return list(connection.execute(select(votes).order_by(votes.c.at)).all())

    def sitting(self) -> str:
        return str(self.page.locator("#answer").get_attribute("data-sitting"))

    def wait_for_another(self, sitting: str) -> None:
        self.page.wait_for_selector(
            f'[data-ready]:not([data-sitting="{sitting}"]), h1:text("thank you")'
        )

    def ready(self) -> None:
        until(
            self.page, "[...document.querySelectorAll('video')].every(one => one.readyState >= 2)"
        )


Open = Callable[..., Visit]


def until(page: Page, condition: str) -> None:
    """Wait for it. Playwright's own way evaluates text in the page, which our policy forbids."""
    for _ in range(PATIENCE // 50):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never: {condition}")


@pytest.fixture
def visit(browser: Browser) -> Iterator[Open]:
    """Open the app as a new worker who has begun."""
    with ExitStack() as stack:

        def opened(stand: Stand, *, begin: bool = True, **options: Any) -> Visit:
            address = stack.enter_context(served(stand))
            context = browser.new_context(**options)
            stack.callback(context.close)
            context.set_default_timeout(PATIENCE)
            expect.set_options(timeout=PATIENCE)
            page = context.new_page()
            troubles: list[str] = []
            page.on("pageerror", lambda error: troubles.append(str(error)))
            page.on("dialog", lambda dialog: (troubles.append("dialog"), dialog.dismiss()))
            page.on(
                "console", lambda line: troubles.append(line.text) if line.type == "error" else None
            )
            page.on(
                "request",
                lambda sent: None if sent.url.startswith(address) else troubles.append(sent.url),
            )
            if begin:
                (invitation,) = invite(stand.database, 1)
                page.goto(f"{address}/join#{invitation.token}")
                page.click("text=I have read this")
                page.click("button:text-is('Begin')")
                page.wait_for_selector("#answer[data-ready]")
            return Visit(stand, address, context, page, troubles)

        yield opened


def test_a_check_from_the_keyboard_alone(stand: Stand, visit: Open) -> None:
    at = visit(stand, begin=False)
    page = at.page
    (invitation,) = invite(stand.database, 1)
    page.goto(f"{at.address}/join#{invitation.token}")
    page.wait_for_selector("text=Before you begin")
    assert "#" not in page.url
    tab_to(page, "text=I have read this")
    page.keyboard.press("Enter")
    page.wait_for_selector("button:text-is('Begin')")
    tab_to(page, "button:text-is('Begin')")
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer[data-ready]")
    at.ready()
    first = at.sitting()
    assert page.locator("#send").is_disabled()
    page.keyboard.press("Space")
    until(page, "[...document.querySelectorAll('video')].every(one => one.currentTime > 0.2)")
    page.keyboard.press("Space")
    until(page, "[...document.querySelectorAll('video')].every(one => one.paused)")
    page.keyboard.press("2")
    expect(page.locator('input[value="right"]')).to_be_checked()
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("[data-ready] .part")
    at.ready()
    assert page.locator("[name=rating]").first.is_disabled()
    assert page.locator("[name=confirmed]").is_disabled()
    page.keyboard.press("a")
    assert page.locator("input[value=A]:checked").count() == 0
    for left in (1, 0):
        page.keyboard.press("n")
        until(page, f"document.querySelectorAll('.part[data-seen=\"0\"]').length == {left}")
    expect(page.locator("[name=confirmed]")).to_be_enabled()
    tab_to(page, "[name=confirmed]")
    page.keyboard.press("Space")
    page.keyboard.press("b")
    expect(page.locator("input[value=B]")).to_be_checked()
    page.keyboard.press("Control+Enter")
    at.wait_for_another(first)
    (row,) = at.rows()
    assert (row.rating, row.finished) == ("B", True)
    assert row.choice == ("changed" if row.left == "intact" else "intact")
    assert at.troubles == []


def tab_to(page: Page, selector: str) -> None:
    wanted = page.locator(selector).first
    for _ in range(60):
        page.keyboard.press("Tab")
        if wanted.evaluate("one => one === document.activeElement"):
            return
    raise AssertionError(f"{selector} cannot be reached by Tab")


def test_seeking_past_and_scripting_the_buttons_do_not_help(stand: Stand, visit: Open) -> None:
    at = visit(stand)
    page = at.page
    at.ready()
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("[data-ready] .part")
    at.ready()
    # Over every marked part in one jump, and rest behind it.
    with page.expect_response("**/api/view") as answer:
        page.evaluate("document.querySelectorAll('video').forEach(one => one.currentTime = 0.01)")
    assert answer.value.ok
    with page.expect_response("**/api/view") as answer:
        page.evaluate(
            "document.querySelectorAll('video').forEach(one => one.currentTime = one.duration)"
        )
    inside = page.evaluate(
        """[...document.querySelectorAll('.part')].some(part => {
          const video = document.querySelector(`[data-side=${part.dataset.side}] video`);
          const within = (at) => part.dataset.start <= at && at < part.dataset.end;
          return within(0.01) || within(video.duration);
        })"""
    )
    assert inside or answer.value.json()["seen"] == [False, False]
    page.evaluate(
        """() => {
          document.querySelectorAll('[disabled]').forEach(one => one.disabled = false);
          document.querySelectorAll('.part').forEach(one => one.dataset.seen = '1');
          document.querySelector('[name=confirmed]').checked = true;
          document.querySelector('[value=A]').checked = true;
          document.querySelector('#answer').requestSubmit();
        }"""
    )
    expect(page.locator("#state")).to_contain_text("not accepted: look at every marked part")
    assert [row.step for row in at.stored()] == ["choice"]


def test_a_double_click_is_one_vote(stand: Stand, visit: Open) -> None:
    at = visit(stand.with_rules(task=stand.site.rules.task))
    at.page.keyboard.press("1")
    at.page.dblclick("#send")
    at.page.wait_for_selector("[data-ready] .part")
    assert len(at.stored()) == 1
    # Back leads to what is next, not to the step that is over.
    at.page.go_back()
    at.page.goto(f"{at.address}/work")
    at.page.wait_for_selector("[data-ready] .part")


def test_two_tabs_are_one_vote(stand: Stand, visit: Open) -> None:
    at = visit(stand)
    other = at.context.new_page()
    other.goto(f"{at.address}/work")
    other.wait_for_selector("#answer[data-ready]")
    at.page.keyboard.press("1")
    at.page.click("#send")
    at.page.wait_for_selector("[data-ready] .part")
    other.keyboard.press("2")
    other.click("#send")
    expect(other.locator("#state")).to_contain_text("answered before")
    other.wait_for_selector("[data-ready] .part")
    (vote,) = at.stored()
    assert vote.answer["choice"] == "left"


def test_an_answer_lost_on_its_way_back_is_one_vote(stand: Stand, visit: Open) -> None:
    at = visit(stand)
    sent: list[str] = []

    def lose_the_first(route: Route) -> None:
        sent.append(route.request.post_data_json["vote"])
        if len(sent) == 1:
            route.fetch()  # the server has it, the page never hears of it
            route.abort()
        else:
            route.continue_()

    at.page.route("**/api/vote", lose_the_first)
    at.page.keyboard.press("1")
    at.page.click("#send")
    at.page.wait_for_selector("[data-ready] .part")
    assert len(sent) == 2
    assert sent[0] == sent[1]
    assert [row.id for row in at.stored()] == sent[:1]


def test_offline_then_online_even_over_a_reload(stand: Stand, visit: Open) -> None:
    at = visit(stand)
    at.context.set_offline(True)
    at.page.keyboard.press("1")
    at.page.click("#send")
    expect(at.page.locator("#state")).to_contain_text("No connection")
    assert at.stored() == []
    # The page is gone before the network is back: on its own it would go on by itself.
    with pytest.raises(PlaywrightError, match="ERR_INTERNET_DISCONNECTED"):
        at.page.goto(f"{at.address}/work")
    at.context.set_offline(False)
    at.page.goto(f"{at.address}/work")
    at.page.wait_for_selector("[data-ready] .part")
    assert len(at.stored()) == 1


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    folder = tmp_path_factory.mktemp("manifest")
    shutil.copy(sample / "frenchgp_1906_214x160.mp4", folder / "a.mp4")
    rows = [
        {
            "id": name,
            "video": "a.mp4",
            "prompt": f"{name}: {PROMPT}",
            "groups": {"model": "a model of nine"},
        }
        for name in ("one", "two")
    ]
    path = folder / "videos.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = [
        {"item": row["id"], "questions": ["Are there cars?", "Is it <b>night</b>?"]} for row in rows
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))
    return path


def test_rating(manifest: Path, tmp_path: Path, visit: Open) -> None:
    with open_stand(manifest, str(tmp_path / "r.sqlite"), "rate") as stand:
        at = visit(stand)
        at.ready()
        first = at.sitting()
        assert "a model of nine" not in at.page.content()
        at.page.keyboard.press("4")
        at.page.locator("label", has_text="3.5").click()
        at.page.keyboard.press("Control+Enter")
        at.wait_for_another(first)
        assert [row.score for row in at.rows()] == [3.5]
        second = at.sitting()
        at.page.keyboard.press("0")
        at.page.keyboard.press("Control+Enter")
        at.wait_for_another(second)
        assert "That is all" in at.page.content()
        assert at.troubles == []


def test_questions(manifest: Path, tmp_path: Path, visit: Open) -> None:
    asked = manifest.with_name("questions.jsonl")
    with open_stand(manifest, str(tmp_path / "q.sqlite"), "questions", questions=asked) as stand:
        at = visit(stand)
        first = at.sitting()
        expect(at.page.locator("text=Is it <b>night</b>?")).to_be_visible()
        at.page.check('input[name="q:1"][value="1"]')
        assert at.page.locator("#send").is_disabled()
        at.page.check('input[name="q:2"][value="0"]')
        at.page.click("#send")
        at.wait_for_another(first)
        assert [row.answers for row in at.rows()] == [{"1": 1, "2": 0}]


def test_a_brief_text_stands_above_and_needs_no_search(
    manifest: Path, tmp_path: Path, visit: Open
) -> None:
    with open_stand(manifest, str(tmp_path / "p.sqlite"), "rate") as stand:
        at = visit(stand)
        at.ready()
        places = at.page.evaluate(
            "['.prompt', '.stage', '.answer'].map(one =>"
            " document.querySelector(one).getBoundingClientRect().top)"
        )
        assert places[0] < places[1] <= places[2]
        assert at.page.locator("#search").count() == 0
        at.page.keyboard.press("/")  # nothing to search, and nothing breaks
        assert at.troubles == []


def test_prompts(manifest: Path, tmp_path: Path, visit: Open) -> None:
    with open_stand(manifest, str(tmp_path / "p.sqlite"), "prompts") as stand:
        at = visit(stand)
        first = at.sitting()
        at.page.check("input[value=correct]")
        field = at.page.locator("textarea[name=text]")
        assert PROMPT in field.input_value()
        field.fill(CORRECTED)
        at.page.click("#send")
        at.wait_for_another(first)
        at.page.check("input[value=approve]")
        second = at.sitting()
        at.page.click("#send")
        at.wait_for_another(second)
        assert sorted((row.verdict, row.text) for row in at.rows()) == [
            ("approve", None),
            ("correct", CORRECTED),
        ]


def test_a_very_long_prompt_follows_and_is_searched(stand: Stand, visit: Open) -> None:
    caption = "A person walks along a very long street and looks at the houses one by one. " * 3
    clips = [[f"{caption} Number {n} of many.", n * 0.05, (n + 1) * 0.05] for n in range(300)]
    assert sum(len(clip[0]) for clip in clips) > 60_000  # type: ignore[arg-type]
    with stand.database.write() as connection:
        connection.execute(update(texts).values(clips=clips))
    at = visit(stand)
    at.ready()
    # The times of captions tell which scenes were moved or left out, so that they come last.
    assert at.page.locator("#lines li").count() == 300
    assert at.page.locator(".jump, #follow, [data-start]").count() == 0
    at.page.keyboard.press("1")
    at.page.keyboard.press("Control+Enter")
    at.page.wait_for_selector("[data-ready] .part")
    at.ready()
    at.page.evaluate("document.querySelectorAll('video').forEach(one => one.currentTime = 10.01)")
    now = at.page.locator("#lines li.now")
    expect(now).to_contain_text("Number 200 of many.")
    expect(now).to_be_in_viewport()
    at.page.keyboard.press("/")
    at.page.keyboard.type("NUMBER 77 OF")
    expect(at.page.locator("#found")).to_have_text("1 found")
    expect(at.page.locator("mark.here")).to_be_in_viewport()
    at.page.keyboard.press("Escape")
    at.page.locator("#lines li").nth(77).locator(".jump").click()
    until(at.page, "Math.abs(document.querySelector('video').currentTime - 3.85) < 0.1")


def test_players_move_together_or_alone(stand: Stand, visit: Open) -> None:
    at = visit(stand)
    at.ready()
    times = "[...document.querySelectorAll('video')].map(one => one.currentTime)"
    at.page.keyboard.press("Shift+ArrowRight")
    assert at.page.evaluate(times) == [5, 5]
    at.page.keyboard.press("l")
    at.page.keyboard.press("ArrowRight")
    assert at.page.evaluate(times) == [6, 5]
    at.page.locator(".seek").nth(1).fill("2")
    assert at.page.evaluate(times) == [6, 2]
    at.page.keyboard.press("+")
    at.page.keyboard.press("+")
    rates = "[...document.querySelectorAll('video')].map(one => one.playbackRate)"
    assert at.page.evaluate(rates) == [1.5, 1.5]


NASTY = "<script>alert(1)</script><img src=//evil.example onerror=alert(2)><svg onload=alert(3)>"


def test_hostile_texts_are_only_texts(stand: Stand, visit: Open) -> None:
    with stand.database.write() as connection:
        clips = [[NASTY, 0.0, 50.0], ["A dog.", 50.0, 99.0]]
        connection.execute(update(texts).values(prompt=NASTY, clips=clips))
    at = visit(stand)
    at.ready()
    expect(at.page.locator(".said").first).to_have_text(NASTY)
    at.page.fill("#search", "<script>")
    expect(at.page.locator("#found")).to_have_text("1 found")
    at.page.click("summary:has-text('Remark')")
    at.page.fill("[name=comment]", NASTY)
    at.page.check("input[value=left]")
    at.page.click("#send")
    at.page.wait_for_selector("[data-ready] .part")
    at.page.goto(f"{at.address}/join#{OPERATOR}")
    at.page.wait_for_selector("text=At work now")
    (row,) = at.rows()
    at.page.goto(f"{at.address}/operator/worker/{row.worker}")
    expect(at.page.locator(".remarked").first).to_contain_text("<script>alert(1)</script>")
    assert at.troubles == []


HOSTILE = f"</title></textarea></script>{NASTY}\u2028\u2029\u0085\u202edesrever\u2066 {{7*7}}"
LONG = HOSTILE + "x" * 100_000
# Elements that only a text could have brought, a page wider than its window, and words beside a
# text that turns their order around.
HARM = """() => {
  document.body.normalize();  // older browsers keep a long text in parts
  const harm = [...document.querySelectorAll('svg[onload], [onerror], script:not([src])')];
  const found = harm.map(one => one.outerHTML.slice(0, 80));
  const width = document.documentElement.scrollWidth;
  if (width > innerWidth) found.push(`${width} wide`);
  const turning = /\\u202e/;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    let block = text.parentElement;
    if (!turning.test(text.data) || !block.checkVisibility()) continue;
    const isolated = (one) => /isolate|plaintext/.test(getComputedStyle(one).unicodeBidi);
    while (getComputedStyle(block).display === 'inline' && !isolated(block)) {
      block = block.parentElement;
    }
    const words = text.data.trim();
    const alone = block.textContent.trim() === words && words.lastIndexOf('</title>') <= 0;
    if (!alone) found.push(`beside: ${block.outerHTML.slice(0, 80)}`);
  }
  return found;
}"""


def make_hostile(stand: Stand) -> None:
    """Put the text wherever the store has words of somebody else."""
    with stand.database.write() as connection:
        connection.execute(update(texts).values(prompt=LONG, clips=[[LONG, 0.0, 99.0]]))
        for number in connection.execute(select(units.c.id)).scalars().all():
            row = {"key": f"{LONG}{number}", "source": LONG, "video": LONG, "name": LONG}
            asked = [{"id": "1", "text": LONG}, {"id": "2", "text": HOSTILE}]
            row |= {"groups": {HOSTILE: LONG}, "questions": asked}
            connection.execute(update(units).where(units.c.id == number).values(row))
        for number in connection.execute(select(files.c.id)).scalars().all():
            connection.execute(
                update(files).where(files.c.id == number).values(path=f"{LONG}{number}")
            )


@pytest.mark.parametrize("task", ["check", "prompts", "questions", "arena"])
def test_hostile_texts_on_every_page(
    testbed: Path, manifest: Path, tmp_path: Path, visit: Open, task: str
) -> None:
    asked = {"questions": manifest.with_name("questions.jsonl")} if task == "questions" else {}
    place = testbed if task in ("check", "arena") else manifest
    told = "pairs" if task == "arena" else task
    with open_stand(place, str(tmp_path / "h.sqlite"), told, **asked) as stand:
        make_hostile(stand)
        if task == "arena":
            with stand.database.write() as connection:
                values = {"task": "arena", "models": [HOSTILE, LONG]}
                connection.execute(update(units).values(values))
        rules = {"task": VoteTask(task), "ties": task == "arena", "most": 1}
        finish = Finish(HOSTILE, "https://example.org/{code}")
        site = replace(stand.with_rules(**rules).site, consent=LONG, finish=finish)
        at = visit(Stand(site), begin=False)
        page, harm = at.page, []

        def look(path: str = "") -> None:
            if path:
                page.goto(f"{at.address}{path}")
            page.wait_for_load_state()  # with its styles
            harm.extend(f"{page.url}: {one}" for one in page.evaluate(HARM))

        (invitation,) = invite(stand.database, 1)
        page.goto(f"{at.address}/join#{invitation.token}")
        page.wait_for_selector("text=I have read this")
        look()
        page.click("text=I have read this")
        page.wait_for_selector("button:text-is('Begin')")
        look()
        page.click("button:text-is('Begin')")
        page.wait_for_selector("#answer[data-ready]")
        at.ready()
        look()
        page.click("summary:has-text('Remark')")
        page.fill("[name=comment]", LONG[:100_000])
        for choice in ("input[value=left]", "input[value=approve]"):
            if page.locator(choice).count():
                page.check(choice)
        for number in ("1", "2"):
            if page.locator(f'input[name="q:{number}"]').count():
                page.check(f'input[name="q:{number}"][value="1"]')
        page.click("#send")
        if task == "check":
            page.wait_for_selector("[data-ready] .part")
            at.ready()
        else:
            page.wait_for_selector("text=thank you")
        look()
        page.goto(f"{at.address}/join#{OPERATOR}")
        page.wait_for_selector("text=At work now")
        look()
        exclude(stand.database, invitation.label, HOSTILE)
        with stand.database.read() as connection:
            number = connection.scalar(select(votes.c.unit_id))
        for path in ("", "/units", f"/unit/{number}", f"/worker/{invitation.label}"):
            look(f"/operator{path}")
        assert harm == [], "\n".join(harm)
        assert at.troubles == []


CONTRAST = """() => {
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map(Number).map(value => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (one) => {
    for (; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (!colour.endsWith(', 0)')) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const low = [];
  const looked = 'p, h1, h2, label, button, summary, legend, kbd, time, output';
  for (const one of document.querySelectorAll(looked)) {
    if (!one.innerText || !one.checkVisibility() || one.matches(':disabled, :disabled *')) continue;
    const both = [luminance(getComputedStyle(one).color), luminance(behind(one))];
    const [dark, light] = both.sort((a, b) => a - b);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 4.5) low.push(`${one.tagName} ${one.className} ${ratio.toFixed(2)}`);
  }
  return low;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_width_and_both_lights(stand: Stand, visit: Open, scheme: Any) -> None:
    at = visit(stand, color_scheme=scheme)
    at.page.keyboard.press("1")

    def looks_right() -> None:
        at.page.wait_for_load_state("load")
        for width in (360, 820, 1280, 1920):
            at.page.set_viewport_size({"width": width, "height": 800})
            wide = at.page.evaluate("document.scrollingElement.scrollWidth")
            assert wide <= width, (at.page.url, width)
        # WCAG 2.2, 1.4.3: at least 4.5 to 1.
        assert at.page.evaluate(CONTRAST) == []

    looks_right()
    at.page.click("#send")
    at.page.wait_for_selector("[data-ready] .part")
    looks_right()
    at.page.goto(f"{at.address}/join#{OPERATOR}")
    at.page.wait_for_selector("text=At work now")
    looks_right()


@pytest.mark.parametrize("code", ["en", "ja"])
def test_flashing_pairs_are_announced_and_wait(stand: Stand, visit: Open, code: str) -> None:
    words = read_language(code)
    with stand.database.write() as connection:
        assert connection.execute(select(files.c.flashes)).scalars().all().count(None) == 0
        connection.execute(update(files).values(flashes=12))
    at = visit(stand, viewport={"width": 400, "height": 800})
    page = at.page
    if code != "en":
        with stand.database.write() as connection:
            connection.execute(update(workers).values(language=code))
        page.goto(f"{at.address}/work")
        page.wait_for_selector("#answer[data-ready]")
    expect(page.get_by_role("alert")).to_contain_text(words.text("flash.title"))
    assert page.locator("video").first.is_hidden()
    page.keyboard.press("Space")
    page.evaluate("document.querySelectorAll('video').forEach(one => one.play().catch(() => {}))")
    page.wait_for_timeout(300)
    assert page.evaluate("[...document.querySelectorAll('video')].every(one => one.paused)")
    page.click(f"button:text-is('{words.text('flash.show')}')")
    expect(page.locator("video").first).to_be_visible()
    at.ready()
    page.keyboard.press("Space")
    until(page, "[...document.querySelectorAll('video')].every(one => one.currentTime > 0.1)")
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("[data-ready] .part")
    assert page.locator("#flash").count() == 0  # once is enough
    assert at.troubles == []


def test_an_arena_waits_until_enough_was_played(tmp_path: Path, visit: Open) -> None:
    rows = []
    for number, (prompt, model) in enumerate(
        (prompt, model) for prompt in ("A square.", "A moving square.") for model in ("m8", "m9")
    ):
        film(tmp_path / f"{number}.mp4")
        item = {"id": f"i{number}", "video": f"{number}.mp4", "prompt": prompt}
        rows.append(json.dumps(item | {"groups": {"model": model}}))
    path = tmp_path / "videos.jsonl"
    path.write_text("\n".join(rows))
    example = {"unit": "i0 : i1", "answer": "tie", "example": "They are <b>the same</b>."}
    (tmp_path / "gold.jsonl").write_text(json.dumps(example))
    rules = {"ties": True, "watch": 0.5}
    with open_stand(
        path, str(tmp_path / "a.sqlite"), "arena", rules=rules, gold=tmp_path / "gold.jsonl"
    ) as stand:
        at = visit(stand)
        at.ready()
        assert "An example." in at.page.inner_text("main")
        assert "m8" not in at.page.content()
        at.page.keyboard.press("3")
        send = at.page.locator("#send")
        assert send.is_disabled()
        assert "50%" in at.page.inner_text("#watched")
        at.page.keyboard.press("Control+Enter")  # too early: nothing is sent
        at.page.click("#play")
        expect(send).to_be_enabled()
        assert "you can send" in at.page.inner_text("#watched")
        at.page.keyboard.press("Control+Enter")
        lesson = at.page.locator("#lesson")
        expect(lesson).to_be_visible()
        assert read_language("en").text("example.right") in lesson.inner_text()
        assert "They are <b>the same</b>." in lesson.inner_text()
        first = at.sitting()
        at.page.click("#go-on")
        at.wait_for_another(first)
        assert "An example." not in at.page.inner_text("main")
        (row,) = at.rows()
        assert (row.choice, row.gold) == ("tie", True)
        assert min(row.watched.values()) >= 0.49
        assert at.troubles == []
