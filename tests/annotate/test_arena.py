"""People compare models: the task arena from the manifest to its result."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select, update

from screentest.analysis.people.arena import WhyOpen, arena_of
from screentest.annotate.material import read_units
from screentest.annotate.people import exclude, invite_all
from screentest.annotate.quality import review, rules_for
from screentest.annotate.records import import_records, read_records
from screentest.annotate.schema import sittings, units
from screentest.annotate.vote_commands import results
from screentest.annotate.web.visitor import Finish
from screentest.core import BadOption, Reason, UserError
from screentest.judges.votes import VoteRecord, VoteTask, as_csv, pair_votes, read_votes
from screentest.present.people import arena_headline, people_tables
from tests.annotate.stand import OPERATOR, Page, Person, Stand, open_stand
from tests.messages import names
from tests.stats.simulate import equal_models
from tests.terminal import fits, invoke
from tests.video.hostile import film

MODELS = ("ours", "theirs", "third")
PROMPTS = ("a cat", "a dog")


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three models on two prompts, a prompt of one model alone, and one for practice."""
    folder = tmp_path_factory.mktemp("arena") / "set"
    folder.mkdir()
    film(folder / "one.mp4")
    rows = [(model, prompt) for prompt in PROMPTS for model in MODELS]
    rows += [("ours", "a lonely prompt"), ("ours", "practice"), ("theirs", "practice")]
    lines = []
    for number, (model, prompt) in enumerate(rows):
        # Each has a file of its own: one that is shared would be the same video twice.
        video = folder / f"{number}.mp4"
        video.write_bytes((folder / "one.mp4").read_bytes())
        row = {"id": f"v{number}", "video": video.name, "prompt": prompt}
        lines.append(json.dumps(row | {"groups": {"model": model, "seed": "1"}}))
    path = folder / "videos.jsonl"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def stand(manifest: Path, tmp_path: Path) -> Iterator[Stand]:
    with open_stand(manifest, str(tmp_path / "votes.sqlite"), "arena") as opened:
        yield opened.with_rules(ties=True)


def let_time_pass(stand: Stand) -> None:
    with stand.database.write() as connection:
        connection.execute(update(sittings).values(step_at=time.time() - 60))


def watch(stand: Stand, page: Page, share: float = 1.0) -> dict[str, float]:
    let_time_pass(stand)
    end = share * _seconds(stand)
    played = [{"from": 0, "to": end, "rate": 1}]
    watched: dict[str, float] = page.view(left=played, right=played).json()["watched"]
    return watched


def _seconds(stand: Stand) -> float:
    with stand.database.read() as connection:
        return float(connection.execute(select(units.c.seconds)).scalars().first()) / 2  # type: ignore[arg-type]


def test_every_two_models_meet_on_every_prompt_they_share(manifest: Path) -> None:
    found = read_units(manifest, VoteTask.ARENA)
    met = sorted((unit.source, *unit.models) for unit in found)
    couples = [("ours", "theirs"), ("ours", "third"), ("theirs", "third")]
    expected = [(prompt, *couple) for prompt in PROMPTS for couple in couples]
    assert met == sorted([*expected, ("practice", "ours", "theirs")])
    assert all(unit.groups == {"seed": "1"} for unit in found)
    some = read_units(manifest, VoteTask.ARENA, by="model=third,ours")
    assert {unit.models for unit in some} == {("ours", "third")}
    with pytest.raises(BadOption, match=r"'x'.* model"):
        read_units(manifest, VoteTask.ARENA, by="model=ours,x")
    with pytest.raises(UserError, match="no kinds to compare"):
        read_units(manifest, VoteTask.ARENA, by="kind")
    with pytest.raises(BadOption, match="manifest"):
        read_units(manifest.parent, VoteTask.ARENA)


def test_the_page_is_blind_and_the_record_is_not(stand: Stand) -> None:
    page = stand.worker().begin()
    assert len(page.videos) == 2
    assert not any(f">{name}<" in page.html or f'"{name}"' in page.html for name in MODELS)
    assert re.search(r"\bv\d+\b|\.mp4", page.html) is None
    assert "No difference" in page.html
    assert page.vote({"choice": "right"}).json() == {"repeated": False, "finished": True}
    with stand.database.read() as connection:
        (record,) = read_records(connection)
        sitting = connection.execute(select(sittings).where(sittings.c.done_at.is_not(None))).one()
    assert record.left == ("first", "second")[sitting.left_video]
    assert record.choice == ("second", "first")[sitting.left_video]
    assert {record.first, record.second} < set(MODELS)
    assert record.correct is None


