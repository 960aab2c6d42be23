"""Verdicts from scores: the higher wins, equal is a tie, and without a score there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screentest.analysis.models import margins
from screentest.api.certificates import judge_videos
from screentest.core import (
    Aspect,
    BadOption,
    Choice,
    Item,
    Outcome,
    Reason,
    Score,
    UnknownName,
    Verdict,
)
from screentest.judges.cases import Case, Order
from screentest.judges.verdicts import verdict
from screentest.run.engine import InlineEngine
from screentest.sample import sample_folder
from screentest.testing.chat_answers import Answer
from screentest.testing.chat_server import FakeChatServer
from screentest.testing.films import gliding, write_film
from tests.metrics.films import filtered


def rated(value: float) -> Outcome[Score]:
    return Outcome.of(Score(value))


@pytest.mark.parametrize(
    ("first", "second", "choice"),
    [
        (0.7, 0.4, Choice.FIRST),
        (-3.0, -2.0, Choice.SECOND),
        (0.0, 0.0, Choice.TIE),
        # Three tenths, added in two ways: 0.30000000000000004 and 0.3.
        (0.1 + 0.1 + 0.1, 0.3, Choice.TIE),
        (1e-12, 2e-12, Choice.SECOND),  # small is not the same as equal
    ],
)
def test_the_higher_wins(first: float, second: float, choice: Choice) -> None:
    assert verdict(rated(first), rated(second)).unwrap().choice is choice
    assert verdict(rated(second), rated(first)).unwrap().choice is choice.flipped


def test_without_both_scores_there_is_no_verdict() -> None:
    lost: Outcome[Score] = Outcome.failed(Reason.UNDECODABLE, "no picture in it")
    for pair in ((rated(1.0), lost), (lost, rated(1.0))):
        found = verdict(*pair)
        assert found.failure is not None
        assert found.failure.reason is Reason.UNDECODABLE


def test_a_question_does_not_say_which_video_is_which() -> None:
    intact = Item("bed/intact/a", Path("1.mp4"), groups={"kind": "intact"})
    changed = Item("bed/changed/a", Path("2.mp4"), groups={"kind": "changed"})
    case = Case("pair", Aspect.COLOR, "a red kite", intact, changed)
    for order in Order:
        question = case.question(order)
        assert (question.first.id, question.second.id) == ("first", "second")
        assert not question.first.groups
        assert not question.second.groups


def test_a_choice_in_plain_text_is_a_choice_and_any_other_text_is_refused() -> None:
    assert Verdict("second").choice is Choice.SECOND  # type: ignore[arg-type]
    for nonsense in ("both", "", None, 1):
        with pytest.raises(ValueError, match="not a valid Choice"):
            Verdict(nonsense)  # type: ignore[arg-type]


def test_a_bad_answer_is_asked_for_anew_where_all_failures_are_retried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    film = write_film(tmp_path / "film.mkv", gliding(8, 1))
    good = '{"pictures_seen": true, "reason": "It is red.", "better": "first"}'
    said = ["Neither."]

    def start(retry: str) -> tuple[int, bool]:
        before = len(server.asked)
        found = judge_videos(
            "vlm_video:frames=1,long_side=32",
            film,
            film,
            prompt="A ball.",
            aspects=["color"],
            out=tmp_path / "run",
            model=[f"chat=openai:m,base_url={server.url}"],
            engine=InlineEngine(),
            retry=retry,
        )
        one, _ = found.outcomes[Aspect("color")]
        return len(server.asked) - before, one is not None and one.ok

    with FakeChatServer(lambda asked: Answer(said[0])) as server:
        assert start("transient") == (2, False)  # the question and its repair
        assert start("transient") == (0, False)
        said[0] = good
        assert start("all") == (1, True)
        assert start("all") == (0, True)
    with pytest.raises(BadOption, match="invalid `retry`"):
        start("always")


def test_a_metric_judges_one_thing_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    film = write_film(tmp_path / "film.mkv", gliding(8, 1))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    found = judge_videos("sharpness", film, film, engine=InlineEngine())
    assert [row["aspect"] for row in found.table().records()] == ["sharpness"]
    assert repr(found).startswith("Verdict by sharpness\n")
    assert not list(Path().iterdir())
    with pytest.raises(UnknownName, match=r"metric 'sharpnes'\n.*'sharpness'"):
        judge_videos("sharpnes", film, film)
    one = judge_videos("sharpness", film, film, aspects=["color"], engine=InlineEngine())
    assert one.margin == found.margin
    assert repr(one).startswith("Verdicts on 1 aspect\n")


@pytest.mark.parametrize(("change", "better"), [("null", "tie"), ("gblur=sigma=2", "first")])
def test_what_saving_a_film_again_changes_is_a_tie(
    ffmpeg: str, tmp_path: Path, change: str, better: str
) -> None:
    """The same frames by another encoder setting, and blurred ones."""
    first, second = tmp_path / "first.mp4", tmp_path / "second.mp4"
    film = sample_folder() / "real_5shots_640x360.mp4"
    filtered(ffmpeg, film, first, "scale=320:-2", seconds=1)
    filtered(ffmpeg, first, second, change, seconds=1)
    found = judge_videos("sharpness", first, second, engine=InlineEngine())
    (row,) = found.table().records()
    verdict = next(iter(found.outcomes.values()))[0]
    assert verdict is not None
    assert verdict.unwrap().first != verdict.unwrap().second
    assert row["better"] == verdict.unwrap().choice == better
    assert json.loads(Path(margins.__file__).with_suffix(".json").read_text())["margins"][
        "sharpness|v:1"
    ]["worst"] == pytest.approx(found.margin)
