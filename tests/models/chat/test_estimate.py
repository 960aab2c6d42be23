from __future__ import annotations

import pytest

from screentest.models.chat.costs import estimate_text_tokens
from screentest.testing.chat_answers import count_tokens

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
