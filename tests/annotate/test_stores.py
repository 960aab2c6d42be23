"""Both databases, with the same promises: nothing lost, nothing twice, whoever dies when."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import httpx2
import pytest
from sqlalchemy import event, func, select, text, update

from screentest.annotate.assignment import next_sitting
from screentest.annotate.material import read_units
from screentest.annotate.media import prepare_all
from screentest.annotate.people import invite
from screentest.annotate.schema import MIGRATIONS, metadata, sittings, units, votes, workers
from screentest.annotate.server import keep_units, media_folder
from screentest.annotate.store import Database, open_database
from screentest.core import BadOption, RunTooNew, StorageError, UserError
from screentest.judges.votes import VoteTask
from tests.annotate import postgres
from tests.annotate.load import hammer
from tests.annotate.stand import (
    OPERATOR,
    Person,
    Stand,
    end_process,
    open_stand,
    served,
    start_process,
)


@pytest.fixture(scope="session")
def server() -> Iterator[postgres.Server]:
    try:
        with postgres.running() as running:
            yield running
    except postgres.Missing as error:
        pytest.skip(str(error))


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "votes.sqlite")
    url: str = request.getfixturevalue("server").url
    database = Database(url)
    with database.write() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    database.close()
    return url


def test_a_session(testbed: Path, store: str) -> None:
    with open_stand(testbed, store, "check") as stand:
        person = stand.worker()
        page = person.begin()
        remark = "é\U0001f600\x00"
        assert page.vote({"choice": "left"}, vote="a" * 32, comment=remark).status_code == 200
        assert page.vote({"choice": "left"}, vote="a" * 32).json()["repeated"] is True
        assert page.vote({"choice": "right"}).json()["error"] == "answered"
        second = person.page()
        assert second.vote({"rating": "A", "confirmed": True}).json()["error"] == "unseen"
        assert second.view(left=[{"at": 0.5, "rest": 0.1}]).status_code == 200
        assert second.view(left=[{"at": 0.5, "rest": 0.1}]).status_code == 200
        with stand.database.read() as connection:
            (vote,) = connection.execute(select(votes)).all()
        assert vote.comment == "é\U0001f600�"


def test_many_at_once(testbed: Path, store: str) -> None:
    """Twice as many as there are places ask at the same moment."""
    with open_stand(testbed, store, "pairs", rules={"votes": 2}) as stand:
        labels = {one.label for one in invite(stand.database, 24)}
        with stand.database.read() as connection:
            rows = connection.execute(select(workers.c.id, workers.c.label)).all()
        everybody = [row.id for row in rows if row.label in labels]
        ready = threading.Barrier(len(everybody))
        given: list[str | None] = []

        def ask(worker: int) -> None:
            ready.wait()
            given.append(next_sitting(stand.database, worker, stand.site.rules))

        threads = [threading.Thread(target=ask, args=(one,)) for one in everybody]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(one is not None for one in given) == 12
        with stand.database.read() as connection:
            counts = connection.execute(
                select(func.count()).select_from(sittings).group_by(sittings.c.unit_id)
            ).scalars()
            assert list(counts) == [2] * 6


def test_one_click_from_many_threads_is_one_vote(testbed: Path, store: str) -> None:
    from screentest.annotate.sitting import Refused, take_vote

    with open_stand(testbed, store, "pairs") as stand:
        (one,) = invite(stand.database, 1)
        with stand.database.read() as connection:
            worker = connection.execute(
                select(workers.c.id).where(workers.c.label == one.label)
            ).scalar_one()
        sitting = next_sitting(stand.database, worker, stand.site.rules) or ""
        ready = threading.Barrier(10)
        outcomes: list[str] = []

        def click(number: int) -> None:
            ready.wait()
            try:
                taken = take_vote(
                    stand.database,
                    worker,
                    stand.site.rules,
                    vote=f"{number % 2}" * 32,
                    sitting=sitting,
                    step="choice",
                    answer={"choice": "left"},
                )
                outcomes.append("again" if taken.repeated else "new")
            except Refused as refused:
                outcomes.append(refused.code)

        threads = [threading.Thread(target=click, args=(number,)) for number in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # Two ids, five times each: one is the vote, sent four times more; the other is refused.
        assert Counter(outcomes) == {"new": 1, "again": 4, "answered": 5}


def test_late_votes_sent_together_are_no_more_than_were_asked_for(
    testbed: Path, store: str
) -> None:
    """Six people were given the same unit one after another, and all come back too late."""
    with open_stand(testbed, store, "pairs", rules={"votes": 1}) as stand:
        labels = {one.label for one in invite(stand.database, 7)}
        with stand.database.read() as connection:
            rows = connection.execute(select(workers.c.id, workers.c.label)).all()
            numbers = connection.execute(select(units.c.id)).scalars().all()
        everybody = [row.id for row in rows if row.label in labels]
        for number in numbers:
            outcomes = Counter(come_late(stand, number, everybody))
            # A late vote was first, and nothing is left to do; or somebody new has the unit now.
            late_won = {"taken": 1, "expired": 5, "none": 1}
            assert outcomes in (late_won, {"expired": 6, "given": 1})
            with stand.database.read() as connection:
                about = select(units.c.votes).where(units.c.id == number)
                assert connection.execute(about).scalar_one() == outcomes["taken"]


def test_watching_on_does_not_bring_a_place_back(testbed: Path, store: str) -> None:
    """Somebody else was given the unit meanwhile: their vote is the one that counts."""
    with open_stand(testbed, store, "pairs", rules={"votes": 1}) as stand:
        with stand.database.write() as connection:
            least = select(func.min(units.c.id)).scalar_subquery()
            connection.execute(update(units).values(closed=units.c.id != least))
        late = stand.worker().begin()
        with stand.database.write() as connection:
            connection.execute(update(sittings).values(expires_at=1.0))
        other = stand.worker().begin()
        assert other.open
        assert late.view(left=[{"at": 0.5, "rest": 0.1}]).json()["error"] == "expired"
        assert late.vote({"choice": "left"}).json()["error"] == "expired"
        # And should both be at it, whatever the clocks did, the second vote is one too many.
        with stand.database.write() as connection:
            connection.execute(update(sittings).values(expires_at=9e9))
        assert other.vote({"choice": "left"}).status_code == 200
        assert late.vote({"choice": "left"}).json()["error"] == "expired"


def come_late(stand: Stand, unit: int, everybody: list[int]) -> list[str]:
    """All but the last send a late vote on a unit, and the last asks for work, all at once."""
    from screentest.annotate.sitting import Refused, take_vote

    rules, held = stand.site.rules, {}
    with stand.database.write() as connection:
        connection.execute(update(units).values(closed=units.c.id != unit))
    for worker in everybody[:-1]:
        held[worker] = next_sitting(stand.database, worker, rules) or ""
        with stand.database.write() as connection:
            connection.execute(update(sittings).values(expires_at=1.0))
    assert all(held.values())
    ready = threading.Barrier(len(everybody))
    outcomes: list[str] = []

    def act(worker: int) -> None:
        ready.wait()
        if worker not in held:
            given = next_sitting(stand.database, worker, rules)
            outcomes.append("none" if given is None else "given")
            return
        try:
            take_vote(
                stand.database,
                worker,
                rules,
                vote=f"{unit:016}{worker:016}",
                sitting=held[worker],
                step="choice",
                answer={"choice": "left"},
            )
            outcomes.append("taken")
        except Refused as refused:
            outcomes.append(refused.code)

    threads = [threading.Thread(target=act, args=(one,)) for one in everybody]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


ODD = {"NUL": "x\0", "half a pair": "x\ud800"}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_texts_that_no_store_keeps_are_malformed(testbed: Path, store: str, odd: str) -> None:
    with open_stand(testbed, store, "pairs") as stand:
        person = stand.worker()
        page = person.begin()
        vote = {"vote": "v" * 32, "sitting": page.sitting, "step": "choice"}
        for field in vote:
            body = {**vote, "answer": {"choice": "left"}, field: odd}
            assert post(person, "/api/vote", body).status_code == 400
        view = {"sitting": page.sitting, "step": "choice"}
        for field in view:
            assert post(person, "/api/view", {**view, field: odd}).status_code == 400
        assert post(person, "/join", {"token": odd}).status_code == 400
        # A form cannot carry half a pair: its bytes become the sign for what cannot be read.
        refused = (400,) if odd == ODD["NUL"] else (400, 403, 404, 422, 303)
        forms = {"/next": "csrf", "/leave": "csrf", "/skip": "sitting", "/language": "code"}
        operator = Person(stand.client())
        operator.join(OPERATOR)
        for path, field in forms.items():
            sent = {"csrf": person.csrf, field: odd}
            assert form(person, path, sent).status_code in refused
        for field in ("label", "act", "reason"):
            sent = {"csrf": "x", "label": person.label, "act": "exclude", field: odd}
            assert form(operator, "/operator/worker", sent).status_code in refused
        for path in (f"/media/{'x' * 21}%00", "/static/%00", "/operator/worker/%00", "/%ED%A0%80"):
            assert operator.client.get(path).status_code == 404
        # An odd answer is no answer, and an odd comment is kept as far as it can be.
        assert page.vote({"choice": "lef\0t"}).status_code == 422
        assert post(person, "/api/vote", {**vote, "answer": {"choice": odd}}).status_code == 422
        answer = {"choice": "left", odd: odd}
        body = {**vote, "answer": answer, "comment": odd}
        assert post(person, "/api/vote", body).status_code == 200


def post(person: Person, path: str, body: object) -> httpx2.Response:
    """JSON with escapes only, which is how half a pair can be sent at all."""
    headers = {"X-CSRF-Token": person.csrf, "Content-Type": "application/json"}
    return person.client.post(path, content=json.dumps(body), headers=headers)


def form(person: Person, path: str, fields: dict[str, str]) -> httpx2.Response:
    text = urlencode({k: v.encode("utf-8", "surrogatepass") for k, v in fields.items()})
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    return person.client.post(path, content=text, headers=headers)


def test_fifty_workers(testbed: Path, store: str) -> None:
    """Fifty at once over loopback: what was acknowledged is there, once."""
    with (
        open_stand(testbed, store, "pairs", rules={"votes": 40}) as stand,
        served(stand) as address,
    ):
        load = hammer(stand.database, address, count=50, votes=1)
        assert load.troubles == []
        with stand.database.read() as connection:
            stored = connection.execute(select(votes.c.id)).scalars().all()
            counted = connection.execute(select(func.sum(units.c.votes))).scalar_one()
            most = connection.execute(select(func.max(units.c.votes))).scalar_one()
    assert Counter(stored) == Counter(dict.fromkeys(load.acknowledged, 1))
    assert len(stored) == counted == 50
    assert most <= 40


@pytest.mark.slow
def test_fifty_workers_for_an_hour(testbed: Path, store: str) -> None:
    """Sixty votes each, as in an hour at one a minute, sent as fast as the server takes them.

    A third of the clicks are sent twice. Leases are short, so that some run out on the way and
    their units are handed on.
    """
    with open_stand(testbed, store, "pairs") as stand:
        found = read_units(testbed, VoteTask.PAIRS)
        prepared = prepare_all([v.path for u in found for v in u.videos], media_folder(testbed))
        copies = -(-80 // len(found))
        many = [
            replace(unit, key=f"{unit.key}#{n}", source=f"{unit.source}#{n}")
            for n in range(copies)
            for unit in found
        ]
        keep_units(stand.database, VoteTask.PAIRS, many, prepared)
        # In a process of its own: fifty clients and a server would wait for one interpreter.
        process, port = start_process(store, votes=45, lease=5.0)
        try:
            address = f"http://127.0.0.1:{port}"
            load = hammer(stand.database, address, count=50, votes=60, watching=6)
        finally:
            end_process(process)
        with stand.database.read() as connection:
            stored = connection.execute(select(votes.c.id)).scalars().all()
            counted = connection.execute(select(func.sum(units.c.votes))).scalar_one()
            most = connection.execute(select(func.max(units.c.votes))).scalar_one()
            twice = connection.execute(
                select(func.count())
                .select_from(votes)
                .group_by(votes.c.unit_id, votes.c.worker_id)
                .having(func.count() > 1)
            ).all()
    assert load.troubles == []
    # What was acknowledged is there, once; and nothing else is.
    assert set(stored) == set(load.acknowledged)
    assert len(stored) == counted == len(set(stored)) == 50 * 60
    assert not twice
    assert most <= 45


def test_killed_between_click_and_answer(testbed: Path, store: str) -> None:
    """The server is killed while votes are on their way; sent again, each is there once."""
    with open_stand(testbed, store, "pairs") as stand:
        process, port = start_process(store)
        address = f"http://127.0.0.1:{port}"
        try:
            people = []
            for one in invite(stand.database, 6):
                client = httpx2.Client(base_url=address, headers={"Origin": address}, timeout=60)
                person = Person(client, one.label)
                person.join(one.token)
                person.form("/consent")
                people.append(person.begin())
            bodies = [
                {
                    "vote": f"{number}" * 32,
                    "sitting": page.sitting,
                    "step": "choice",
                    "answer": {"choice": "left"},
                }
                for number, page in enumerate(people)
            ]
            tokens = [page.person.csrf for page in people]
            answered = threading.Semaphore(0)

            def click(number: int) -> None:
                try:
                    people[number].person.post("/api/vote", bodies[number], tokens[number])
                except httpx2.HTTPError:
                    pass
                finally:
                    answered.release()

            threads = [threading.Thread(target=click, args=(number,)) for number in range(6)]
            for thread in threads:
                thread.start()
            answered.acquire()  # the first is answered, the others are anywhere
            os.kill(process.pid, signal.SIGKILL)
            for thread in threads:
                thread.join()
            end_process(process)
            process, port = start_process(store, port)
            for number, page in enumerate(people):
                again = page.person.post("/api/vote", bodies[number], tokens[number])
                assert again.status_code == 200
            with stand.database.read() as connection:
                stored = connection.execute(select(votes.c.id).order_by(votes.c.id)).scalars().all()
                counted = connection.execute(select(func.sum(units.c.votes))).scalar_one()
            assert list(stored) == [body["vote"] for body in bodies]
            assert counted == 6
        finally:
            end_process(process)
            for page in people:
                page.person.client.close()


def test_a_database_that_restarts_between_votes(testbed: Path) -> None:
    """PostgreSQL is ended at once while people vote, and comes back: each vote is there once.

    Until it is back the app says 503, and a page sends the same vote again, as ours do.
    """
    try:
        running = postgres.running()
        with running as server, open_stand(testbed, server.url, "pairs") as stand:
            votes_while_it_restarts(stand, server)
    except postgres.Missing as error:
        pytest.skip(str(error))


def votes_while_it_restarts(stand: Stand, server: postgres.Server) -> None:
    pages = [stand.worker().begin() for _ in range(6)]
    tokens = [page.person.csrf for page in pages]
    sent = [
        {"sitting": page.sitting, "step": "choice", "answer": {"choice": "left"}} for page in pages
    ]
    answers: list[list[int]] = [[] for _ in pages]
    down, back = threading.Event(), threading.Event()

    def click(number: int) -> None:
        if number % 2:
            down.wait()  # half of the votes are sent while there is no database
        for _ in range(200):
            body = sent[number] | {"vote": f"{number}" * 32}
            answer = pages[number].person.post("/api/vote", body, tokens[number])
            answers[number].append(answer.status_code)
            if answer.status_code == 200:
                return
            assert answer.json()["error"] == "refused"
            assert answer.headers["retry-after"] == "5"
            back.wait(0.1)

    threads = [threading.Thread(target=click, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    server.kill()
    down.set()
    assert pages[1].person.client.get("/work").status_code == 503
    server.start()
    back.set()
    for thread in threads:
        thread.join()
    for number, codes in enumerate(answers):
        assert codes[-1] == 200
        assert set(codes[:-1]) <= {503}
        again = pages[number].person.post(
            "/api/vote", sent[number] | {"vote": f"{number}" * 32}, tokens[number]
        )
        assert again.json()["repeated"] is True
    with stand.database.read() as connection:
        stored = connection.execute(select(votes.c.id).order_by(votes.c.id)).scalars().all()
        counted = connection.execute(select(func.sum(units.c.votes))).scalar_one()
    assert list(stored) == [f"{number}" * 32 for number in range(6)]
    assert counted == 6


def test_migrating_twice_is_migrating_once(store: str) -> None:
    for _ in range(2):
        database = open_database(store, create=True)
        with database.read() as connection:
            told = connection.execute(text("SELECT value FROM meta WHERE name = 'schema'")).scalar()
        database.close()
        assert told == str(len(MIGRATIONS))


def test_a_store_of_a_later_version_is_refused(store: str) -> None:
    database = open_database(store, create=True)
    with database.write() as connection:
        connection.execute(text("UPDATE meta SET value = '99' WHERE name = 'schema'"))
    database.close()
    with pytest.raises(RunTooNew):
        open_database(store)


def test_a_step_of_migration_is_taken_once(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older store gets the steps that it lacks, and keeps what it has."""
    from screentest.annotate import schema

    database = open_database(store, create=True)
    invite(database, 1)
    database.close()
    later = (*MIGRATIONS, lambda connection: connection.execute(text("CREATE TABLE added (n INT)")))
    monkeypatch.setattr(schema, "MIGRATIONS", later)
    for _ in range(2):
        database = open_database(store)
        with database.read() as connection:
            assert connection.execute(text("SELECT COUNT(*) FROM added")).scalar() == 0
            assert connection.execute(select(func.count()).select_from(workers)).scalar() == 1
        database.close()