def test_both_orders_are_shown(stand: Stand) -> None:
    for person in [stand.worker() for _ in range(2)]:
        while (page := person.begin()).open:
            page.vote({"choice": "left"})
    with stand.database.read() as connection:
        records = read_records(connection)
    by_unit: dict[str, list[str]] = {}
    for record in records:
        by_unit.setdefault(record.unit, []).append(record.left)
    assert [sorted(left) for left in by_unit.values()] == [["first", "second"]] * 7
    # Everybody prefers the left: sides are balanced, so that nobody wins by it.
    found = arena_of(records)
    assert found.left is not None
    assert found.left.share == 1.0
    assert all(pair.rate.share == 0.5 for pair in found.pairs)
    assert not any(pair.holds for pair in found.pairs)


def test_votes_go_out_and_come_back(stand: Stand, manifest: Path, tmp_path: Path) -> None:
    person = stand.worker()
    for choice in ("left", "right", "same"):
        person.begin().vote({"choice": choice})
    with stand.database.read() as connection:
        records = read_records(connection)
    path = tmp_path / "votes.csv"
    path.write_text(as_csv(records), newline="")
    back = read_votes(path, whole=True)  # moments to the microsecond
    assert [replace(one, at=0.0) for one in back] == [replace(one, at=0.0) for one in records]
    with open_stand(manifest, str(tmp_path / "other.sqlite"), "arena") as other:
        assert import_records(other.database, records).added == 3
        with other.database.read() as connection:
            again = read_records(connection)
        assert [one.choice for one in again] == [one.choice for one in records]
        wrong = replace(records[0], worker="x", vote="v" * 20, first="nobody")
        with pytest.raises(UserError, match="other models"):
            import_records(other.database, [wrong])
    with pytest.raises(BadOption, match="no votes on pairs"):
        pair_votes(path)  # these say nothing of a judge of testbeds


# How much must be watched, for every task.


def test_no_answer_before_enough_was_played(stand: Stand) -> None:
    strict = stand.with_rules(watch=0.6)
    person = strict.worker()
    page = person.begin()
    assert 'data-watch="0.6"' in page.html
    refused = page.vote({"choice": "left"})
    assert (refused.status_code, refused.json()["error"]) == (409, "unwatched")
    assert watch(strict, page, 0.5) == pytest.approx({"left": 0.5, "right": 0.5}, abs=0.01)
    assert page.vote({"choice": "left"}).json()["error"] == "unwatched"
    end = 0.7 * _seconds(strict)
    page.view(left=[{"from": 0, "to": end, "rate": 1}])
    assert page.vote({"choice": "left"}).json()["error"] == "unwatched"  # the other one, too
    page.view(right=[{"from": 0, "to": end, "rate": 1}])
    assert page.vote({"choice": "left"}).status_code == 200


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        ("rate", {"score": 3}),
        pytest.param("prompts", {"verdict": "approve"}, marks=pytest.mark.slow),
    ],
)
def test_it_holds_for_one_video(
    manifest: Path, tmp_path: Path, task: str, answer: dict[str, object]
) -> None:
    rules = {"watch": 0.5}
    with open_stand(manifest, str(tmp_path / "v.sqlite"), task, rules=rules) as stand:
        page = stand.worker().begin()
        assert page.vote(answer).json()["error"] == "unwatched"
        let_time_pass(stand)
        page.view(left=[{"from": 0, "to": 60, "rate": 2}])
        assert page.vote(answer).status_code == 200


def test_who_plays_nothing_shows_a_sign(stand: Stand) -> None:
    careful, careless = stand.worker(), stand.worker()
    for _ in range(6):
        page = careful.begin()
        watch(stand, page)
        page.vote({"choice": "left"})
        careless.begin().vote({"choice": "right"})
    with stand.database.read() as connection:
        records = read_records(connection, VoteTask.ARENA)
        rules = replace(rules_for(VoteTask.ARENA), votes=5)
        found = {one.label: one for one in review(connection, records, rules)}
    (sign,) = [one for one in found[careless.label].report.signs if one.sign.value == "unseen"]  # type: ignore[union-attr]
    assert (sign.count, sign.of) == (6, 6)
    assert "unseen" not in str(found[careful.label].report)


# Examples, gold, and where workers come from and go to.


