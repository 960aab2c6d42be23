"""Several chat models in one run: each is a judge of its own, and all end in one table."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from scipy.stats import spearmanr
from statsmodels.stats.proportion import proportion_confint

from screentest.analysis.judges.certificate import Accuracy, Cost
from screentest.analysis.judges.compare import compare_runs, judge_points
from screentest.analysis.judges.plan import Answers, Plan, make_certificate
from screentest.api.certificates import judge_videos
from screentest.core import BadOption
from screentest.core.signature import Signature
from screentest.judges.verdicts import with_chat_models
from screentest.models import read_models
from screentest.present.results.certificates import paper_tables
from screentest.run.reader import RunReader
from screentest.run.session import Settings, Tools, open_tools
from screentest.stats import Interval
from screentest.testing.chat_answers import Answer, Asked
from screentest.testing.chat_server import FakeChatServer
from tests.analysis.judges.stage import answer
from tests.analysis.judges.test_figures import both, case
from tests.terminal import invoke

pytestmark = pytest.mark.usefixtures("clean_tools")

JUDGE = "vlm_video:frames=3,long_side=48"
MODELS = ("gpt-5", "org/gpt-5.1-mini", "qwen3:8b")
NAMES = tuple(f"vlm_video@{model}:frames=3,long_side=48" for model in MODELS)


def one_model(asked: Asked) -> Answer:
    """The first model likes what is shown first, the second the other, the third now this, now
    that."""
    if asked.body["model"] == MODELS[2]:
        return answer("first" if int(asked.digest, 16) % 2 else "second")
    return answer("first" if asked.body["model"] == MODELS[0] else "second")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeChatServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with FakeChatServer(one_model) as server:
        yield server


def certify(testbed: Path, out: Path, server: FakeChatServer, *models: str, judge: str = JUDGE):  # type: ignore[no-untyped-def]
    chosen = [f"chat=openai:{model},base_url={server.url},max_attempts=1" for model in models]
    return invoke(
        *("certify", judge, "--testbed", testbed, "--out", out, "--orders", "first", "--json"),
        *(part for one in chosen for part in ("--model", one)),
        *("--workers", "1", "--no-placebos"),
    )


def test_three_chat_models_end_in_one_table(
    testbed: Path, tmp_path: Path, server: FakeChatServer
) -> None:
    out = tmp_path / "run"
    first = certify(testbed, out, server, *MODELS[:2])
    assert first.exit_code == 0, first.output
    assert [one["judge"] for one in json.loads(first.stdout)] == list(NAMES[:2])
    asked = len(server.asked)
    # A model that comes later is added to the run, and nothing is paid twice.
    later = certify(testbed, out, server, MODELS[2])
    assert [one["judge"] for one in json.loads(later.stdout)] == [NAMES[2]]
    assert {one.body["model"] for one in server.asked[asked:]} == {MODELS[2]}
    asked = len(server.asked)
    again = certify(testbed, out, server, *MODELS, judge=NAMES[0])
    assert json.loads(again.stdout)[0]["overall"] == json.loads(first.stdout)[0]["overall"]
    assert len(server.asked) == asked
    # Each model's records are its own: as a model answers, so they are.
    with RunReader(out) as run:
        points = [judge_points(run, name) for name in NAMES]
    for found, expected in zip(points[:2], (1.0, 0.0), strict=True):
        assert {point for pairs in found.values() for point in pairs.values()} == {expected}
    # Two severities are judged, the stronger is shown; the table has one row for each.
    tables = tmp_path / "tables"
    told = invoke("report", out, "--out", tmp_path / "r.html", "--tables", tables)
    assert told.exit_code == 0, told.output
    assert '<table class="accuracy">' in (tmp_path / "r.html").read_text(encoding="utf-8")
    with (tables / "accuracy.csv").open(newline="", encoding="utf-8") as file:
        rows = {row.pop("judge"): row for row in csv.DictReader(file)}
    assert set(rows) == set(NAMES)
    assert {cell.split()[0] for cell in rows[NAMES[0]].values()} == {"100.0"}
    assert {cell.split()[0] for cell in rows[NAMES[1]].values()} == {"0.0"}
    for model in ("gpt_5", "org_gpt_5_1_mini", "qwen3_8b"):
        assert (tables / f"certificate_vlm_video_{model}_frames_3_long_side_48.tex").is_file()
    # `compare` has them from the run, or from a run for each.
    assert set(compare_runs([out], ()).names) == set(NAMES)
    printed = invoke("compare", out)
    assert all(len(line) <= 80 for line in printed.stdout.splitlines())
    assert "Every two" not in printed.stdout  # for records and files alone
    others = [tmp_path / model.replace("/", "_") for model in MODELS]
    for model, other in zip(MODELS, others, strict=True):
        assert certify(testbed, other, server, model).exit_code == 0
    together = json.loads(invoke("compare", *others, "--json").stdout)
    assert [row["judge"] for row in together["accuracy"]] == list(NAMES)
    assert together["accuracy"] == json.loads(invoke("compare", out, "--json").stdout)["accuracy"]


def test_a_judge_names_the_model_that_answers() -> None:
    def named(judge: str, *models: str) -> list[str]:
        return with_chat_models([judge], Settings(models=read_models(models)))

    both = ("chat=openai:a", "chat=openai:b,base_url=http://127.0.0.1:1/v1")
    assert named("vlm_video") == ["vlm_video"]
    assert named("vlm_video", *both) == ["vlm_video@a", "vlm_video@b"]
    assert named("vlm_video@b:frames=4", *both) == ["vlm_video@b:frames=4"]
    # A model for the use that answers is the one; the captioner is no name of a judge.
    assert named("vlm_text", "chat=openai:a", "chat.judge=openai:c") == ["vlm_text@c"]
    assert named("vlm_text", *both, "chat.caption=openai:c") == ["vlm_text@a", "vlm_text@b"]
    assert named("flicker", *both) == ["flicker"]
    with pytest.raises(BadOption, match="no chat model 'c'"):
        named("vlm_video@c", *both)
    with pytest.raises(BadOption, match="no chat model"):
        named("baseline@a", *both)
    with pytest.raises(BadOption, match="several chat models"):
        judge_videos("vlm_video", "one.mp4", "two.mp4", model=both)
    # A metric has one record of a video, whichever model answered.
    with pytest.raises(BadOption, match="several were chosen"):
        named("dense", *both)


def test_the_papers_tables_before_and_after_the_filter() -> None:
    """Forty pairs in both orders; people kept every second one."""
    pairs = [case(f"s{n}", kept=n % 2 == 0, duration=10.0 + n) for n in range(40)]
    right = [float(n % 3 == 0 or n < 13) for n in range(40)]
    judgements = [one for pair, p in zip(pairs, right, strict=True) for one in both(pair, p, 1)]
    answers = Answers("vlm_video@gpt-5", Signature.of("x", version=1), judgements, Cost(0.0))
    made = make_certificate(Plan(tuple(pairs), ()), answers)
    tables = {table.name: table for table in paper_tables([made, made])}

    def expected(points: list[float]) -> tuple[str, str]:
        """SLVMEval's ± is statsmodels' normal interval over both orders; ρ and p are scipy's."""
        total, count = int(sum(points)) + len(points), 2 * len(points)
        low, high = proportion_confint(total, count, method="normal")
        means = [(p + 1) / 2 for p in points]
        bins = [sum(means[at : at + 2]) / 2 for at in range(0, len(means), 2)]
        rho = spearmanr(range(len(bins)), bins).statistic
        reach = 100 * (high - low) / 2
        return f"{100 * total / count:.1f} ±{reach:.1f}", f"{rho:.3f}".replace("0.", ".")

    for points, name in ((right, ""), (right[::2], "_kept")):
        accuracy, rho = expected(points)
        (cell, _) = tables[f"accuracy{name}"].column("color")
        assert str(cell).rsplit(" ", 1)[0] == accuracy
        (cell, _) = tables[f"duration{name}"].column("color")
        assert str(cell).split()[0] == rho
    assert tables["accuracy"].column("judge") == ["vlm_video@gpt-5"] * 2
    # The paper prints 90.1 ± 2.5 for both orders of 274 pairs; over 274 it would be 3.5.
    whole = Interval(0.0, 1.0)
    assert round(100 * Accuracy(494, 548, 548, 0, whole, whole).reach, 1) == 2.5


def test_two_servers_are_open_together_and_two_networks_are_not() -> None:
    """Tasks of several judges wait for answers in one worker."""

    def opened(*models: str) -> Tools:
        return open_tools(Settings(models=read_models(models)))

    first, second = opened("chat=openai:a"), opened("chat=openai:b")
    assert opened("chat=openai:a") is first is not second
    opened("chat=openai:a", "flow=raft")
    assert opened("chat=openai:a") is not first


def test_a_choice_of_ones_own_takes_the_place_of_a_profiles(tmp_path: Path) -> None:
    profile = tmp_path / "mine.toml"
    profile.write_text('[models]\nchat = "openai:a"\nflow = "dis"\n')
    chosen = [str(one) for one in read_models([str(profile), "chat=openai:b"])]
    assert chosen == ["flow=dis", "chat=openai:b"]
