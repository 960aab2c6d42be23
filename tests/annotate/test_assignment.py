"""Who gets what: votes per unit, nobody twice, leases, gold, sides."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from screentest.annotate.assignment import next_sitting, share_to_watch
from screentest.annotate.people import exclude, invite
from screentest.annotate.schema import sittings, units, votes, workers
from screentest.judges.votes import VoteTask
from tests.annotate.stand import Stand, open_stand


@pytest.fixture
def pairs(testbed: Path, tmp_path: Path) -> Stand:
    with open_stand(testbed, str(tmp_path / "pairs.sqlite"), "pairs", rules={"votes": 2}) as stand:
        yield stand  # type: ignore[misc]


def people(stand: Stand, count: int) -> list[int]:
    labels = [one.label for one in invite(stand.database, count)]
    with stand.database.read() as connection:
        rows = connection.execute(select(workers.c.id, workers.c.label)).all()
    known = {row.label: row.id for row in rows}
    return [known[label] for label in labels]


def finish(stand: Stand, sitting: str) -> None:
    with stand.database.write() as connection:
        row = connection.execute(select(sittings).where(sittings.c.id == sitting)).one()
        connection.execute(
            update(sittings).where(sittings.c.id == sitting).values(done_at=time.time())
        )
        connection.execute(
            update(units).where(units.c.id == row.unit_id).values(votes=units.c.votes + 1)
        )


def unit_of(stand: Stand, sitting: str) -> str:
    with stand.database.read() as connection:
        return str(
            connection.execute(
                select(units.c.key)
                .select_from(sittings.join(units))
                .where(sittings.c.id == sitting)
            ).scalar_one()
        )


def test_every_unit_gets_its_votes_and_nobody_one_twice(pairs: Stand) -> None:
    given: Counter[str] = Counter()
    for worker in people(pairs, 3):
        mine = []
        while (sitting := next_sitting(pairs.database, worker, pairs.site.rules)) is not None:
            mine.append(unit_of(pairs, sitting))
            finish(pairs, sitting)
        assert len(mine) == len(set(mine))
        given += Counter(mine)
    # 2 films x 3 degradations, 2 votes each.
    assert sorted(given.values()) == [2] * 6


def test_those_at_work_count(pairs: Stand) -> None:
    rules = pairs.site.rules
    sat = [
        unit_of(pairs, next_sitting(pairs.database, one, rules) or "") for one in people(pairs, 12)
    ]
    assert sorted(Counter(sat).values()) == [2] * 6
    (late,) = people(pairs, 1)
    assert next_sitting(pairs.database, late, rules) is None


def test_asking_again_gives_the_same_until_it_is_done(pairs: Stand) -> None:
    (worker,) = people(pairs, 1)
    first = next_sitting(pairs.database, worker, pairs.site.rules)
    assert first == next_sitting(pairs.database, worker, pairs.site.rules)


def test_work_left_lying_comes_back(pairs: Stand) -> None:
    rules = pairs.site.rules
    sitters = people(pairs, 12)
    for one in sitters:
        next_sitting(pairs.database, one, rules)
    with pairs.database.write() as connection:
        connection.execute(
            update(sittings).where(sittings.c.worker_id == sitters[0]).values(expires_at=0.0)
        )
    (late,) = people(pairs, 1)
    taken = next_sitting(pairs.database, late, rules)
    assert taken is not None
    # Their place is taken now, so the first worker gets nothing of it back.
    assert next_sitting(pairs.database, sitters[0], rules) is None


def test_a_clock_put_forward_for_a_moment_holds_no_place(
    pairs: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, rules = time.time(), pairs.site.rules
    *gone, late = people(pairs, 13)
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: now + 10 * 365 * 86_400)
        taken = [next_sitting(pairs.database, one, rules) for one in gone]
        assert None not in taken
        assert next_sitting(pairs.database, late, rules) is None
    assert next_sitting(pairs.database, late, rules) is not None


def test_a_vote_after_the_time_counts_if_nobody_took_the_place(pairs: Stand) -> None:
    person = pairs.worker()
    page = person.begin()
    with pairs.database.write() as connection:
        connection.execute(update(sittings).values(expires_at=0.0))
    assert page.vote({"choice": "left"}).status_code == 200


def test_a_vote_after_the_time_is_refused_where_others_have_the_unit(pairs: Stand) -> None:
    stand = pairs.with_rules(votes=1)
    slow = stand.worker()
    page = slow.begin()
    with stand.database.write() as connection:
        connection.execute(update(sittings).values(expires_at=0.0))
    quick = stand.worker()
    taken = [quick.begin()]
    while taken[-1].open and unit_of(stand, taken[-1].sitting) != unit_of(stand, page.sitting):
        taken[-1].vote({"choice": "left"})
        taken.append(quick.page())
    csrf = slow.csrf
    body = {
        "vote": "v" * 32,
        "sitting": page.sitting,
        "step": "choice",
        "answer": {"choice": "left"},
    }
    refused = slow.post("/api/vote", body, csrf)
    assert (refused.status_code, refused.json()["error"]) == (409, "expired")


def test_sides_are_balanced_and_recorded(pairs: Stand) -> None:
    stand = pairs.with_rules(votes=6)
    for one in people(pairs, 6):
        while (sitting := next_sitting(stand.database, one, stand.site.rules)) is not None:
            finish(stand, sitting)
    with stand.database.read() as connection:
        rows = connection.execute(
            select(sittings.c.unit_id, func.sum(sittings.c.left_video)).group_by(sittings.c.unit_id)
        ).all()
    assert [count for _, count in rows] == [3] * 6


def test_a_film_seen_before_comes_last(pairs: Stand) -> None:
    (worker,) = people(pairs, 1)
    sources = []
    for _ in range(2):
        sitting = next_sitting(pairs.database, worker, pairs.site.rules)
        assert sitting is not None
        sources.append(unit_of(pairs, sitting).partition("/")[0])
        finish(pairs, sitting)
    assert set(sources) == {"birds", "birds-again"}


def test_the_excluded_get_nothing_and_can_come_back(pairs: Stand) -> None:
    person = pairs.worker()
    page = person.begin()
    exclude(pairs.database, person.label, "test")
    assert "no more tasks" in person.client.get("/work").text
    body = {
        "vote": "v" * 32,
        "sitting": page.sitting,
        "step": "choice",
        "answer": {"choice": "left"},
    }
    assert person.post("/api/vote", body).status_code == 403
    exclude(pairs.database, person.label, "a mistake", excluded=False)
    assert page.vote({"choice": "left"}).status_code == 200


def test_what_somebody_cannot_judge_goes_to_others(pairs: Stand) -> None:
    stand = pairs.with_rules(votes=1)
    person, other = stand.worker(), stand.worker()
    page = person.begin()
    mine = unit_of(stand, page.sitting)
    stolen = other.form("/skip", sitting=page.sitting)
    assert stolen.status_code == 303
    assert person.page().sitting == page.sitting  # only they themselves can let it go
    person.form("/skip", sitting=page.sitting)
    seen = []
    while (now := person.page()).open:
        seen.append(unit_of(stand, now.sitting))
        now.vote({"choice": "left"})
    assert mine not in seen
    assert len(seen) >= 4
    body = {"vote": "v" * 32, "sitting": page.sitting, "step": "choice"}
    assert person.post("/api/vote", body | {"answer": {"choice": "left"}}).status_code == 409


def test_gold_is_mixed_in_for_everybody_beyond_the_votes(testbed: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"unit": "birds/aesthetics/s1/n2"}) + "\n")
    rules = {"votes": 1, "gold_every": 2}
    with open_stand(testbed, str(tmp_path / "g.sqlite"), "pairs", rules=rules, gold=gold) as stand:
        for one in people(stand, 2):
            mine = []
            while (sitting := next_sitting(stand.database, one, stand.site.rules)) is not None:
                mine.append(unit_of(stand, sitting))
                finish(stand, sitting)
                if len(mine) == 3:
                    break
            assert mine[1] == "birds/aesthetics/s1/n2"


def test_many_at_once_on_sqlite(pairs: Stand) -> None:
    """Twelve threads ask at the same moment for the last places."""
    everybody = people(pairs, 12)
    given: list[str | None] = []
    ready = threading.Barrier(len(everybody))

    def ask(worker: int) -> None:
        ready.wait()
        given.append(next_sitting(pairs.database, worker, pairs.site.rules))

    threads = [threading.Thread(target=ask, args=(one,)) for one in everybody]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(Counter(unit_of(pairs, one or "") for one in given).values()) == [2] * 6


def test_a_testbed_that_grew_and_shrank_keeps_its_votes(testbed: Path, tmp_path: Path) -> None:
    from screentest.annotate.material import read_units
    from screentest.annotate.media import prepare_all
    from screentest.annotate.server import keep_units
    from screentest.judges.votes import VoteTask

    with open_stand(testbed, str(tmp_path / "k.sqlite"), "pairs") as stand:
        stand.worker().begin().vote({"choice": "left"})
        every = read_units(testbed, VoteTask.PAIRS)
        ready = prepare_all([video.path for unit in every for video in unit.videos], tmp_path)
        keep_units(stand.database, VoteTask.PAIRS, every[:2], ready)
        with stand.database.read() as connection:
            assert connection.execute(select(func.count()).select_from(votes)).scalar_one() == 1
            closed = connection.execute(select(units.c.closed)).scalars().all()
        assert Counter(closed) == {True: 4, False: 2}
        keep_units(stand.database, VoteTask.PAIRS, every, ready)
        with stand.database.read() as connection:
            assert set(connection.execute(select(units.c.closed)).scalars()) == {False}
            assert connection.execute(select(func.sum(units.c.votes))).scalar_one() == 1


def test_what_an_excluded_worker_finished_is_asked_of_another(pairs: Stand) -> None:
    first, second, third = people(pairs, 3)
    key = ""
    for worker in (first, second):
        sitting = next_sitting(pairs.database, worker, pairs.site.rules)
        assert sitting is not None
        key = unit_of(pairs, sitting)
        finish(pairs, sitting)
    with pairs.database.read() as connection:
        label = connection.scalar(select(workers.c.label).where(workers.c.id == first))
        of_unit = select(units.c.votes).where(units.c.key == key)
        assert connection.scalar(of_unit) == 2  # as many as there are to be
    assert label is not None
    exclude(pairs.database, label, "lazy")
    sitting = next_sitting(pairs.database, third, pairs.site.rules)
    assert sitting is not None
    assert unit_of(pairs, sitting) == key
    exclude(pairs.database, label, "not lazy", excluded=False)
    with pairs.database.read() as connection:
        assert connection.scalar(of_unit) == 2


def test_only_the_check_asks_for_no_share_of_the_films() -> None:
    assert [task for task in VoteTask if not share_to_watch(task)] == [VoteTask.CHECK]
