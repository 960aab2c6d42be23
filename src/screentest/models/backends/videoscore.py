"""VideoScore v1 and v1.1: Idefics2 with a regression head of five numbers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from screentest._util.optional import optional
from screentest.core import BadOption, Image, NoValue, Reason, register
from screentest.models.networks.pretrained import (
    NEUTRAL,
    TRANSFORMERS,
    ModelDevice,
    Origin,
    load_network,
)
from screentest.models.pictures import to_pillow
from screentest.models.roles import QUALITIES

FRAMES_V1, FRAMES_V1_1 = 16, 48
_V1_1 = re.compile(r"v?1[._-]1\b", re.IGNORECASE)
# What the authors' card, which comes with the weights, says of how to ask them.
_CARD_QUESTION = re.compile(r'QUERY_PROMPT\s*=\s*(?:"""|\'\'\')(.*?)(?:"""|\'\'\')', re.DOTALL)
_CARD_FRAMES = re.compile(r"MAX_NUM_FRAMES\s*=\s*([0-9]{1,4})\b")
_CARD_SLOT = "{text_prompt}"
_SLOT = "{prompt}"

QUESTION = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Asking:
    """The question of one version of the model."""

    question: str
    frames: int
    source: str
    """Whose words the question is in: those of the model's card, of a file, or ours."""


def asking_of(card: str, name: str) -> Asking:
    """As a model's card says; else our wording, and frames by the version in its name.

    >>> [asking_of("", name).frames for name in ("by/VideoScore", "by/VideoScore-v1.1")]
    [16, 48]
    """
    frames = FRAMES_V1_1 if _V1_1.search(Path(name).name) else FRAMES_V1
    if stated := _CARD_FRAMES.search(card):
        frames = max(1, int(stated[1]))
    written = _CARD_QUESTION.search(card)
    if written is None or _CARD_SLOT not in written[1]:
        return Asking(QUESTION, frames, "ours")
    return Asking(written[1].replace(_CARD_SLOT, _SLOT), frames, "card")


@register(
    "videoscore",
    "hf",
    summary="VideoScore v1 (16 frames) or v1.1 (48 frames), from a folder or hub id",
    neutral=(*NEUTRAL, "question_file", "max_frames"),  # both are in the identity
    packages=TRANSFORMERS,
)
class VideoScoreModel:
    """Reads the five dimensions off the regression head of a VideoScore checkpoint.

    The weights were tuned with a wording of their own. It stands in the card (README.md) that comes
    with them and is read from there; without a card the wording is ours, and the numbers are not
    the published ones. ``question_file`` replaces either, with {prompt} where the video's text
    goes. ``max_frames`` is that of the model's version, unless it is given.
    """

    def __init__(
        self,
        *,
        model: str,
        revision: str = "",
        max_frames: int = 0,
        question_file: str = "",
        device: str = "auto",
    ) -> None:
        if max_frames < 0:
            raise BadOption(
                f"invalid max_frames {max_frames}: must be 1 or more, or 0 for the model's"
            )
        self._torch = optional("torch")
        self._place = ModelDevice.choose(device)
        origin = Origin(model, revision)
        asking = asking_of(origin.card, model)
        if question_file:
            written = Path(question_file).expanduser().read_text(encoding="utf-8")
            if _SLOT not in written:
                raise BadOption(f"{question_file} has no {_SLOT} in it")
            asking = replace(asking, question=written, source="file")
        self._question = asking.question
        self.max_frames = max_frames or asking.frames
        self._model, self._processor, identity = load_network(
            origin, self._place, regression_class()
        )
        digest = hashlib.sha256(asking.question.encode()).hexdigest()
        self.identity = identity | {
            "question": f"{asking.source}.{digest[:12]}",
            "frames": str(self.max_frames),
        }

    def cut(self, prompt: str, frames: int) -> tuple[str, int, int]:
        """Return as much of a prompt as fits beside the frames, with its tokens and those read."""
        words, pictures = self._processor.tokenizer, self._processor.image_processor
        pieces = 5 if pictures.do_image_splitting else 1
        taken = frames * ((self._processor.image_seq_len + 2) * pieces + 1) + len(
            words(self._question).input_ids
        )
        read = words(prompt, add_special_tokens=False, return_offsets_mapping=True)
        ends = [end for _, end in read.offset_mapping]
        room = max(1, self._model.config.text_config.max_position_embeddings - taken)
        kept = min(len(ends), room)
        return (prompt if kept == len(ends) else prompt[: ends[kept - 1]]), len(ends), kept

    def score(self, frames: Sequence[Image], prompt: str) -> Mapping[str, float]:
        if not frames:
            raise NoValue(Reason.NOT_APPLICABLE, "no frames to score")
        prompt, _, _ = self.cut(prompt, len(frames))
        # Not str.format: a prompt may hold braces of its own. Nor may it hold picture tokens.
        text = self._question.replace(_SLOT, prompt.replace("<image>", "< image >"))
        inputs = self._processor(
            text=text + "<image> " * len(frames),
            images=[to_pillow(frame) for frame in frames],
            return_tensors="pt",
        ).to(self._place.device)
        inputs["pixel_values"] = inputs["pixel_values"].to(self._place.dtype)
        with self._torch.inference_mode():
            values = self._model(**inputs)[0].float().tolist()
        if len(values) != len(QUALITIES):
            raise NoValue(
                Reason.MISSING_MODEL,
                f"the model gives {len(values)} numbers, VideoScore gives {len(QUALITIES)}",
                advice="Give weights of VideoScore v1 or v1.1.",
            )
        return dict(zip(QUALITIES, values, strict=True))


@cache
def regression_class() -> Any:
    """Idefics2 that ends in numbers instead of words; transformers has no such class."""
    torch = optional("torch")
    transformers = optional("transformers")

    base: Any = optional("transformers", "Idefics2PreTrainedModel")

    class Idefics2ForRegression(base):  # type: ignore[misc]
        """The names of its parts are those in the published weights."""

        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.model = transformers.Idefics2Model(config)
            width = config.text_config.hidden_size
            self.score = torch.nn.Linear(width, config.num_labels, bias=False)
            self.post_init()

        def forward(self, input_ids: Any, attention_mask: Any, **pictures: Any) -> Any:
            """Return the numbers at the last token of each text."""
            states = self.model(
                input_ids=input_ids, attention_mask=attention_mask, use_cache=False, **pictures
            ).last_hidden_state
            positions = torch.arange(input_ids.shape[1], device=input_ids.device)
            last = (attention_mask * positions).argmax(-1)
            rows = torch.arange(input_ids.shape[0], device=input_ids.device)
            return self.score(states[rows, last])

    return Idefics2ForRegression
