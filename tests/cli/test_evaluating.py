"""score, judge, certify and compare as a user has them: tables, exit codes, messages."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from screentest.core import Size
from screentest.run.reader import RunReader
from screentest.run.session import close_tools
from screentest.sample import sample_videos
from screentest.testing.chat_answers import Answer
from screentest.testing.chat_server import FakeChatServer
from screentest.video.edit.normalize import normalize
from tests.analysis.judges.stage import build_small, films
from tests.messages import names
from tests.terminal import fits, invoke
from tests.testbeds.stage import QUICK


@pytest.fixture(autouse=True)
def _clean_tools() -> Iterator[None]:
    yield
    close_tools()


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small films and a file that is none."""
    folder = tmp_path_factory.mktemp("videos")
    for video in sample_videos()[:2]:
        small = folder / f"{video.item.id}.mp4"
        normalize(
            video.item.video, small, size=Size(long_side=96), rate=Fraction(4), settings=QUICK
        )
    (folder / "broken.mp4").write_bytes(b"not a film at all")
    return folder


@pytest.fixture(scope="module")
def testbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("beds")
    return build_small(
        folder / "testbed",
        films(folder, 2),
        degradations=("aesthetics", "dynamics_degree"),
        placebos=("container",),
    )


@pytest.fixture(scope="module")
def certified(testbed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three metrics as judges, in one run."""
    out = tmp_path_factory.mktemp("run") / "certificates"
    done = invoke(
        *("certify", "contrast", "frozen", "blockiness", "--testbed", testbed, "--out", out),
    )
    assert done.exit_code == 0, done.output
    assert fits(done.stdout)
    # By aspect, in three certificates and one table; what else was measured is for who asks.
    assert done.stdout.count("dynamics degree") == 4
    again = invoke(
        *(
            "certify",
            "contrast",
            "frozen",
            "blockiness",
            "--testbed",
            testbed,
            "--out",
            out,
            "--all",
        ),
    )
    for words in ("Order", "Placebo container", "Cost", "(chance 50%)"):
        assert (done.stdout.count(words), again.stdout.count(words)) == (0, 3)
    return out


def said_wrong(*arguments: str | Path) -> str:
    """What is said of a command that cannot be; it ends with 2 and no traceback."""
    done = invoke(*arguments)
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.output
    return done.output


def test_score_tells_what_was_scored_and_what_was_not(
    videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Long paths, as temporary folders may have, are printed on lines of their own.
    monkeypatch.chdir(videos.parent)
    line = ("score", videos.name, "--metrics", "contrast,named_colours", "--out", tmp_path / "s")
    done = invoke(*line)
    assert done.exit_code == 3, done.output  # one could not be read
    assert fits(done.stdout)
    assert "2/3" in done.stdout  # the file that is none has no contrast
    assert "no value" in done.stdout  # nobody has a prompt
    ending = done.stdout.partition("Unreadable: 1 of 3")[2].partition("Everything")[0].strip()
    assert "broken.mp4: " in " ".join(ending.split()), ending
    # What does not apply is no loss.
    assert "not_applicable" not in ending
    assert len(ending.splitlines()) <= 4
    with RunReader(tmp_path / "s") as run:
        before = {record.key: record.written for record in run.records()}
    told = json.loads(invoke(*line, "--json").stdout)
    with RunReader(tmp_path / "s") as run:
        assert {record.key: record.written for record in run.records()} == before
    totals = {row["metric"]: row for row in told["summary"]}
    assert (totals["contrast"]["scored"], totals["contrast"]["total"]) == (2, 3)
    assert totals["named_colours[colour_words]"]["mean"] is None


def test_score_ends_with_1_where_nothing_is_scored(videos: Path, tmp_path: Path) -> None:
    broken = videos / "broken.mp4"
    done = invoke("score", broken, "--metrics", "contrast", "--out", tmp_path / "s")
    assert done.exit_code == 1
    assert "1 of 1 video" in done.stdout


def test_what_cannot_be_scored_is_reported(videos: Path, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "s")
    assert "sharpnes" in said_wrong("score", videos, "--metrics", "sharpnes", *out)
    assert "--retry" in said_wrong("score", videos, "--retry", "always", *out)
    for gone in (tmp_path / "gone.mp4", tmp_path / "gone"):
        assert "not there" in said_wrong("score", videos, gone, "--out", tmp_path / "none")
    assert not (tmp_path / "none").exists()  # a path typed wrongly leaves no run behind


def test_what_would_help_stands_below_what_was_not_scored(videos: Path, tmp_path: Path) -> None:
    asked = ("--metrics", "etva", "--prompt", "A cat sleeps.", "--out", tmp_path / "s")
    done = invoke("score", videos, *asked)
    assert done.exit_code == 1
    assert done.stdout.count("--model chat=") == 1  # once, however many lack it


def test_judge_says_which_is_better_and_by_what(videos: Path, tmp_path: Path) -> None:
    first, second = sorted(video for video in videos.iterdir() if video.stem != "broken")
    done = invoke(
        *("judge", "contrast", first, second, "--aspects", "aesthetics", "--out", tmp_path / "j")
    )
    assert done.exit_code == 0, done.output
    assert fits(done.stdout.replace(str(first), "").replace(str(second), ""))
    told = invoke(
        *("judge", "contrast", second, first, "--aspects", "aesthetics"),
        *("--out", tmp_path / "k", "--json"),
    )
    (row,) = json.loads(told.stdout)
    assert row["better"] in ("first", "second")
    worse = {"first": "second", "second": "first"}[row["better"]]
    low = min(row["evidence"][worse], key=lambda moment: moment["value"])
    assert " against " in row["note"]
    assert names(row["note"].rpartition(";")[2], worse, f"{low['start']:.1f} s")


def test_judge_reads_a_script(videos: Path, tmp_path: Path) -> None:
    first, second = sorted(video for video in videos.iterdir() if video.stem != "broken")
    script = tmp_path / "script.txt"
    script.write_text("A meadow.\n\nA hare yawns.\n", encoding="utf-8")
    line = ("judge", "shot_count.shots_had", first, second, "--aspects", "comprehensiveness")
    blind = invoke(*line, "--out", tmp_path / "blind", "--json")
    assert blind.exit_code == 1
    assert json.loads(blind.stdout)[0]["note"].startswith("not_applicable: ")
    told = invoke(*line, "--script", script, "--out", tmp_path / "j", "--json")
    # The cartoon has four shots; the newsreel of 1906, at this size, is one take.
    assert json.loads(told.stdout)[0]["better"] == "first"
    script.write_text("\n", encoding="utf-8")
    assert "no captions" in said_wrong(*line, "--script", script, "--out", tmp_path / "k")


def test_judge_says_where_the_order_decides_or_nothing_does(videos: Path, tmp_path: Path) -> None:
    first, second = sorted(video for video in videos.iterdir() if video.stem != "broken")
    always = Answer('{"reason": "so", "better": "first"}')
    with FakeChatServer(lambda asked: always) as server:
        model = f"chat=openai:test,base_url={server.url},max_attempts=1"
        pair = ("judge", "vlm_video:frames=1,long_side=48", first, second, "--model", model)
        told = invoke(*pair, "--aspects", "color", "--out", tmp_path / "j", "--json")
        lost = invoke(
            *("judge", "vlm_video:frames=1", first, videos / "broken.mp4", "--model", model),
            *("--aspects", "color", "--out", tmp_path / "k", "--json"),
        )
    (unclear,) = json.loads(told.stdout)
    assert unclear["better"] == "unclear"
    assert "order" in unclear["note"]
    assert lost.exit_code == 1
    (row,) = json.loads(lost.stdout)
    assert row["better"] is None
    assert row["note"].startswith("undecodable: ")


def test_certify_says_why_answers_are_missing_and_what_was_spent(
    testbed: Path, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[models."test"]\ninput = 2.0\noutput = 10.0\n')
    with FakeChatServer(lambda asked: Answer("I would rather sing.")) as server:
        model = f"chat=openai:test,base_url={server.url},max_attempts=1"
        line = (
            *("certify", "vlm_video:frames=1,long_side=48", "--testbed", testbed, "--no-placebos"),
            *("--model", model, "--prices", prices, "--aspects", "aesthetics", "--orders", "first"),
        )
        garbage = invoke(*line, "--out", tmp_path / "a")
        capped = invoke(*line, "--out", tmp_path / "b", "--max-cost", "0.000001")
    assert (garbage.exit_code, capped.exit_code) == (1, 1)
    assert fits(garbage.stdout)
    assert "Not judged" in garbage.stdout
    assert "unparsable" in garbage.stdout
    assert "rather sing" in garbage.stdout
    assert "calls" in garbage.stdout.partition("asked: ")[2]
    words = " ".join(capped.stdout.split())
    assert names(words, "over_budget: ", "0.000001")


def test_score_says_what_it_would_take_and_starts_nothing(tmp_path: Path) -> None:
    rows = [{"id": str(n), "video": f"{n}.mp4", "prompt": "A cat sleeps."} for n in range(3)]
    (tmp_path / "m.json").write_text(json.dumps(rows))
    prices = tmp_path / "prices.toml"
    prices.write_text('[models."m"]\ninput = 2.0\noutput = 10.0\n')
    line = (
        *("score", tmp_path / "m.json", "--metrics", "dense", "--metrics", "contrast", "--dry-run"),
        *("--model", "chat=openai:m", "--prices", prices, "--out", tmp_path / "run"),
    )
    done = invoke(*line)
    assert done.exit_code == 0, done.output
    assert fits(done.stdout)
    assert "Nothing was started" in done.stdout
    assert "Time: unknown" in done.stdout
    dense, contrast = json.loads(invoke(*line, "--json").stdout)
    assert (dense["videos"], dense["calls"], contrast["calls"]) == (3, 3, 0)
    # In and out per million: what is sent, and three answers of 300 tokens.
    assert float(dense["cost"]) == round((2 * dense["tokens"] + 10 * 3 * 300) / 1_000_000, 2)
    assert not (tmp_path / "run").exists()


def test_a_forecast_goes_by_what_was_scored_before(videos: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    one = next(video for video in sorted(videos.iterdir()) if video.stem != "broken")
    invoke("score", one, "--metrics", "contrast", "--out", out)
    line = ("score", videos, "--metrics", "contrast", "--out", out, "--dry-run", "--workers", "1")
    (row,) = json.loads(invoke(*line, "--json").stdout)
    assert row["videos"] == 2  # one of three is measured
    assert re.search(r"\(\d+\.\d s\b.*\b1 at", invoke(*line).stdout)


def test_a_judge_that_is_blind_has_no_verdict(videos: Path, tmp_path: Path) -> None:
    first, second = sorted(video for video in videos.iterdir() if video.stem != "broken")
    done = invoke(
        *("judge", "baseline", first, second, "--aspects", "spatial_relationship"),
        *("--out", tmp_path / "j"),
    )
    assert done.exit_code == 1
    assert "not_applicable" in done.stdout
    assert "nobody" in said_wrong("judge", "nobody", first, second, "--out", tmp_path / "k")


def test_certificates_as_json_are_whole(certified: Path, testbed: Path) -> None:
    again = invoke(
        *("certify", "contrast", "frozen", "blockiness", "--testbed", testbed),
        *("--out", certified, "--json"),
    )
    (_, certificate, _) = json.loads(again.stdout)
    by_aspect = {one["aspect"]: one["accuracy"]["value"] for one in certificate["aspects"]}
    assert by_aspect["dynamics_degree"]["points"] == 4.0  # two films in two orders
    assert by_aspect["dynamics_degree"].keys() >= {"interval", "wald"}
    assert certificate["signature"].startswith("frozen|")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--orders", "middle"), "--orders"),
        (("--probes", "reversed"), "reversed"),
        (("--aspects", "beauty"), "beauty"),
        (("--aspects", "color"), "no pairs"),
        (("--human", "votes.csv"), "votes.csv"),
    ],
)
def test_what_cannot_be_certified_is_reported(
    options: tuple[str, ...], told: str, testbed: Path, tmp_path: Path
) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text("video,aspect,choice\nvideos/x/color.mp4,color,intact\n", encoding="utf-8")
    given = [str(votes) if one == "votes.csv" else one for one in options]
    line = ("certify", "contrast", "--testbed", testbed, "--out", tmp_path / "run")
    assert told in said_wrong(*line, *given)
    assert not (tmp_path / "run").exists()  # nothing was begun


@pytest.mark.parametrize(
    ("command", "evaluator", "options"),
    [
        ("score", "dense", ("--model", "chat=replay:none.jsonl")),
        ("score", "dense", ("--prompts", "templates")),
        ("score", "contrast", ("--detector", "scdet:depth=1")),
        ("certify", "vlm_text", ("--model", "chat=replay:none.jsonl")),
        ("certify", "dense.aesthetics", ("--model", "chat=replay:none.jsonl")),
    ],
)
def test_what_cannot_open_leaves_no_run(
    command: str,
    evaluator: str,
    options: tuple[str, str],
    videos: Path,
    testbed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "of_nothing.jinja").touch()
    asked: tuple[str | Path, ...] = (videos, "--metrics", evaluator)
    if command == "certify":
        asked = (evaluator, "--testbed", testbed)
    said_wrong(command, *asked, *options, "--out", "run")
    assert not (tmp_path / "run").exists()


def test_no_testbed_and_no_judge_are_reported(testbed: Path, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "run")
    said_wrong("certify", "contrast", "--testbed", tmp_path, *out)
    assert "contras" in said_wrong("certify", "contras", "--testbed", testbed, *out)


def test_a_certificate_of_nothing_ends_with_1(testbed: Path, tmp_path: Path) -> None:
    """A testbed whose videos are gone bad: every judgement has its reason, none is a guess."""
    bad = tmp_path / "testbed"
    shutil.copytree(testbed, bad, ignore=shutil.ignore_patterns("run"))
    for video in bad.rglob("*.mp4"):
        video.write_bytes(b"gone")
    done = invoke(
        *("certify", "contrast", "--testbed", bad, "--no-placebos", "--out", tmp_path / "run"),
    )
    assert done.exit_code == 1, done.output
    assert "wrong_file" in done.stdout


def test_two_judges_are_compared_and_three_are_ranked(certified: Path) -> None:
    pair = invoke("compare", certified, "--judges", "frozen,contrast")
    assert pair.exit_code == 0, pair.output
    assert fits(pair.stdout)
    assert "First: frozen. Second: contrast." in pair.stdout
    told = json.loads(invoke("compare", certified, "--judges", "frozen,contrast", "--json").stdout)
    rows = {row["name"]: row for row in told["rows"]}
    assert rows["dynamics_degree"]["first"] == 1.0
    assert rows["dynamics_degree"]["pairs"] == 2
    ranking = invoke("compare", certified)
    assert ranking.exit_code == 0
    assert fits(ranking.stdout)
    assert "cannot be told apart" in ranking.stdout


def test_runs_of_scores_are_compared_by_group(videos: Path, tmp_path: Path) -> None:
    lines = [
        {"id": f"{model}-{n}", "video": str(video), "prompt": f"p{n}", "groups": {"model": model}}
        for n, video in enumerate(sorted(videos.glob("[!b]*.mp4")))
        for model in ("ours", "theirs")
    ]
    manifest = tmp_path / "items.jsonl"
    manifest.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    out = tmp_path / "scores"
    done = invoke("score", manifest, "--metrics", "contrast", "--by", "model", "--out", out)
    assert done.exit_code == 0, done.output
    assert fits(done.stdout)
    told = json.loads(invoke("compare", out, "--by", "model=ours,theirs", "--json").stdout)
    assert told["models"] == ["ours", "theirs"]
    exposure = next(row for row in told["rows"] if row["name"] == "contrast.exposure")
    assert [pair["difference"] for pair in exposure["pairs"]] == [0.0]  # the same files
    assert {row["state"] for row in told["rows"]} == {"equivalent", "described"}
    # The same screen in both: models side by side, with no difference.
    said = invoke("compare", out).stdout
    assert said.strip() in done.stdout
    assert names(said, "1 metric (1 prompt)")
    assert "mine" in said_wrong("compare", out, "--by", "model=ours,mine")
    assert "Groups: model." in said_wrong("compare", out, "--by", "modle=ours,theirs")


def test_what_cannot_be_compared_is_reported(certified: Path, tmp_path: Path) -> None:
    assert "sharpness" in said_wrong("compare", certified, "--judges", "frozen,sharpness")
    assert "--by" in said_wrong("compare", certified, "--by", "model=a,b")
    assert "one judge" in said_wrong("compare", certified, "--judges", "frozen")
    assert "twice" in said_wrong("compare", certified, certified, certified)
    said_wrong("compare", tmp_path)
