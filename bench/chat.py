"""1,000 judge calls at concurrency 64 against a server that takes 100 ms for each.

The ideal is 1,000 / 64 × 0.1 s: a client that costs nothing. The server runs in a process of
its own. Each call has its own text and eight real frames; judge calls of one film share them.
"""

from __future__ import annotations

import subprocess
import sys
import time
from importlib.resources import files

import av
from pydantic import BaseModel, Field

from _figures import figure, publish_lines
from screentest.core import Size
from screentest.models.chat.messages import ChatRequest, Encoding, Picture, Sampling, Text, encode
from screentest.models.chat.openai import OpenAIChat, openai_chat

CALLS = 1000
AT_ONCE = 64
LATENCY = 0.1
FRAMES = 8


class Verdict(BaseModel):
    reason: str
    score: int = Field(ge=1, le=10)


def frames() -> list[Picture]:
    """A second apart, from the packaged sample."""
    film = files("screentest") / "sample" / "bbb_first30s_640x360.mp4"
    with av.open(str(film)) as container:
        decoded = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    encoding = Encoding(Size(long_side=448), quality=85)
    return [encode(image, encoding) for image in decoded[::24][:FRAMES]]


def requests(pictures: list[Picture]) -> list[ChatRequest]:
    timed = [
        part
        for second, picture in enumerate(pictures)
        for part in (Text(f"[{second:.2f} second]"), picture)
    ]
    return [
        ChatRequest(
            (Text(f"How well does this film show scene {number}?"), *timed),
            system="You judge films.",
            schema=Verdict,
            sampling=Sampling(temperature=0.0, max_tokens=200),
        )
        for number in range(CALLS)
    ]


def main() -> None:
    command = [sys.executable, "-m", "screentest.testing", f"--latency={LATENCY}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            report(url)
        finally:
            server.terminate()


def report(url: str) -> None:
    pictures = frames()
    asked = requests(pictures)
    ideal = CALLS / AT_ONCE * LATENCY
    figure("calls", CALLS, "")
    figure("pictures in each, together", sum(len(p.data) for p in pictures) / 1024, "KiB")
    walls, processor = [], []
    for _ in range(3):
        chat = openai_chat(model="judge", base_url=url, concurrency=AT_ONCE)
        assert isinstance(chat, OpenAIChat)
        with chat:
            began, spent = time.perf_counter(), time.process_time()
            outcomes = chat.ask(asked)
            walls.append(time.perf_counter() - began)
            processor.append(time.process_time() - spent)
        assert all(outcome.ok for outcome in outcomes)
    figure("processor time of a call, connecting included", min(processor) / CALLS * 1000, "ms")
    # By the clock, so that other work on the machine lowers it: printed, and not kept.
    print(f"share of the ideal {ideal:.2f} s: {ideal / min(walls):.2f} (goal ≥ 0.80)")
    publish_lines("chat", "python bench/chat.py")


if __name__ == "__main__":
    main()
