"""What a judgement costs beside the model: preparing the question, and keeping the books.

A chat server on this machine answers at once, so all that is left is ours. `vlm_video` is put
all ten aspects of three pairs in both orders, one after the other, into a run that survives a
kill at any moment. A judge that rates videos alone is given verdicts on what is measured
already. Seconds are those of processors, over all threads, the server's among them. What
measuring costs is in bench/core.py.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from _figures import figure, publish_lines, ratio
from screentest.core import BUILTIN_ASPECTS, Outcome, Question
from screentest.judges.cases import Case, Order
from screentest.judges.verdicts import judge_pairs
from screentest.judges.vlm import vlm_video
from screentest.models import ModelChoice
from screentest.models.chat.messages import ChatAnswer, ChatRequest
from screentest.run.engine import InlineEngine
from screentest.run.session import Settings, Tools, close_tools
from screentest.run.store import RunStore
from screentest.sample import sample_videos
from screentest.testing.chat_answers import Answer
from screentest.testing.chat_server import FakeChatServer

FRAMES, LONG_SIDE = 8, 512
JUDGE = f"vlm_video:frames={FRAMES},long_side={LONG_SIDE}"
ANSWER = Answer(json.dumps({"reason": "None.", "better": "first"}))


def cases() -> list[Case]:
    films = [video.item for video in sample_videos()[:3]]
    return [
        Case(f"{one.id}-{two.id}", aspect, one.text, one, two)
        for one, two in combinations(films, 2)
        for aspect in BUILTIN_ASPECTS
    ]


@dataclass
class Collector:
    """Stands for the chat model; remembers what it would be asked."""

    requests: list[ChatRequest]

    def ask(self, requests: list[ChatRequest]) -> list[Outcome[ChatAnswer]]:
        self.requests += requests
        return [Outcome.of(ChatAnswer(text="")) for _ in requests]


class Preparing(Tools):
    """Tools with a collector in the place of the model."""

    def __init__(self, settings: Settings, collector: Collector) -> None:
        super().__init__(settings)
        self._collector = collector

    def role(self, name: str) -> Any:
        return self._collector


def prepared(settings: Settings, questions: list[Question]) -> tuple[float, list[ChatRequest]]:
    """Seconds to find clips and frames and to write the questions; and the questions."""
    collector = Collector([])
    judge, tools = vlm_video(frames=FRAMES, long_side=LONG_SIDE), Preparing(settings, collector)
    for question in questions:
        for item in (question.first, question.second):
            tools.shots(item.video, "scdet")  # once per video: not the question's own
    start = time.process_time()
    for question in questions:
        judge.judge(question, tools)
    return time.process_time() - start, collector.requests


def judged_in(folder: Path, settings: Settings, judge: str, given: list[Case]) -> float:
    """Seconds of all judgements, into a run."""
    with RunStore(folder, command="certify") as store:
        start = time.process_time()
        judge_pairs(store, lambda _: given, [judge], settings, engine=InlineEngine())
        return time.process_time() - start


def asking(folder: Path) -> None:
    given = cases()
    questions = [one.question(order) for one in given for order in Order]
    count = len(questions)
    with FakeChatServer(lambda _: ANSWER) as server:
        choice = f"chat=openai:test,base_url={server.url}"
        settings = Settings(models=(ModelChoice.parse(choice),))
        judged_in(folder / "warm", settings, JUDGE, given[:1])  # connections, imports
        preparing, requests = prepared(settings, questions)
        chat = Tools(settings).role("chat.judge")
        start = time.process_time()
        for request in requests:
            chat.ask([replace(request, repeat=1)])
        calling = time.process_time() - start
        chat.close()
        whole = judged_in(folder / "asked", settings, JUDGE, given)
        close_tools()
    books = keeping(folder)
    figure(f"{count} judgements of 2 × {FRAMES} frames, in all", 1000 * whole / count, "ms each")
    figure("finding frames, writing the question", 1000 * preparing / count, "ms each")
    figure("the call, answered at once", 1000 * calling / count, "ms each")
    figure("records and plan", 1000 * books, "ms each")
    ratio(
        "call and records, against a model that takes 2 s", (calling / count + books) / 2, "≤ 0.02"
    )


def keeping(folder: Path) -> float:
    """Seconds for a judgement that needs neither frames nor a model: people's votes."""
    given = many()
    votes = folder / "votes.csv"
    rows = {f"{one.second.video},{one.aspect.value},intact" for one in given}
    votes.write_text("\n".join(["video,aspect,choice", *sorted(rows)]), encoding="utf-8")
    judge = f'human:votes="{votes}"'
    return judged_in(folder / "voted", Settings(), judge, given) / len(given) / 2


def many() -> list[Case]:
    """Fifty copies of a pair in ten aspects."""
    return [replace(one, id=f"{one.id}-{n}") for n in range(50) for one in cases()[:10]]


def rating(folder: Path) -> None:
    given = many()
    judged_in(folder / "rated", Settings(), "contrast", cases()[:10])  # both are measured then
    seconds = judged_in(folder / "rated", Settings(), "contrast.tonal_range", given)
    figure(f"{2 * len(given):,} verdicts from scores", 1000 * seconds / len(given) / 2, "ms each")
    close_tools()


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="judging-"))
    try:
        asking(folder)
        rating(folder)
        publish_lines("judging", "python bench/judging.py")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
