"""`screentest suite etva`: questions, transcripts, benchmarks and people from the command line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from screentest.analysis.runs import read_results
from screentest.analysis.standings import standings
from screentest.analysis.suites import read_suite
from screentest.cli import app
from screentest.core import Item
from screentest.inputs.manifest import write_manifest
from screentest.judges.votes import VoteRecord, VoteTask, as_json
from screentest.measure.tasks import score_items
from screentest.models import ModelChoice
from screentest.run.engine import InlineEngine
from screentest.run.reader import RunReader
from screentest.run.session import Settings, close_tools
from screentest.run.store import RunStore
from screentest.suites.etva.questions import read_question_sets
from screentest.testing.chat_answers import Act, Answer, Asked
from screentest.testing.chat_server import FakeChatServer
from tests.suites.etva.scripted import always_yes, fenced, stage_of, well_behaved
from tests.terminal import CLEAN, fits, invoke

ETVA = ("suite", "etva")

CATS = "Two cats sleep on a sofa."
PROMPTS = f"A red fox runs.\n\n{CATS}\na RED fox runs.\n"
TWO_CATS = "Are there exactly two cats in the video?"
"""As the rules ask about them."""
EDITED = "Can a fox be seen?"


@pytest.fixture
def prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "prompts.txt"
    file.write_text(PROMPTS)
    return file


def model(server: FakeChatServer, **options: object) -> str:
    more = "".join(f",{name}={value}" for name, value in options.items())
    return f"chat=openai:writer,base_url={server.url}{more}"


COMMANDS = ("replay", "questions", "graph", "by-item", "answers", "benchmark", "people")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_and_has_examples(name: str) -> None:
    result = CliRunner().invoke(app, ["suite", "etva", name, "--help"], env={"COLUMNS": "80"})
    assert result.exit_code == 0
    assert fits(result.output)
    assert f"screentest suite etva {name}" in result.output.partition("\n  Examples:\n")[2]


# ---- questions


def test_questions_by_rules_need_no_model(prompts: Path) -> None:
    done = invoke(*ETVA, "questions", prompts, "--writer", "rules", "--no-knowledge")
    assert done.exit_code == 0, done.stderr
    sets = read_question_sets(prompts.parent / "questions.jsonl")
    # The same prompt in other capitals is the same prompt.
    assert [one.prompt for one in sets] == ["A red fox runs.", CATS]
    assert "2 prompts" in done.stdout
    assert fits(done.stdout)


def test_an_edited_file_is_kept_and_only_what_is_missing_is_paid_for(
    prompts: Path, tmp_path: Path
) -> None:
    out = tmp_path / "questions.jsonl"
    invoke(*ETVA, "questions", prompts, "--writer", "rules", "--no-knowledge")
    edited = json.loads(out.read_text().splitlines()[0])
    edited["questions"][0]["text"] = EDITED
    edited["knowledge"] = "Foxes are quick."
    out.write_text(json.dumps(edited) + "\n")
    with FakeChatServer(well_behaved()) as server:
        done = invoke(*ETVA, "questions", prompts, "--model", model(server))
        stages = sorted(stage_of(asked) for asked in server.asked)
        again = invoke(*ETVA, "questions", prompts, "--model", model(server))
        assert len(server.asked) == len(stages)
    assert done.exit_code == again.exit_code == 0, done.stderr
    assert stages == ["elements", "graph", "knowledge", "questions"]
    kept, made = read_question_sets(out)
    assert kept.questions[0].text == EDITED
    assert (kept.writer, made.writer) == ("rules", "chat")
    assert made.knowledge


def test_a_prompt_without_questions_is_reported_and_the_rest_written(
    prompts: Path, tmp_path: Path
) -> None:
    good = well_behaved()

    def refusing(asked: Asked) -> Act:
        return Answer(None, refusal="no") if "cats" in "".join(asked.texts) else good(asked)

    with FakeChatServer(refusing) as server:
        done = invoke(*ETVA, "questions", prompts, "--model", model(server))
    assert done.exit_code == 1
    assert f"{CATS}: refused" in done.stdout
    assert len(read_question_sets(tmp_path / "questions.jsonl")) == 1


def test_mistakes_are_messages(prompts: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n")
    for given, told in (
        (["questions", prompts, "--writer", "nobody"], "'nobody'"),
        (["questions", prompts], "--writer rules --no-knowledge"),
        (["questions", tmp_path / "empty.txt"], "has no prompts"),
        (["questions", tmp_path / "missing.txt"], "is not there"),
        (["replay", tmp_path / "missing.json"], "is not there"),
        (["replay", prompts], "line 1: wrong JSON"),
        (["replay", tmp_path / "empty.txt", "--compat", "sloppy"], "'sloppy'"),
        (["graph", prompts], "line 1"),
        (["benchmark", prompts], "line 1"),
        (["people", tmp_path, tmp_path / "votes.json"], ""),
    ):
        done = invoke(*ETVA, *given)
        assert done.exit_code in (1, 2), given
        assert told in done.stderr, given


KILLS = 2
KILLED = """
import sys
from screentest.cli import main
main()
"""


@pytest.mark.slow
def test_all_released_prompts_killed_and_resumed(shared_data: Path, tmp_path: Path) -> None:
    released = shared_data / "etva" / "qa_sample.json"
    good = well_behaved()
    seen = threading.Semaphore(0)

    def counting(asked: Asked) -> Act:
        seen.release()
        return good(asked)

    at_once = 4
    with FakeChatServer(counting) as server:
        arguments = ["suite", "etva", "questions", str(released), "--out", "questions.jsonl"]
        arguments += ["--model", model(server, concurrency=at_once), "--run", "run"]
        command = [sys.executable, "-c", KILLED, *arguments]
        for _ in range(KILLS):
            with subprocess.Popen(
                command, cwd=tmp_path, env=CLEAN, stderr=subprocess.PIPE
            ) as child:
                for _ in range(100):
                    assert seen.acquire(timeout=120)
                child.kill()
        done = subprocess.run(
            command, cwd=tmp_path, env=CLEAN, capture_output=True, text=True, timeout=240
        )
        asked = len(server.asked)
    assert done.returncode == 0, done.stderr
    sets = read_question_sets(tmp_path / "questions.jsonl")
    assert len(sets) == 105
    assert all(one.questions and one.graph is not None and one.knowledge for one in sets)
    # Three agents and knowledge for each; a kill loses at most what was under way.
    assert 4 * 105 <= asked <= 4 * 105 + KILLS * at_once


# ---- graph and benchmark


def test_a_graph_is_shown_and_drawn(prompts: Path, tmp_path: Path) -> None:
    invoke(*ETVA, "questions", prompts, "--writer", "rules", "--no-knowledge")
    shown = invoke(*ETVA, "graph", "questions.jsonl", "2")
    assert TWO_CATS in shown.stdout
    assert fits(shown.stdout)
    drawn = invoke(*ETVA, "graph", "questions.jsonl", "2", "--out", "graph.svg")
    assert drawn.exit_code == 0, drawn.stderr
    assert (tmp_path / "graph.svg").read_text().startswith("<svg")
    beyond = invoke(*ETVA, "graph", "questions.jsonl", "9")
    assert beyond.exit_code == 2


def test_a_benchmark_is_shown_drawn_from_and_plotted(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "etva"
    given = [folder / "qa_sample.json", "--categories", folder / "question_sample.json"]
    out, plot = tmp_path / "small.jsonl", tmp_path / "spread.svg"
    told = invoke(
        "suite", "etva", "benchmark", *given, "--draw", "50", "--out", out, "--plot", plot, "--json"
    )
    assert told.exit_code == 0, told.output
    content: dict[str, Any] = json.loads(told.stdout)
    whole, drawn = content["benchmarks"]
    assert (whole["benchmark"], whole["questions"]) == ("qa_sample", 618)
    assert (drawn["benchmark"], drawn["prompts"]) == ("qa_sample-50", 50)
    assert drawn["distance"] < 0.01
    assert sum(row["share"] for row in content["categories"]) == pytest.approx(2)
    assert plot.read_text().startswith("<?xml")
    assert len(read_question_sets(out)) == 50
    table = invoke(*ETVA, "benchmark", out)
    assert "existence" in table.stdout


# ---- replay


def test_released_transcripts(shared_data: Path) -> None:
    folder = shared_data / "etva"
    file, types = folder / "vidu_sample_output.json", folder / "question_sample.json"
    told = invoke(*ETVA, "replay", file, "--categories", types, "--json")
    assert told.exit_code == 0, told.output
    rows = {row["part"]: row for row in json.loads(told.stdout)}
    assert rows["all questions"]["score"] == pytest.approx(470 / 618)
    assert rows["shape"]["yes"] == 9
    table = invoke(*ETVA, "replay", file, "--categories", types)
    assert table.stdout.split("all questions")[1].split()[3:6] == ["470", "618", "618"]
    assert fits(table.stdout)


# ---- a run: scored, replayed, compared with people


def vote(unit: str, worker: str, **said: object) -> VoteRecord:
    task = VoteTask.RATE if "score" in said else VoteTask.QUESTIONS
    about: dict[str, Any] = {"source": unit, "video": unit, "name": "", "aspect": "", "left": ""}
    about |= {"severity": None, "clips": None, "duration": 1.0, "seconds": 3.0, "at": 0.0}
    about |= {"gold": False, "excluded": False, "finished": True, "vote": f"{unit}{worker}"}
    return VoteRecord(task=task, unit=unit, worker=worker, **about, **said)  # type: ignore[arg-type]


# Three films stand for three generators; the model tells them apart by their shape.
FILMS = {
    "good": ("real_5shots_640x360.mp4", ()),
    "fair": ("frenchgp_1906_214x160.mp4", ("red",)),
    "poor": ("sintel_trailer_30s_640x272.mp4", ("red", "running", "jumping")),
}
SHAPES = {(640, 360): "good", (214, 160): "fair", (640, 272): "poor"}


def seeing(question: str, asked: Asked) -> str:
    _, missing = FILMS[SHAPES[asked.picture_sizes[0]]]
    bad = any(word in question for word in missing)
    return "Conclusion: [NO]" if bad else always_yes(question, asked)


@pytest.fixture
def scored(prompts: Path, sample: Path, tmp_path: Path) -> Path:
    """A run of three generators on two prompts, with its manifest and questions beside it."""
    items = [
        Item(f"{name}-{n}", sample / film, text, groups={"model": name})
        for n, text in enumerate(("A red fox runs.", "A dog jumps."))
        for name, (film, _) in FILMS.items()
    ]
    write_manifest(tmp_path / "m.jsonl", items)
    invoke(*ETVA, "questions", "m.jsonl", "--writer", "rules", "--no-knowledge")
    spec = f"etva:questions={tmp_path / 'questions.jsonl'},knowledge=false,max_frames=4"
    with FakeChatServer(well_behaved(seeing)) as server:
        settings = Settings(models=(ModelChoice.parse(model(server)),))
        with RunStore(tmp_path / "run", command="score") as store:
            done = score_items(store, items, [spec], settings, engine=InlineEngine())
        close_tools()
    assert done.made == 6
    return tmp_path / "run"


def test_a_run_is_replayed(scored: Path) -> None:
    told = json.loads(invoke(*ETVA, "replay", scored, "--json").stdout)
    rows = told["averages"]
    means = {row["model"]: row["score"] for row in rows if row["part"] == "all questions"}
    # Fox: there, red, running; dog: there, jumping.
    assert means == pytest.approx({"good": 1.0, "fair": 4 / 5, "poor": 2 / 5})
    # Models are compared question by question; two prompts have no interval.
    gaps = {(row["model"], row["other"]): row for row in told["differences"]}
    assert gaps["good", "poor"]["difference"] == pytest.approx(3 / 5)
    assert (gaps["good", "poor"]["questions"], gaps["good", "poor"]["prompts"]) == (5, 2)
    assert gaps["good", "poor"]["low"] is None
    table = invoke(*ETVA, "replay", scored).stdout.partition("Side by side")[2]
    assert table.split("all questions")[1].split()[:3] == ["0.800", "1.000", "0.400"]


def test_unusable_answers_are_replayed_by_the_released_rules(
    prompts: Path, sample: Path, tmp_path: Path
) -> None:
    """Two refusals, one text that was cut off; `environment` has no column in published tables."""
    said = {"red": "I am unable to view the video. [NO]", "runs": "I cannot see the video."}
    cut = "The fox may be there: [YES], but"

    def act(asked: Asked) -> Act:
        question = fenced(asked, "question")
        if "quick" in question:
            return Answer(cut, finish="length")
        for word, text in said.items():
            if word in question:
                return Answer(text)
        return Answer("Conclusion: [YES]")

    kinds = {"red": "color", "runs": "motion", "quick": "motion", "wood": "environment"}
    asked = [
        {"id": name, "text": f"Is it {name}?", "category": kind} for name, kind in kinds.items()
    ]
    line = {"prompt": "A red fox runs.", "questions": asked, "knowledge": ""}
    (tmp_path / "q.jsonl").write_text(json.dumps(line) + "\n")
    item = Item("fox", sample / "frenchgp_1906_214x160.mp4", "A red fox runs.")
    with FakeChatServer(act) as server:
        settings = Settings(models=(ModelChoice.parse(model(server)),))
        with RunStore(tmp_path / "run", command="score") as store:
            spec = f"etva:questions={tmp_path / 'q.jsonl'},knowledge=false,max_frames=4"
            score_items(store, [item], [spec], settings, engine=InlineEngine())
        close_tools()

    def counts(*options: str) -> dict[str, tuple[int, int, int]]:
        rows = json.loads(invoke(*ETVA, "replay", "run", *options, "--json").stdout)
        return {row["part"]: (row["yes"], row["answered"], row["asked"]) for row in rows}

    assert counts()["all questions"] == (1, 1, 4)
    assert counts()["environment"] == (1, 1, 1)
    # [YES] stands in the text that was cut off, and the released code looks for nothing else.
    upstream = counts("--compat", "upstream")
    assert upstream["all questions"] == (1, 3, 3)
    assert upstream["motion"] == (1, 2, 2)
    assert "environment" not in upstream


def test_the_suite_adds_up_as_a_replay_does(scored: Path) -> None:
    with RunReader(scored) as run:
        results = read_results(run)
    (metric,) = {value.metric for value in results.values}
    suite = read_suite(f"etva:metric={json.dumps(metric)}")
    found = standings(results, suite, "model")
    assert [(one.group, one.top.value) for one in found] == [
        ("good", 1.0),
        ("fair", pytest.approx(4 / 5)),
        ("poor", pytest.approx(2 / 5)),
    ]
    poor = {level.path[-1]: level.value for level in found[-1].levels}
    # The mean of prompts: of the fox's three questions one, of the dog's two one.
    assert poor["mean of prompts"] == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert poor["existence"] == 1.0
    assert poor["color"] == 0.0


def test_the_answers_of_a_run(scored: Path) -> None:
    table = invoke(*ETVA, "answers", scored, "poor-0")
    assert re.search(r"poor-0 +no +color +Is the fox red\?", table.stdout)
    assert fits(table.stdout)
    assert "Conclusion: [NO]" in invoke(*ETVA, "answers", scored, "poor-0", "--said").stdout
    told = json.loads(invoke(*ETVA, "answers", scored, "--json").stdout)
    assert len({row["item"] for row in told}) == 6
    assert invoke(*ETVA, "answers", scored, "nobody").exit_code == 2


def test_a_run_is_compared_with_people(scored: Path, tmp_path: Path) -> None:
    done = invoke(*ETVA, "by-item", "m.jsonl", "questions.jsonl", "--out", "by-item.jsonl")
    assert done.exit_code == 0, done.output
    handed = [json.loads(line) for line in (tmp_path / "by-item.jsonl").read_text().splitlines()]
    assert len(handed) == 6
    # People see in the first film what its prompt asks for, and rank the generators so.
    answers = {question["id"]: 1 for question in handed[0]["questions"]}
    said = [vote(handed[0]["item"], worker, answers=answers) for worker in ("w1", "w2")]
    ratings = {"good": 5.0, "fair": 3.5, "poor": 1.0}
    said += [
        vote(f"{name}-{n}", "w1", score=rating) for n in (0, 1) for name, rating in ratings.items()
    ]
    (tmp_path / "votes.json").write_text(as_json(said))
    done = invoke(*ETVA, "people", scored, "votes.json", "--json")
    assert done.exit_code == 0, done.output
    compared = json.loads(done.stdout)
    (alike,) = compared["answers"]
    assert (alike["share"], alike["total"]) == (1.0, len(answers)) == (1.0, 3)
    by_value = {row["value"]: row for row in compared["correlation"]}
    # The fox's three scores are 1, 2/3, 1/3: as people rank them. The dog's are 1, 1, 1/2, which
    # ties two that people tell apart: by scipy τ-b .8165 and ρ .8660.
    assert by_value["score"]["kendall"] == pytest.approx((1 + 0.81650) / 2, abs=1e-4)
    assert by_value["score"]["spearman"] == pytest.approx((1 + 0.86603) / 2, abs=1e-4)
    # All foxes and dogs are there: equal scores have no correlation, and are counted.
    assert by_value["existence"]["kendall"] is None
    table = invoke(*ETVA, "people", scored, "votes.json")
    # No name is broken over two lines.
    assert all(f"\n{name} " in table.stdout for name in by_value)
    assert "3      3  1.000" in table.stdout.split("Answers as people")[1]
    assert fits(table.stdout)
    # Baselines beside it: a file of scores by item, one of them against people's order.
    scores = [f"{name}-{n},{value},{-value}" for n in (0, 1) for name, value in ratings.items()]
    (tmp_path / "others.csv").write_text("\n".join(["item,CLIPScore,wrong", *scores]) + "\n")
    done = invoke(*ETVA, "people", scored, "votes.json", "--beside", "others.csv", "--json")
    assert done.exit_code == 0, done.output
    compared = json.loads(done.stdout)
    by_value = {row["value"]: row for row in compared["correlation"]}
    assert (by_value["CLIPScore"]["kendall"], by_value["wrong"]["spearman"]) == (1.0, -1.0)
    closer = {row["value"]: row for row in compared["closer"]}
    assert closer["wrong"]["kendall"] == pytest.approx(1 + (1 + 0.81650) / 2, abs=1e-4)
    # A metric called like a category (`motion` is one) does not take its place.
    (tmp_path / "others.csv").write_text("\n".join(["item,motion,wrong", *scores]) + "\n")
    done = invoke(*ETVA, "people", scored, "votes.json", "--beside", "others.csv", "--json")
    assert [row["value"] for row in json.loads(done.stdout)["closer"]] == ["others.motion", "wrong"]
    # By category as the released script has it: the whole score on the prompts that ask of one.
    whole = {row["value"]: row for row in json.loads(done.stdout)["correlation"]}
    assert whole["score of existence"]["kendall"] == by_value["score"]["kendall"]
    assert whole["others.motion of existence"]["kendall"] == 1.0
    # Ratings as a table: the same people, the same numbers.
    (tmp_path / "ratings.csv").write_text(
        "\n".join(["item,score", *(f"{n}-{k},{r}" for k in (0, 1) for n, r in ratings.items())])
        + "\n"
    )
    done = invoke(*ETVA, "people", scored, "ratings.csv", "--json")
    assert done.exit_code == 0, done.output
    again = {row["value"]: row for row in json.loads(done.stdout)["correlation"]}
    assert again["score"]["kendall"] == by_value["score"]["kendall"]
    # Any run stands beside: this one, by the names of its values.
    done = invoke(*ETVA, "people", scored, "votes.json", "--beside", scored)
    assert done.exit_code == 0, done.output
    assert "closer" in done.stdout
    (tmp_path / "strange.csv").write_text("item,x\nnobody,1\n")
    for name, told in (("strange.csv", "no score"), ("votes.json", "not a number")):
        refused = invoke(*ETVA, "people", scored, "votes.json", "--beside", name)
        assert refused.exit_code == 2
        assert told in refused.output
