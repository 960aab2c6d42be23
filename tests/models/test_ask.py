"""One way to ask: presets, forms, repeats, and which frames are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

import pytest
from pydantic import BaseModel

from screentest.core import BadOption, NoValue, Outcome, Reason, Size, Span
from screentest.judges.vlm import COMPARE_FRAMES
from screentest.metrics.narrative.dense import CLIP
from screentest.models.ask import GREEDY, Frames, Placing, Query, send
from screentest.models.ask.templates import Prompts
from screentest.models.chat.messages import ChatAnswer, ChatRequest, Picture, Sampling, Text
from screentest.run.session import Settings, Tools
from screentest.testbeds.captions.facts import READ
from screentest.video.probe import probe


class Colour(BaseModel):
    colour: str


class Echo:
    """A chat model that says what it is told to say."""

    identity: Mapping[str, str] = MappingProxyType({})

    def __init__(self, *answers: ChatAnswer) -> None:
        self.answers = answers
        self.batches: list[int] = []

    def ask(self, requests: Sequence[ChatRequest]) -> list[Outcome[ChatAnswer]]:
        self.batches.append(len(requests))
        return [Outcome.of(self.answers[n % len(self.answers)]) for n in range(len(requests))]


def test_sampled_as_in_slvmeval() -> None:
    # Appendices E.1 (Qwen3-8B reads captions) and G.1 (Qwen3-VL judges).
    extract, judge = READ.sampling, COMPARE_FRAMES.sampling
    assert (extract.top_p, extract.top_k, extract.temperature) == (0.95, 20, 0.6)
    assert (extract.min_p, extract.repetition_penalty) == (0.0, 1.2)
    assert (judge.top_p, judge.top_k, judge.temperature, judge.min_p) == (0.8, 20, 0.7, 0.0)
    assert CLIP.sampling == judge


def test_requests_carry_template_form_use_and_repeat() -> None:
    query = Query("annotate/translate", Colour)
    request = query.request(Prompts(), {"passage": "un chat", "language": "English"}, repeat=2)
    assert "un chat" in "".join(part.text for part in request.parts if isinstance(part, Text))
    assert (request.schema, request.use, request.repeat) == (Colour, "annotate.translate", 2)
    assert request.sampling == GREEDY
    own = Sampling(temperature=0.3)
    slots = {"passage": "x", "language": "y"}
    assert query.request(Prompts(), slots, sampling=own).sampling == own


def test_answers_are_objects_text_or_a_reason() -> None:
    plain, formed = ChatRequest((Text("a"),)), ChatRequest((Text("a"),), schema=Colour)
    chat = Echo(ChatAnswer("red", Colour(colour="red")))
    assert [one.unwrap() for one in send(chat, [plain, formed])] == ["red", Colour(colour="red")]
    # A backend of somebody else's may forget the form: that is a reason, not a value.
    (lost,) = send(Echo(ChatAnswer("red")), [formed])
    assert lost.failure is not None
    assert lost.failure.reason is Reason.UNPARSABLE


def test_requests_are_made_as_they_are_needed() -> None:
    chat = Echo(ChatAnswer("x"))
    assert len(send(chat, (ChatRequest((Text(str(n)),)) for n in range(5)), together=2)) == 5
    assert chat.batches == [2, 2, 1]
    assert send(chat, []) == []
    assert len(chat.batches) == 3


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Frames(0),
        lambda: Frames(5000),
        lambda: Frames(rate=Fraction(0)),
        lambda: Frames(2, long_side=8),
        lambda: Frames(2, least=5, most=4),
    ],
)
def test_frames_that_show_nothing_are_refused(wrong: object) -> None:
    with pytest.raises(BadOption, match="invalid"):
        wrong()  # type: ignore[operator]


def test_frames_by_count_rate_and_shots(sample: Path) -> None:
    film = sample / "frenchgp_1906_214x160.mp4"
    info, tools = probe(film), Tools(Settings())
    few = Frames(3, long_side=64)
    parts = few.show(tools, film).parts
    assert [type(part) for part in parts] == [Text, Picture] * 3
    assert max((one.width, one.height) for one in parts if isinstance(one, Picture)) == (64, 48)
    ends = Frames(rate=Fraction(1), placing=Placing.ENDS, least=4, multiple=2)
    moments = ends.moments(info, info.span)
    assert len(moments) % 2 == 0
    assert moments[0] < info.span.start + 1 / info.rate
    assert moments[-1] > info.span.end - 1 / info.rate
    shots = Frames(placing=Placing.SHOTS, most=1)
    assert len(list(shots.of(tools, film))) == 1
    half = Span(info.span.start, info.span.centre)
    assert all(frame.time <= half.end for frame in few.of(tools, film, half))


def test_sizes_never_enlarge(sample: Path) -> None:
    film = sample / "frenchgp_1906_214x160.mp4"
    info = probe(film)
    assert Frames(1, max_pixels=10**9).size(info, info.span) == Size()
    width, height = Frames(1, max_pixels=10_000).size(info, info.span).exact or (0, 0)
    assert width * height <= 10_000
    assert width % 2 == height % 2 == 0


def test_an_empty_text_is_no_answer() -> None:
    class One:
        prompts = Prompts()

        def role(self, name: str) -> Echo:
            assert name == "chat.describe"
            return Echo(ChatAnswer("  "))

    query = Query("annotate/translate", role="chat.describe")
    with pytest.raises(NoValue, match="empty"):
        query.one(One(), {"passage": "x", "language": "y"})  # type: ignore[arg-type]
