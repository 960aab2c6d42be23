"""Sitting: one answer per click, whatever happens to the network or the server in between.

A page makes an id for every click and sends it until it is acknowledged. The same id again is
the same vote; another id for a step that is already answered changes nothing.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, insert, select, update

from screentest.annotate.answers import (
    EXAMPLE,
    BadAnswer,
    Step,
    check_answer,
    check_comment,
    is_right,
    step_after,
)
from screentest.annotate.assignment import Rules, has_room, keep_alive
from screentest.annotate.schema import files, media, sittings, texts, units, views, votes
from screentest.annotate.store import Database, first_of, steady
from screentest.core.codec import from_object
from screentest.judges.votes import VoteTask

MAX_RATE: Final = 2.0
"""The fastest playback that the players offer and the server believes."""
ENOUGH_PLAYED: Final = 1.0
"""Seconds of an interval that must have been played; half of it where it is shorter."""
ENOUGH_REST: Final = 0.5
"""Seconds the playhead must have rested in it otherwise: a bar dragged across does not count."""
SLACK: Final = 1.0
"""Seconds by which a page may be ahead of the server's clock over a whole step."""
_MOST = 2000
_SAME_PLACE = 0.05


class Implausible(ValueError):
    """A report that is impossible."""


@dataclass(frozen=True, slots=True)
class Viewing:
    """What one player has shown in one step."""

    played: tuple[tuple[float, float], ...] = ()
    rests: tuple[tuple[float, float], ...] = ()
    """Where the playhead stood still, and for how many seconds."""
    spent: float = 0.0
    """Seconds of a person's time that all of it takes."""

    def with_play(self, start: float, end: float, rate: float) -> Viewing:
        if not 0 < rate <= MAX_RATE or not 0 <= start <= end:
            raise Implausible(f"nothing plays from {start} to {end} at {rate}")
        spent = self.spent + (end - start) / rate
        return Viewing(_merged([*self.played, (start, end)]), self.rests, spent)

    def with_rest(self, at: float, seconds: float) -> Viewing:
        if at < 0 or seconds < 0:
            raise Implausible(f"no playhead rests at {at} for {seconds} s")
        rests = list(self.rests)
        if rests and abs(rests[-1][0] - at) <= _SAME_PLACE:
            rests[-1] = (rests[-1][0], rests[-1][1] + seconds)
        else:
            rests.append((at, seconds))
        return Viewing(self.played, tuple(rests[-_MOST:]), self.spent + seconds)

    def has_seen(self, start: float, end: float) -> bool:
        """Return whether the playhead has been in an interval, not just crossed it."""
        shown = sum(max(0.0, min(end, stop) - max(start, begin)) for begin, stop in self.played)
        rested = sum(seconds for at, seconds in self.rests if start <= at < end)
        # Positions come as decimals; the last thousandth decides nothing.
        enough = min(ENOUGH_PLAYED, (end - start) / 2) - 1e-3
        return 0 < shown >= enough or rested >= ENOUGH_REST

    def share(self, duration: float) -> float:
        if duration <= 0:
            return 0.0
        shown = sum(max(0.0, min(stop, duration) - begin) for begin, stop in self.played)
        return min(1.0, max(0.0, shown) / duration)


def take_reports(before: Viewing, reports: Sequence[object], *, elapsed: float) -> Viewing:
    """Return what a page reports, added; raises Implausible where it contradicts the clock."""
    now = before
    for report in reports:
        now = _take(now, report)
    if now.spent > elapsed + SLACK:
        raise Implausible(f"{now.spent:.1f} s of viewing within {elapsed:.1f} s")
    return now


def _take(before: Viewing, report: object) -> Viewing:
    match report:
        case {"from": begin, "to": end, "rate": rate}:
            return before.with_play(finite(begin), finite(end), finite(rate))
        case {"at": at, "rest": seconds}:
            return before.with_rest(finite(at), finite(seconds))
    raise Implausible("a report is a stretch that was played, or a rest")


