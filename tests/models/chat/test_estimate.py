from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from screentest.core import Size
from screentest.models.chat.costs import estimate_input_tokens, estimate_text_tokens
from screentest.models.chat.messages import ChatRequest, Encoding, Text, encode
from screentest.testing.chat_answers import Answer, count_tokens
from tests.models.chat.kit import Rating, serving, short

# Counted with OpenAI's o200k_base vocabulary (tiktoken).
COUNTED = {
    "A red car drives along the coast at sunset while the camera slowly pans from left to "
    "right, and a flock of seagulls rises behind it.": 30,
    "[12.34 second]": 6,
    '{"reason": "The second film keeps the background stable.", "score_first": 4, '
    '"score_second": 8}': 26,
    "Is the astronaut's helmet reflecting the blue planet in the third shot? Answer yes or no.": 19,
    "Photosynthesis, electroencephalography and internationalisation are uncharacteristically "
    "long words.": 17,
    "一辆红色的汽车在日落时沿着海岸行驶。": 17,
    "Красный автомобиль едет вдоль побережья на закате.": 14,
}


@pytest.mark.parametrize("text", COUNTED)
def test_against_a_real_vocabulary(text: str) -> None:
    assert estimate_text_tokens(text) == pytest.approx(COUNTED[text], rel=0.2)


def test_the_fake_server_counts_like_a_real_one() -> None:
    ours = sum(count_tokens(text) for text in COUNTED)
    assert ours == pytest.approx(sum(COUNTED.values()), rel=0.15)


QUESTION = "Which of the films follows the prompt?"


def requests(sample: Path) -> list[ChatRequest]:
    """Judge-like requests: a rubric, a long prompt, timed frames of several sizes, a schema."""
    captions = json.loads((sample / "captions" / "sintel_trailer_30s_640x272.json").read_text())
    told = json.dumps(captions)
    made = []
    for number, side in enumerate((64, 224, 448, 640, 1024)):
        image = np.random.default_rng(number).integers(0, 255, (720, 1280, 3)).astype(np.uint8)
        frames = [encode(image, Encoding(Size(long_side=side)))] * (number + 1)
        parts = [Text(QUESTION), Text(told[: 1500 * number + 200])]
        for second, frame in enumerate(frames):
            parts += [Text(f"[{second:.2f} second]"), frame]
        made.append(
            ChatRequest(
                tuple(parts),
                system="You compare films and answer with care." if number % 2 else "",
                schema=Rating if number % 3 else None,
                sampling=short(),
                use="slvm.judge" if number % 2 else "etva.answer",
            )
        )
    return made


def test_within_a_fifth_of_what_the_server_counts(sample: Path) -> None:
    asked = requests(sample)
    with serving([Answer('{"score": 4, "reason": "fine"}')]) as (server, chat):
        assert all(outcome.ok for outcome in chat.ask(asked))
    assert sum(map(estimate_input_tokens, asked)) == pytest.approx(server.billed[0], rel=0.2)
    # And one by one, not only in the sum.
    by_text = {request.asked_text: request for request in map(_Request, asked)}
    for received in server.asked:
        request = by_text[_first_texts(received.texts)].request
        assert estimate_input_tokens(request) == pytest.approx(received.tokens, rel=0.2)


class _Request:
    def __init__(self, request: ChatRequest) -> None:
        self.request = request
        texts = [part.text for part in request.parts if isinstance(part, Text)]
        self.asked_text = _first_texts([*([request.system] if request.system else []), *texts])


def _first_texts(texts: list[str]) -> tuple[str, ...]:
    return tuple(text for text in texts if "JSON schema" not in text)
