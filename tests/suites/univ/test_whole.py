"""All six tasks from the benchmark's files to tables and a page, on real and generated film."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from screentest.analysis.runs import read_results
from screentest.run.reader import RunReader
from screentest.run.session import close_tools
from screentest.testing.chat_server import FakeChatServer
from tests.messages import names
from tests.suites.univ.benchmark import FINE, GREY, MODELS, TASKS, Benchmark, judge, make_benchmark
from tests.suites.univ.scripted import kind_of
from tests.terminal import invoke

UNIV = ("suite", "univ")


@dataclass(frozen=True)
class Evaluated:
    """All runs, and how often the judge was asked for each."""

    bench: Benchmark
    server: FakeChatServer
    runs: dict[str, Path]
    asked: dict[str, list[str]]

    def command(self, task: str) -> list[str | Path]:
        truth = f",truth={self.bench.folder}" if task == "v2t" else ""
        manifests = [self.bench.folder / f"{task}_{model}.jsonl" for model in MODELS]
        chosen = f"chat=openai:fake,base_url={self.server.url},max_attempts=1"
        return [
            *("score", *manifests, "--suite", f"univ:task={task}{truth}", "--model", chosen),
            *("--out", self.bench.folder / f"scores_{task}", "--json"),
        ]


@pytest.fixture(scope="module")
def evaluated(
    tmp_path_factory: pytest.TempPathFactory, shared_data: Path, ffmpeg: str
) -> Iterator[Evaluated]:
    """Both models at all six tasks, by the commands that a user has."""
    folder = tmp_path_factory.mktemp("benchmark")
    bench = make_benchmark(folder, shared_data / "video", ffmpeg)
    with pytest.MonkeyPatch.context() as patch, judge() as server:
        patch.setenv("OPENAI_API_KEY", "none")
        found = Evaluated(bench, server, {}, {})
        for task in TASKS:
            for model in MODELS:
                told = invoke(
                    *("suite", "univ", "import", folder, bench.results(model), "--task", task),
                    *("--model", model, "--out", folder / f"{task}_{model}.jsonl"),
                )
                assert told.exit_code == 0, told.output
            before = len(server.asked)
            done = invoke(*found.command(task))
            assert done.exit_code == 0, done.output
            found.runs[task] = folder / f"scores_{task}"
            found.asked[task] = [kind_of(one) for one in server.asked[before:]]
        yield found
        close_tools()


def rows(run: Path, *options: str) -> list[dict[str, Any]]:
    told = invoke(*UNIV, "table", run, "--json", *options)
    assert told.exit_code == 0, told.output
    found: list[dict[str, Any]] = json.loads(told.stdout)
    return found


@pytest.mark.parametrize("task", TASKS)
def test_the_table_has_what_the_judge_said(task: str, evaluated: Evaluated) -> None:
    found = {row["model"]: row for row in rows(evaluated.runs[task])}
    # What the judge gives, times ten; of a checklist all, or half of each item.
    expected = {"fine": 100.0, "grey": 50.0} if task == "v2t" else {"fine": 90.0, "grey": 40.0}
    assert {model: row["average"] for model, row in found.items()} == expected
    # Two cases; RV2V has one with one picture and one with several for each.
    cases = 4 if task == "rv2v" else 2
    for row in found.values():
        # The benchmark's checklist has no camera, and nothing is put there.
        assert (row["camera"] is None) == (task == "v2t")
        assert (row["scored"], row["total"]) == (cases, cases)
    kinds = evaluated.asked[task]
    if task == "v2t":
        assert kinds == ["match"] * 4
    else:
        assert kinds.count("inspect") == kinds.count("score") == 2 * cases


def test_by_another_group(evaluated: Evaluated) -> None:
    found = {row["shots"]: row["average"] for row in rows(evaluated.runs["t2v"], "--by", "shots")}
    assert found == {"one": 65.0, "several": 65.0}
    every = invoke(*UNIV, "table", *evaluated.runs.values(), "--json")
    assert [row["task"] for row in json.loads(every.stdout)] == [t for t in TASKS for _ in MODELS]
    plain = invoke(*UNIV, "table", evaluated.runs["v2t"])
    assert "ground truth" in plain.stdout
    assert all(len(line) <= 80 for line in plain.stdout.splitlines())


@pytest.mark.parametrize("task", ["v2t", "rv2v"])
def test_the_same_command_again_asks_nothing(task: str, evaluated: Evaluated) -> None:
    before = len(evaluated.server.asked)
    assert invoke(*evaluated.command(task)).exit_code == 0
    assert len(evaluated.server.asked) == before


def test_findings_stand_at_their_time(evaluated: Evaluated) -> None:
    with RunReader(evaluated.runs["tv2v"]) as run:
        results = read_results(run)
    (value,) = [
        one
        for one in results.values
        if one.output == "colour" and results.items[one.item].id == "tv2v/grey/1"
    ]
    (point,) = value.outcome.unwrap().curve
    assert float(point.span.end) == 0.5
    assert "all is grey" in point.note
    assert value.outcome.unwrap().value == GREY


def test_the_cost_table_is_the_ledger(evaluated: Evaluated) -> None:
    for task in ("r2v", "v2t"):
        told = json.loads(invoke(*UNIV, "costs", evaluated.runs[task], "--json").stdout)
        (row,) = told
        with RunReader(evaluated.runs[task]) as run:
            spent = run.spending()
        assert row["task"] == task
        assert row["cases"] == 4
        assert row["calls_per_case"] == (1 if task == "v2t" else 2)
        assert row["tokens_in_per_case"] * 4 == spent.tokens_in > 0
        assert row["tokens_out_per_case"] * 4 == spent.tokens_out > 0
        assert row["seconds_per_case"] > 0
        assert row["failed_calls"] == 0
    plain = invoke(*UNIV, "costs", evaluated.runs["r2v"])
    # Table D1 has 16,743 tokens and 44 s for R2V.
    assert plain.stdout.split()[-2:] == ["16743", "44"]


@pytest.mark.parametrize("task", ["v2t", "v2v", "rv2v"])
def test_a_dry_run_is_near_what_was_counted_after(task: str, evaluated: Evaluated) -> None:
    """The fake server cuts text and counts pictures much as real ones do."""
    manifests = [evaluated.bench.folder / f"{task}_{model}.jsonl" for model in MODELS]
    truth = f",truth={evaluated.bench.folder}" if task == "v2t" else ""
    done = invoke(
        *("score", *manifests, "--suite", f"univ:task={task}{truth}", "--dry-run", "--json"),
        *("--model", "chat=openai:j"),
    )
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)
    with RunReader(evaluated.runs[task]) as run:
        spent = run.spending()
    assert found["calls"] == spent.calls
    assert found["tokens"] == pytest.approx(spent.tokens_in, rel=0.5)


def test_a_dry_run_counts_nothing_for_items_that_lack_a_field(evaluated: Evaluated) -> None:
    manifest = evaluated.bench.folder / "t2v_fine.jsonl"
    given = ("score", manifest, "--model", "chat=openai:j", "--dry-run", "--json")
    for level in ("video", "shots"):
        (row,) = json.loads(invoke(*given, "--suite", f"univ:task=v2v,level={level}").stdout)
        assert row["calls"] == 0


def test_the_report_has_tables_and_a_radar_per_task(evaluated: Evaluated, tmp_path: Path) -> None:
    page, tables = tmp_path / "report.html", tmp_path / "tables"
    told = invoke(
        *("report", *evaluated.runs.values(), "--out", page, "--tables", tables),
        *("--formats", "csv", "--pictures", "0"),
    )
    assert told.exit_code == 0, told.output
    averages = {}
    for task in TASKS:
        with (tables / f"univ_{task}.csv").open(newline="") as file:
            for row in csv.DictReader(file):
                averages[task, row["model"]] = float(row["average"])
    assert set(averages) == {(task, model) for task in TASKS for model in MODELS}
    assert averages["tv2v", "grey"] == 10 * GREY
    assert averages["t2v", "fine"] == 10 * FINE
    with (tables / "univ_v2t_subdimensions.csv").open(newline="") as file:
        fine, grey = csv.DictReader(file)
    assert float(fine["action_event"]) == 100
    assert float(grey["action_event"]) == 50
    assert grey["camera_motion"] == ""
    text = page.read_text()
    for task in TASKS:
        assert f"UniVBench, {task.upper()}, per cent" in text
    radar = invoke(
        "suite", "univ", "table", evaluated.runs["t2v"], "--chart", tmp_path / "radar.svg"
    )
    assert radar.exit_code == 0, radar.output
    drawn = (tmp_path / "radar.svg").read_text()
    assert "Relative" in drawn
    assert "grey" in drawn


def test_a_run_of_something_else(tmp_path: Path, film: Path) -> None:
    from screentest.run.store import RunStore

    with RunStore(tmp_path / "run", command="score"):
        pass
    for command in ("table", "costs"):
        done = invoke(*UNIV, command, tmp_path / "run")
        assert done.exit_code == 2
        assert "has no" in done.stderr


def test_agree_from_the_draw_to_self_preference(evaluated: Evaluated, tmp_path: Path) -> None:
    """Three people who see colour as the judge does, except one value of eight."""
    run, sheet = evaluated.runs["t2v"], tmp_path / "sheet.csv"
    told = invoke(*UNIV, "agree", run, "--sample", sheet, "--share", "1")
    assert told.exit_code == 0, told.output
    assert names(told.stdout, "4 of 4", "3 votes")
    with sheet.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * 8 * 3
    assert "9" not in {row["score"] for row in rows}  # nobody sees what the judge said
    for row in rows:
        said = FINE if "/fine/" in row["item"] else GREY
        row["score"] = "6" if row["value"].endswith(".camera") else str(said)
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    compared = invoke(
        "suite", "univ", "agree", run, "--votes", sheet, "--own", "scores_t2v=fine", "--json"
    )
    assert compared.exit_code == 0, compared.output
    found = json.loads(compared.stdout)
    whole = {one["value"]: one for one in found["agreement"]}
    assert (whole["all"]["units"], whole["all"]["agreement"]) == (32, 28 / 32)
    assert whole["univ_t2v.camera"]["agreement"] == 0
    assert whole["univ_t2v.subject"]["agreement"] == 1
    # On the camera: 0.3 too much for its own, 0.2 too little for the others; an eighth of it.
    (fond,) = found["self_preference"]
    assert fond["value"] == pytest.approx((0.3 + 0.2) / 8)
    plain = invoke(*UNIV, "agree", run, "--votes", sheet, "--own", f"{run}=fine")
    assert "0.88" in plain.stdout
    assert "Self-preference" in plain.stdout
    assert all(len(line) <= 80 for line in plain.stdout.splitlines())


def test_agree_needs_something_to_compare_with(evaluated: Evaluated, tmp_path: Path) -> None:
    run, votes = evaluated.runs["t2v"], tmp_path / "votes.csv"
    votes.write_text("item,value,score\nnobody,x,3\n")
    for options, message in (
        ((), "nothing to compare with"),
        (("--share", "0", "--sample", votes), "between 0 and 1"),
        (("--votes", votes), "no value has both"),
        (("--values", "x", "--sample", votes), "no value 'x'"),
        (("--own", "other=fine"), "invalid --own"),
        (("--own", "scores_t2v"), "invalid --own"),
        (("--own", "scores_t2v=fine"), "beside others"),
    ):
        done = invoke(*UNIV, "agree", run, *options)
        assert done.exit_code == 2, done.output
        assert message in done.stderr