def finite(given: object) -> float:
    """Return a number that a page sent; raises Implausible where it is none."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise Implausible(f"a time is a number, not {type(given).__name__}")
    try:
        number = float(given)
    except OverflowError:  # a whole number of hundreds of digits
        number = math.inf
    if not math.isfinite(number):
        raise Implausible("no time is that long")
    return number


def _merged(stretches: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    merged: list[tuple[float, float]] = []
    for begin, end in sorted(stretches):
        if merged and begin <= merged[-1][1] + _SAME_PLACE:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return tuple(merged[:_MOST])


VOTE_ID: Final = re.compile(r"[A-Za-z0-9_-]{16,64}", re.ASCII)


class Refused(Exception):
    """A vote that is not taken, and why; ``code`` says it to the page."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Taken:
    """A vote that is in the database."""

    repeated: bool
    """It had been taken before."""
    finished: bool
    """It was the last step."""
    lesson: Lesson | None = None
    """What the answer to an example should have been."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """After an example: whether the answer was the expected one, and why that is expected."""

    right: bool
    why: str
    expected: str
    """``left``, ``right`` or ``same``; empty where two videos are not compared."""


def take_vote(
    database: Database,
    worker: int,
    rules: Rules,
    *,
    vote: str,
    sitting: str,
    step: str,
    answer: object,
    comment: object = None,
) -> Taken:
    """Store an answer; raises Refused or BadAnswer. When it returns, the vote is on disk."""
    if not VOTE_ID.fullmatch(vote):
        raise BadAnswer("a vote needs an id of 16 to 64 letters and digits")
    with database.write() as connection:
        # The unit first, then the sitting: the order in which work is handed out. Votes on one unit
        # wait for each other, so that each sees how many there are.
        about = select(sittings.c.unit_id).where(sittings.c.id == sitting).scalar_subquery()
        unit = first_of(connection, units, locked=True, id=about)
        row = first_of(connection, sittings, locked=True, id=sitting)
        if unit is None or row is None or row.worker_id != worker:
            raise Refused("unknown", "this is not one of your tasks")
        earlier = first_of(connection, votes, sitting_id=sitting, step=step)
        if earlier is not None:
            if earlier.id != vote:
                raise Refused("answered", "this has been answered already; the first answer stays")
            lesson = _lesson(unit, row, earlier.answer)
            return Taken(True, row.done_at is not None, lesson)
        if first_of(connection, votes, id=vote) is not None:
            raise BadAnswer("a vote needs an id of its own")
        return _store(connection, unit, row, rules, vote, step, answer, comment)


def _store(
    connection: Connection,
    unit: Row[Any],
    sitting: Row[Any],
    rules: Rules,
    vote: str,
    step: str,
    answer: object,
    comment: object,
) -> Taken:
    if sitting.step != step or sitting.done_at is not None:
        raise Refused("order", "this step is not the next one")
    now = time.time()
    full = unit.gold is None and unit.votes >= rules.votes
    late = sitting.expires_at <= now
    if full or (late and not has_room(connection, unit, sitting.worker_id, rules)):
        raise Refused("expired", "its time ran out and somebody else has it now")
    if unit.closed or sitting.skipped:
        raise Refused("closed", "this is no longer asked")
    checked = check_answer(
        Step(step),
        answer,
        questions=[question["id"] for question in unit.questions],
        ties=rules.ties,
        prompt=prompt_of(connection, unit) if step == Step.REVIEW else "",
    )
    if step == Step.CHECK and not all(seen_marks(connection, sitting, unit)):
        raise Refused("unseen", "look at every marked part first")
    watched = watched_shares(connection, sitting)
    # Positions come as decimals: the last hundredth decides nothing.
    if step != Step.CHECK and any(share < rules.watch - 0.01 for share in watched.values()):
        raise Refused("unwatched", f"play at least {rules.watch:.0%} of each video first")
    if "choice" in checked:
        checked["picked"] = picked_video(checked["choice"], sitting.left_video)
    connection.execute(
        insert(votes).values(
            id=vote,
            sitting_id=sitting.id,
            unit_id=unit.id,
            worker_id=sitting.worker_id,
            step=step,
            answer=checked,
            comment=check_comment(comment),
            seconds=max(0.0, steady() - sitting.step_at),
            watched=watched,
            at=now,
        )
    )
    following = step_after(VoteTask(unit.task), Step(step))
    change = update(sittings).where(sittings.c.id == sitting.id)
    if following is not None:
        later = {"step": following.value, "step_at": steady(), "expires_at": now + rules.lease}
        connection.execute(change.values(later))
        return Taken(False, False)
    connection.execute(change.values(done_at=now))
    connection.execute(update(units).where(units.c.id == unit.id).values(votes=units.c.votes + 1))
    return Taken(False, True, _lesson(unit, sitting, checked))


def _lesson(unit: Row[Any], sitting: Row[Any], answer: Mapping[str, Any]) -> Lesson | None:
    if unit.gold is None or EXAMPLE not in unit.gold:
        return None
    first, second = side_of(0, sitting.left_video), side_of(1, sitting.left_video)
    sides = {"first": first, "second": second, "tie": "same"}
    expected = sides.get(unit.gold.get("picked", ""), "")
    return Lesson(is_right(answer, unit.gold), unit.gold[EXAMPLE], expected)


def take_views(
    database: Database,
    worker: int,
    rules: Rules,
    sitting: str,
    step: str,
    reports: Mapping[str, Sequence[object]],
) -> tuple[list[bool], dict[str, float]]:
    """Note where the playheads were; raises Implausible where the clock contradicts the page.

    Returns for each marked part whether it was looked at, none before they are shown; and by side
    how much of the video was played.
    """
    with database.write(durable=False) as connection:
        row = first_of(connection, sittings, id=sitting)
        if row is not None and row.expires_at <= time.time():
            # Who comes back late may go on only if nobody was given the place.
            unit = first_of(connection, units, locked=True, id=row.unit_id)
            assert unit is not None
            if row.done_at is None and not has_room(connection, unit, worker, rules):
                raise Refused("expired", "its time ran out and somebody else has it now")
        row = first_of(connection, sittings, locked=True, id=sitting)
        if row is None or row.worker_id != worker:
            raise Refused("unknown", "this is not one of your tasks")
        if row.step != step or row.done_at is not None:
            raise Refused("order", "this step is over")
        elapsed, spent = steady() - row.step_at, 0.0
        put_back = elapsed < 0  # the clock, before the app was started again
        for side, claimed in reports.items():
            before = _viewing(connection, row, side)
            limit = math.inf if put_back else elapsed
            viewing = take_reports(before or Viewing(), claimed, elapsed=limit)
            after, spent = asdict(viewing), max(spent, viewing.spent)
            here = {"sitting_id": row.id, "step": row.step, "side": side}
            if before is None:
                connection.execute(insert(views).values(here | {"viewing": after}))
            else:
                connection.execute(update(views).filter_by(**here).values(viewing=after))
        if put_back:
            began = update(sittings).where(sittings.c.id == row.id)
            connection.execute(began.values(step_at=steady() - spent))
        keep_alive(connection, row.id, rules)
        unit = connection.execute(select(units).where(units.c.id == row.unit_id)).one()
        seen = seen_marks(connection, row, unit) if step == Step.CHECK else []
        return seen, watched_shares(connection, row)


def seen_marks(connection: Connection, sitting: Row[Any], unit: Row[Any]) -> list[bool]:
    """For each harmed stretch, whether the worker has looked at it since it was marked."""
    looked = {
        video: _viewing(connection, sitting, side_of(video, sitting.left_video)) or Viewing()
        for video in (0, 1)
    }
    return [looked[mark["video"]].has_seen(mark["start"], mark["end"]) for mark in unit.marks]


def side_of(video: int, left_video: int) -> str:
    """Return where a video of the unit stands."""
    return "left" if video == left_video else "right"


def gold_answers(connection: Connection) -> list[tuple[int, bool]]:
    """For each answer to a gold item: the worker, and whether it was right."""
    rows = connection.execute(
        select(votes.c.worker_id, votes.c.answer, votes.c.step, units.c.gold)
        .select_from(votes.join(units))
        .where(units.c.gold.is_not(None), votes.c.step != Step.CHECK.value)
    )
    return [
        (row.worker_id, is_right(row.answer, row.gold))
        for row in rows
        if EXAMPLE not in row.gold  # there to learn from
    ]


def picked_video(choice: str, left_video: int) -> str:
    """Return the chosen side as a video of the unit."""
    if choice == "same":
        return "tie"
    return "first" if (choice == "left") == (left_video == 0) else "second"


def prompt_of(connection: Connection, unit: Row[Any]) -> str:
    """Return the text that a unit is judged by."""
    return str(connection.scalar(select(texts.c.prompt).where(texts.c.id == unit.text_id)))


def _viewing(connection: Connection, sitting: Row[Any], side: str) -> Viewing | None:
    here = {"sitting_id": sitting.id, "step": sitting.step, "side": side}
    stored = connection.scalar(select(views.c.viewing).filter_by(**here))
    return None if stored is None else from_object(Viewing, stored)


def watched_shares(connection: Connection, sitting: Row[Any]) -> dict[str, float]:
    """Return how much of each video was played in this step."""
    rows = connection.execute(
        select(media.c.side, files.c.seconds)
        .select_from(media.join(files))
        .where(media.c.sitting_id == sitting.id)
    )
    return {
        row.side: round(
            (_viewing(connection, sitting, row.side) or Viewing()).share(row.seconds), 4
        )
        for row in rows
    }