def test_stores_that_cannot_be(tmp_path: Path) -> None:
    for url in ("mysql://x/y", "nonsense://", "postgresql", "sqlite"):
        with pytest.raises((BadOption, UserError)):
            open_database(url)
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"this is no database, however long it may be " * 100)
    with pytest.raises(StorageError):
        open_database(broken)
    with pytest.raises(StorageError):
        open_database("postgresql://nobody@/none?host=/nowhere")


def test_a_full_disk_costs_no_vote(testbed: Path, tmp_path: Path) -> None:
    """SQLite may take no further page: the page says 503, commands say what is wrong."""

    def full(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")  # as many as there are

    with open_stand(testbed, str(tmp_path / "votes.sqlite"), "pairs") as stand:
        page, engine = stand.worker().begin(), stand.database._engine
        engine.dispose()
        event.listen(engine, "connect", full)
        sent = {"vote": "a" * 32, "comment": "x" * 50_000}
        assert page.vote({"choice": "left"}, **sent).status_code == 503
        with pytest.raises(StorageError, match="full"):
            invite(stand.database, 1000)
        event.remove(engine, "connect", full)
        engine.dispose()
        assert page.vote({"choice": "left"}, **sent).json()["repeated"] is False
        with stand.database.read() as connection:
            assert connection.scalars(select(votes.c.id)).all() == ["a" * 32]


def test_the_password_is_not_shown() -> None:
    database = Database("postgresql://me:secret@db.example/votes")
    assert "secret" not in database.shown
    database.close()


def test_sqlite_is_set_to_keep_votes(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    database = open_database(path, create=True)
    with database.write() as connection:
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2  # FULL
    with database.write(durable=False) as connection:
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 1  # NORMAL
    with database.write() as connection:
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2
    database.close()
    with sqlite3.connect(path) as plain:
        assert plain.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        names = {row[0] for row in plain.execute("SELECT name FROM sqlite_master")}
    plain.close()
    assert set(metadata.tables) <= names
