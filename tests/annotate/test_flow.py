"""A worker's way through the app, and what the server refuses on it."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import select, update

from screentest.annotate.schema import sittings, votes
from tests.annotate.stand import Page, Stand


def look_at_all(stand: Stand, page: Page) -> None:
    """Report an honest second in every marked part; the clock is put back to allow for it."""
    with stand.database.write() as connection:
        connection.execute(update(sittings).values(step_at=time.time() - 60))
    for side, start, _ in page.parts:
        answer = page.view(**{side: [{"from": start, "to": start + 1, "rate": 1}]})
        assert answer.status_code == 200


def test_from_the_link_to_the_vote(stand: Stand) -> None:
    person = stand.worker(consented=False)
    assert "Before you begin" in person.client.get("/work").text
    person.form("/consent")
    assert "Begin" in person.client.get("/work").text
    page = person.begin()
    assert page.step == "choice"
    assert len(page.videos) == 2
    assert page.parts == []
    assert page.vote({"choice": "left"}).json() == {"repeated": False, "finished": False}
    second = person.page()
    assert (second.step, second.sitting) == ("check", page.sitting)
    assert len(second.parts) == 2
    look_at_all(stand, second)
    answer = second.vote({"rating": "A", "confirmed": True})
    assert answer.json() == {"repeated": False, "finished": True}
    assert person.page().sitting != page.sitting


def test_the_choice_is_stored_as_the_video_that_was_chosen(stand: Stand) -> None:
    page = stand.worker().begin()
    page.vote({"choice": "right"})
    with stand.database.read() as connection:
        sitting = connection.execute(select(sittings)).one()
        vote = connection.execute(select(votes)).one()
    # left_video 0: the intact (first) video is on the left, so right is the second.
    expected = "second" if sitting.left_video == 0 else "first"
    assert vote.answer == {"choice": "right", "picked": expected}


def test_no_rating_before_every_part_was_looked_at(stand: Stand) -> None:
    person = stand.worker()
    person.begin().vote({"choice": "left"})
    page = person.page()
    rating = {"rating": "A", "confirmed": True}
    refused = page.vote(rating)
    assert (refused.status_code, refused.json()["error"]) == (409, "unseen")
    with stand.database.write() as connection:
        connection.execute(update(sittings).values(step_at=time.time() - 60))
    side, start, _ = page.parts[0]
    seen = page.view(**{side: [{"at": start + 0.1, "rest": 0.6}]}).json()["seen"]
    assert seen == [True, False]
    assert page.vote(rating).json()["error"] == "unseen"
    side, start, _ = page.parts[1]
    page.view(**{side: [{"from": start, "to": start + 1.5, "rate": 1.5}]})
    assert page.vote({"rating": "A"}).status_code == 422  # not confirmed
    assert page.vote(rating).status_code == 200


def test_nobody_watches_faster_than_the_clock(stand: Stand) -> None:
    person = stand.worker()
    person.begin().vote({"choice": "left"})
    page = person.page()
    claims = {
        "left": [{"from": 0, "to": 15, "rate": 2}],
        "right": [{"from": 0, "to": 15, "rate": 2}],
    }
    refused = page.view(**claims)
    assert (refused.status_code, refused.json()["error"]) == (422, "implausible")
    assert page.view(left=[{"from": 0, "to": 1, "rate": 16}]).status_code == 422
    assert page.view(left=[{"nonsense": 1}]).status_code == 422
    assert page.view(left=[{"at": -1, "rest": 1}]).status_code == 422
    assert page.view(left=[{"at": True, "rest": "1"}]).status_code == 422


def test_a_clock_that_jumps_gives_no_time_and_takes_none(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = stand.worker()
    person.begin().vote({"choice": "left"})
    page, honest = person.page(), [{"from": 0, "to": 0.9, "rate": 1}]
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 600)
    assert page.view(left=[{"from": 0, "to": 15, "rate": 2}]).json()["error"] == "implausible"
    monkeypatch.setattr(time, "time", lambda: now - 600)
    assert page.view(left=honest).status_code == 200
    # The app was stopped, and the clock put back, before it started again.
    with stand.database.write() as connection:
        connection.execute(update(sittings).values(step_at=now + 600))
    assert page.view(right=honest).status_code == 200
    faster = page.view(right=[{"from": 0, "to": 15, "rate": 2}])
    assert faster.json()["error"] == "implausible"
    for side, start, _ in page.parts:
        with stand.database.write() as connection:
            connection.execute(update(sittings).values(step_at=now - 60))
        assert page.view(**{side: [{"from": start, "to": start + 1, "rate": 1}]}).status_code == 200
    with stand.database.write() as connection:
        connection.execute(update(sittings).values(step_at=now + 600))
    assert page.vote({"rating": "A", "confirmed": True}).status_code == 200
    with stand.database.read() as connection:
        assert min(connection.scalars(select(votes.c.seconds))) >= 0


def test_viewing_before_the_marks_were_shown_does_not_count(stand: Stand) -> None:
    person = stand.worker()
    page = person.begin()
    with stand.database.write() as connection:
        connection.execute(update(sittings).values(step_at=time.time() - 120))
    everything = [{"from": 0, "to": 40, "rate": 1}]
    assert page.view(left=everything, right=everything).status_code == 200
    page.vote({"choice": "left"})
    assert person.page().vote({"rating": "A", "confirmed": True}).json()["error"] == "unseen"


def test_a_click_is_one_vote_however_often_it_arrives(stand: Stand) -> None:
    page = stand.worker().begin()
    first = page.vote({"choice": "left"}, vote="a" * 32)
    again = page.vote({"choice": "left"}, vote="a" * 32)
    other = page.vote({"choice": "right"}, vote="b" * 32)
    assert first.json() == {"repeated": False, "finished": False}
    assert again.json() == {"repeated": True, "finished": False}
    assert (other.status_code, other.json()["error"]) == (409, "answered")
    with stand.database.read() as connection:
        (vote,) = connection.execute(select(votes)).all()
    assert (vote.id, vote.answer["choice"]) == ("a" * 32, "left")


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"choice": "middle"},
        {"choice": "same"},
        {"choice": None},
        {"choice": ["left"]},
        {"rating": "A", "confirmed": True},
    ],
)
def test_what_is_no_answer_is_no_vote(stand: Stand, answer: object) -> None:
    assert stand.worker().begin().vote(answer).status_code == 422
    with stand.database.read() as connection:
        assert connection.execute(select(votes)).all() == []


def test_steps_come_in_their_order(stand: Stand) -> None:
    page = stand.worker().begin()
    body = {"vote": "c" * 32, "sitting": page.sitting, "step": "check"}
    answer = page.person.post("/api/vote", body | {"answer": {"rating": "A", "confirmed": True}})
    assert (answer.status_code, answer.json()["error"]) == (409, "order")


def test_a_remark_of_any_kind_is_kept(stand: Stand) -> None:
    remark = "é\u2028<b>\U0001f600\x00" * 12_500
    page = stand.worker().begin()
    assert page.vote({"choice": "left"}, comment=remark).status_code == 200
    with stand.database.read() as connection:
        assert connection.execute(select(votes.c.comment)).scalar_one() == remark.replace("\0", "�")
    assert page.vote({"choice": "left"}, vote="d" * 32, comment="x" * 100_001).status_code == 409


def test_the_language_is_the_workers(stand: Stand) -> None:
    person = stand.worker()
    person.form("/language", code="ja")
    assert "どちらの動画が良いか" in person.client.get("/work").text
    assert person.form("/language", code="xx").status_code == 422


def test_a_browsers_wish_decides_at_first(stand: Stand) -> None:
    person = stand.worker(consented=False)
    page = person.client.get("/work", headers={"Accept-Language": "fr, ja-JP;q=0.8, en;q=0.5"})
    assert "始める前に" in page.text
