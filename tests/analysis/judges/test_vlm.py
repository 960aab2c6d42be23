"""Judges that ask a chat model, end to end: all ten aspects, a hundred pairs, killed, resumed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from screentest.core import BUILTIN_ASPECTS, Aspect, Choice, Reason, Verdict
from screentest.judges.cases import strongest
from screentest.models import ModelChoice
from screentest.run.reader import RunReader
from screentest.testing.chat_answers import Answer, Asked, plausible
from screentest.testing.chat_server import FakeChatServer
from tests.analysis.judges.stage import answer, certified, few_of, plan_of, settings
from tests.run.canonical import canonical

pytestmark = pytest.mark.usefixtures("clean_tools")

JUDGE = "vlm_video:frames=3,long_side=48"
PATIENCE = 300
"""Seconds; far more than it takes anywhere."""
WORKERS, AT_ONCE = 2, 4
"""Of calls, whatever the number of workers."""


def command(testbed: Path, out: Path, server: FakeChatServer) -> list[str]:
    options = f"base_url={server.url},max_attempts=1,concurrency={AT_ONCE}"
    return [
        *(sys.executable, "-m", "screentest", "certify", JUDGE, "--testbed", str(testbed)),
        *("--out", str(out), "--workers", str(WORKERS), "--json"),
        *("--model", f"chat=openai:test,{options}"),
    ]


def killed_when(asked: int, server: FakeChatServer, line: list[str]) -> bool:
    """Start it, kill all of it when so many questions have come; whether it was still at work."""
    child = subprocess.Popen(
        line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + PATIENCE
    try:
        while child.poll() is None and time.monotonic() < deadline:
            if len(server.asked) >= asked:
                break
            time.sleep(0.005)
        return child.poll() is None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait(PATIENCE)


def records(run: Path) -> list[str]:
    with RunReader(run) as reader:
        return list(canonical(reader.records()))


@pytest.mark.slow
def test_killed_and_resumed_a_hundred_pairs_come_out_as_if_nothing_had_happened(
    hundred: Path, tmp_path: Path
) -> None:
    plan = plan_of(hundred, JUDGE.replace(":", "@test:", 1))
    assert len(plan.cases) == 100
    assert {case.aspect for case in plan.cases} == set(BUILTIN_ASPECTS)
    with FakeChatServer(plausible) as server:
        # The address is part of what is asked for, so both runs ask the same server.
        torn = tmp_path / "torn"
        line = command(hundred, torn, server)
        kills = sum(killed_when(count, server, line) for count in (30, 90))
        assert kills == 2
        done = subprocess.run(line, check=False, capture_output=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        asked = list(server.asked)
        (whole,) = certified(tmp_path / "whole", plan, settings(server)).certificates
    (resumed,) = json.loads(done.stdout)
    # Equal questions are asked once; only what was under way at a kill is asked again.
    twice = [count for count in Counter(one.digest for one in asked).values() if count > 1]
    assert all(count <= 1 + kills for count in twice)
    assert sum(count - 1 for count in twice) <= kills * AT_ONCE
    assert records(torn) == records(tmp_path / "whole")
    overall = whole.overall.unwrap()
    assert (overall.judgements, overall.total) == (40, 40)  # ten aspects, two films, two orders
    assert whole.cost.judgements == 200
    assert resumed["overall"]["value"]["points"] == overall.points
    assert len(resumed["aspects"]) == 10
    assert set(resumed["severities"]) == {aspect.value for aspect in BUILTIN_ASPECTS}


def test_a_question_has_the_aspect_the_prompt_and_both_films_in_order_and_no_names(
    hundred: Path, tmp_path: Path
) -> None:
    plan = plan_of(hundred, JUDGE)
    with FakeChatServer(plausible) as server:
        certified(tmp_path / "run", plan, settings(server))
        questions = list(server.asked)
    assert len({one.digest for one in questions}) == len(questions)
    seen: Counter[Aspect] = Counter()
    for asked in questions:
        text = "\n".join(asked.texts)
        (aspect,) = [one for one in BUILTIN_ASPECTS if one.info.definition in text]
        seen[aspect] += 1
        assert f"The aspect: {aspect.title}." in text
        assert text.index("first video:") < text.index("second video:")
        assert 0 < len(asked.picture_sizes) <= 6
        assert all(max(size) == 48 for size in asked.picture_sizes)
        for case in plan.cases:
            # Nothing of how the testbed calls things: it would tell which is which.
            assert case.source not in text
            assert case.second.video.name not in text
        assert "intact" not in text.lower()
        assert "degrad" not in text.lower()
    assert set(seen) == set(BUILTIN_ASPECTS)


def fits(asked: Asked, name: str) -> bool:
    assert asked.schema is not None
    return name in asked.schema["properties"]


def test_descriptions_are_asked_once_per_video_of_another_model(
    testbed: Path, tmp_path: Path
) -> None:
    plan = plan_of(testbed, "vlm_text:frames=2,long_side=48")
    models = []
    with FakeChatServer(plausible) as captioner, FakeChatServer(plausible) as comparer:
        for use, name, server in (
            ("chat.caption", "eyes", captioner),
            ("chat.judge", "reader", comparer),
        ):
            choice = f"{use}=openai:{name},base_url={server.url},max_attempts=1"
            models.append(ModelChoice.parse(choice))
        given = replace(settings(captioner), models=tuple(models))
        (certificate,) = certified(tmp_path / "run", plan, given, workers=2).certificates
    assert certificate.overall.unwrap().coverage == 1.0
    assert sum(one.pairs for one in certificate.frames.values()) == len(strongest(plan.cases))
    assert {one.body["model"] for one in captioner.asked} == {"eyes"}
    assert {one.body["model"] for one in comparer.asked} == {"reader"}
    # One description per video and aspect, though two workers judge in two orders. Films that
    # show the same frames have the same description.
    videos = {
        (item.video, case.aspect) for case in plan.cases for item in (case.first, case.second)
    }
    digests = [one.digest for one in captioner.asked]
    assert len(digests) == len(set(digests)) <= len(videos)
    prompts = {case.prompt for case in plan.cases}
    for asked in captioner.asked:
        assert fits(asked, "observations")
        assert not any(prompt in text for prompt in prompts for text in asked.texts)
    for asked in comparer.asked:
        assert fits(asked, "better")
        assert not asked.picture_sizes
    assert certificate.cost.calls == len(captioner.asked) + len(comparer.asked)


def test_without_a_description_there_is_no_verdict(testbed: Path, tmp_path: Path) -> None:
    def script(asked: Asked) -> Answer:
        if fits(asked, "observations"):
            return Answer(None, refusal="I do not describe films.")
        raise AssertionError("nothing is compared that was not described")

    plan = few_of(testbed, "vlm_text:frames=1,long_side=48", most=2)
    with FakeChatServer(script) as server:
        (certificate,) = certified(tmp_path / "run", plan, settings(server)).certificates
    failure = certificate.overall.failure
    assert failure is not None
    assert failure.reason is Reason.REFUSED


def test_the_hybrid_shows_frames_and_descriptions(testbed: Path, tmp_path: Path) -> None:
    seen = "A hare yawns."
    words = {"observations": [{"seconds": 1.5, "seen": seen}], "overall": "Calm."}

    def script(asked: Asked) -> Answer:
        if fits(asked, "observations"):
            return Answer(json.dumps(words))
        text = "\n".join(asked.texts)
        assert text.count(f"[1.5 s] {seen}") == text.count("Overall: Calm.") == 2
        assert len(asked.picture_sizes) == 4
        return answer("second")

    plan = few_of(testbed, "vlm_hybrid:frames=2,long_side=48", most=2)
    with FakeChatServer(script) as server:
        (certificate,) = certified(tmp_path / "run", plan, settings(server)).certificates
    assert certificate.overall.unwrap().value == 0.5
    assert certificate.order.unwrap().first_share == 0.0


def test_the_frames_are_the_same_whichever_video_comes_first(testbed: Path, tmp_path: Path) -> None:
    """A judge that goes by the pictures answers alike in both orders."""

    def by_the_pictures(asked: Asked) -> Answer:
        halves: list[list[str]] = [[], []]
        place = 0
        for part in asked.parts:
            if part["type"] == "text" and "Frames of the second video" in part["text"]:
                place = 1
            if part["type"] == "image_url":
                halves[place].append(part["image_url"]["url"])
        return answer("first" if halves[0] >= halves[1] else "second")

    plan = few_of(testbed, JUDGE)
    with FakeChatServer(by_the_pictures) as server:
        certified(tmp_path / "run", plan, settings(server))
    with RunReader(tmp_path / "run") as run:
        verdicts = {
            (record.key.item, record.key.order): record.outcomes[JUDGE].unwrap()
            for record in run.records()
        }
    for case in plan.cases:
        one, two = (verdicts[case.id, order] for order in ("first_second", "second_first"))
        assert isinstance(one, Verdict)
        assert isinstance(two, Verdict)
        # Where both show the same frames there is nothing to go by, and first wins twice.
        assert two.choice is one.choice.flipped or one.choice is two.choice is Choice.FIRST