def test_examples_come_first_and_gold_is_known(manifest: Path, tmp_path: Path) -> None:
    keys = {(unit.source, *unit.models): unit.key for unit in read_units(manifest, VoteTask.ARENA)}
    example = {
        "unit": keys["practice", "ours", "theirs"],
        "answer": "theirs",
        "example": "Sharper.",
    }
    gold = {"unit": keys["a dog", "ours", "third"], "answer": "tie"}
    path = tmp_path / "gold.jsonl"
    path.write_text(f"{json.dumps(example)}\n{json.dumps(gold)}\n")
    rules = {"ties": True, "gold_every": 2}
    with open_stand(manifest, str(tmp_path / "v.sqlite"), "arena", rules=rules, gold=path) as stand:
        person = stand.worker()
        page = person.begin()
        assert "An example." in page.html
        lesson = page.vote({"choice": "left"}).json()["lesson"]
        assert lesson["why"] == "Sharper."
        assert lesson["right"] == (lesson["expected"] == "left")
        while (page := person.begin()).open:
            assert "An example." not in page.html
            assert "lesson" not in page.vote({"choice": "same"}).json()
        with stand.database.read() as connection:
            records = read_records(connection)
            (state,) = review(connection, records, rules_for(VoteTask.ARENA))
        assert (state.gold_right, state.gold_asked) == (1, 1)  # the example is no test
        assert (len(records), arena_of(records).votes) == (7, 5)
    path.write_text(json.dumps(gold | {"answer": "fourth"}))
    with pytest.raises(UserError, match="ours, third, tie"):
        read_units(manifest, VoteTask.ARENA, gold=path)
    path.write_text(json.dumps(example | {"example": ""}))
    with pytest.raises(UserError, match="says why"):
        read_units(manifest, VoteTask.ARENA, gold=path)


def test_a_participant_comes_from_a_platform_and_goes_back(stand: Stand) -> None:
    finish = Finish("C0DE", "https://back.example.org/?p={participant}&cc={code}")
    few = Stand(replace(stand.with_rules(most=2).site, finish=finish), stand.origin)
    token = invite_all(few.database)

    def come(participant: str) -> Person:
        person = Person(few.client())
        sent = {"token": token, "participant": participant}
        assert person.client.post("/join", json=sent).status_code == 200
        return person

    person = come("5f1c2b")
    person.form("/consent")
    for _ in range(2):
        assert "C0DE" not in person.client.get("/work").text
        assert person.begin().vote({"choice": "left"}).json()["finished"]
    done = person.client.get("/work").text
    assert "C0DE" in done
    assert "https://back.example.org/?p=5f1c2b&amp;cc=C0DE" in done
    assert not person.begin().open
    assert come("5f1c2b").client.get("/work").text.count("C0DE") == 2  # the same person again
    # An id is no way to somebody else's page, and not everything is an id.
    invited = stand.worker()
    other = come(invited.label)
    assert "Before you begin" in other.client.get("/work").text
    for bad in ("", "a b", "x" * 39, "é"):
        sent = {"token": token, "participant": bad}
        assert few.client().post("/join", json=sent).status_code == 403


@pytest.mark.parametrize("bad", ["javascript:alert(1)", "back", "https://x.org/{who}"])
def test_bad_addresses_to_return_to(bad: str) -> None:
    with pytest.raises(BadOption):
        Finish("C", bad)
    with pytest.raises(BadOption, match="no `code`"):
        Finish("", "https://x.org/{code}")


def test_the_operator_opens_units_and_makes_links(stand: Stand) -> None:
    worker = stand.worker()
    worker.begin().vote({"choice": "left"})
    operator = Person(stand.client())
    operator.join(OPERATOR)
    listed = operator.client.get("/operator/units").text
    numbers = re.findall(r"/operator/unit/(\d+)", listed)
    assert len(numbers) == 7
    pages = [operator.client.get(f"/operator/unit/{number}").text for number in numbers]
    assert sum(worker.label in page for page in pages) == 1
    video = re.findall(r'src="(/operator/file/\d+)"', pages[0])
    assert len(video) == 2
    assert operator.client.get(video[0]).content[4:8] == b"ftyp"
    assert operator.client.get("/operator/unit/999").status_code == 404
    assert operator.client.get("/operator/file/999").status_code == 404
    csrf = re.search(r'name="csrf" content="(\w+)"', listed)
    assert csrf is not None
    form = {"csrf": csrf.group(1), "kind": "personal", "count": "3"}
    made = re.findall(r"/join#([\w-]+)", operator.client.post("/operator/invite", data=form).text)
    assert len(made) == 3
    Person(stand.client()).join(made[2])
    assert operator.client.post("/operator/invite", data=form | {"count": "0"}).status_code == 422
    assert operator.client.post("/operator/invite", data=form | {"kind": "x"}).status_code == 422
    assert operator.client.post("/operator/invite", data=form | {"csrf": "x"}).status_code == 403
    for path in ("/operator/units", f"/operator/unit/{numbers[0]}", video[0]):
        assert worker.client.get(path).status_code == 303  # not for workers


# The result.


def votes_of(
    generator: np.random.Generator, couples: list[tuple[str, str]], lead: float = 0.0
) -> list[VoteRecord]:
    """Ten people on twelve prompts; with ``lead`` the first of a couple wins more often."""
    records = []
    for first, second in couples:
        points, prompts, workers = equal_models(generator, 12, 10, 5, 0.7, 0.3)
        points[generator.random(points.size) < lead] = 1.0
        for won, prompt, worker in zip(points, prompts, workers, strict=True):
            records.append(
                VoteRecord(
                    task=VoteTask.ARENA,
                    unit=f"{prompt} {first} {second}",
                    source=f"p{prompt}",
                    worker=f"w{worker}",
                    first=first,
                    second=second,
                    left="first",
                    choice={1.0: "first", 0.5: "tie", 0.0: "second"}[float(won)],
                )
            )
    return records


COUPLES = [("ours", "theirs"), ("ours", "third"), ("theirs", "third")]


def test_equal_models_are_not_told_apart() -> None:
    generator = np.random.default_rng(1)
    runs = 60
    wrong = sum(
        any(pair.holds for pair in arena_of(votes_of(generator, COUPLES)).pairs)
        for _ in range(runs)
    )
    assert wrong / runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)


def test_what_a_file_of_votes_does_not_say_is_not_invented(tmp_path: Path) -> None:
    """Sides that no column has, and columns of another task."""
    votes = tmp_path / "votes.csv"
    rows = [f"{one},{two},first,p{n},w{n}" for one, two in COUPLES[:2] for n in range(3)]
    votes.write_text("\n".join(["first,second,choice,source,worker", *rows]))
    found = arena_of(read_votes(votes))
    assert found.left is None
    assert found.unranked is not None
    assert found.unranked.reason is Reason.NOT_APPLICABLE
    assert people_tables(found)[0].rows[0][1] is None
    votes.write_text("first,choice,source,worker\nours,first,p,w\n")
    with pytest.raises(UserError, match="lacks the column second") as error:
        read_votes(votes)
    assert error.value.advice == "Columns: first, second, choice."
    # Without votes, the command says how to get some, rather than the name of a file within.
    with pytest.raises(UserError, match=r"no votes on .*videos\.jsonl"):
        results(tmp_path / "videos.jsonl")


def test_a_better_model_is_found() -> None:
    generator = np.random.default_rng(2)
    records = votes_of(generator, COUPLES[:2], 0.8) + votes_of(generator, COUPLES[2:])
    found = arena_of(records)
    assert found.models[0].model == "ours"
    assert [one.model for one in found.models if one.best] == ["ours"]
    assert {pair.better for pair in found.significant} == {"ours"}
    assert arena_headline(found).startswith("People prefer ours to ")
    for pair in found.pairs:
        assert pair.holds == (0.5 not in pair.interval)
    assert arena_of(records[::-1]) == found
    for spoilt in (replace(records[0], gold=True), replace(records[0], excluded=True)):
        assert arena_of([spoilt, *records[1:]]).votes == len(records) - 1


def test_it_is_said_that_a_few_cast_most_votes() -> None:
    records = votes_of(np.random.default_rng(3), COUPLES[:1], 0.9)
    assert not arena_of(records).uneven
    busy = [
        replace(one, worker="w0" if number % 8 else one.worker)
        for number, one in enumerate(records)
    ]
    found = arena_of(busy)
    assert (found.workers, found.busiest) == (len({one.worker for one in busy}), 1)
    assert not any(pair.holds for pair in found.pairs)
    assert (found.open, found.uneven, found.fewest) == (WhyOpen.UNEVEN_PEOPLE, True, 6)
    uneven = [
        replace(one, source="p0" if number % 8 else one.source)
        for number, one in enumerate(records)
    ]
    assert arena_of(uneven).open is WhyOpen.UNEVEN_PROMPTS


def test_nothing_is_said_of_nothing() -> None:
    with pytest.raises(UserError, match="no votes on models"):
        arena_of([])
    (record, *_) = votes_of(np.random.default_rng(0), COUPLES[:1])
    found = arena_of([record])
    assert found.open is WhyOpen.TOO_FEW
    with pytest.raises(UserError, match="its prompt"):
        arena_of([replace(record, worker="")])


def test_the_command_prints_it(stand: Stand, manifest: Path, tmp_path: Path) -> None:
    careful, bored = stand.worker(), stand.worker()
    while (page := careful.begin()).open:
        page.vote({"choice": "same"})
    bored.begin().vote({"choice": "left"})
    exclude(stand.database, bored.label, "bored")
    store = ("--store", str(tmp_path / "votes.sqlite"))
    done = invoke("annotate", "results", manifest, *store)
    assert done.exit_code == 0, done.output
    assert fits(done.stdout)
    assert names(" ".join(done.stdout.split()), "inconclusive", "7 votes", "1 person", "3 prompts")
    told = json.loads(invoke("annotate", "results", manifest, *store, "--json").stdout)
    assert {one["win_rate"] for one in told["people"]} == {0.5}
    assert len(told["people_pairs"]) == 3
    out = tmp_path / "votes.json"
    assert invoke("annotate", "export", manifest, *store, "--out", out).exit_code == 0
    again = invoke("annotate", "results", manifest, "--votes", out, "--json")
    assert json.loads(again.stdout) == told
