"""A vision-language or text model run here by transformers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from screentest._util.optional import optional
from screentest.core import NoValue, Outcome, Reason, attempt, register
from screentest.models.chat.messages import (
    ChatAnswer,
    ChatRequest,
    ModelReply,
    Sampling,
    Text,
    Usage,
)
from screentest.models.chat.parsing import conclude, repair_turns
from screentest.models.networks.pretrained import (
    NEUTRAL,
    TRANSFORMERS,
    ModelDevice,
    Origin,
    load_network,
)
from screentest.models.pictures import to_pillow

_GENERATION = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")


@register(
    "chat",
    "hf",
    summary="a local vision-language or text model by transformers, from a folder or hub id",
    neutral=NEUTRAL,
    packages=TRANSFORMERS,
)
def hf(
    *, model: str, revision: str = "", trust_remote_code: bool = False, device: str = "auto"
) -> LocalChat:
    """``model`` is a folder or hub id."""
    return LocalChat(Origin(model, revision, trust_remote_code), ModelDevice.choose(device))


class LocalChat:
    """Fills the role chat. Requests are answered one after another."""

    def __init__(self, origin: Origin, place: ModelDevice) -> None:
        self._torch = optional("torch")
        self._place = place
        self._name = origin.model
        auto = optional("transformers").AutoConfig
        config = origin.load(auto.from_pretrained, weights=False)
        self._sees = hasattr(config, "vision_config")
        kinds = ("AutoModelForCausalLM", "AutoTokenizer")
        if self._sees:
            kinds = ("AutoModelForImageTextToText", "AutoProcessor")
        self._model, self._reader, self.identity = load_network(origin, place, *kinds)
        self._tokenizer: Any = getattr(self._reader, "tokenizer", self._reader)

    def ask(self, requests: Sequence[ChatRequest]) -> list[Outcome[ChatAnswer]]:
        return [self._ask(request) for request in requests]

    def _ask(self, request: ChatRequest) -> Outcome[ChatAnswer]:
        if request.pictures and not self._sees:
            return Outcome.failed(
                Reason.NOT_APPLICABLE,
                f"{self._name} reads text only and was shown pictures",
                "Choose a vision-language model for the role chat.",
            )
        return attempt(lambda: self._answer(request))

    def _answer(self, request: ChatRequest) -> ChatAnswer:
        turns: list[tuple[str, str]] = []
        usage = Usage(0, 0)
        for repairs in range(request.max_repairs + 1):
            reply = self._generate(request, turns)
            usage = usage + reply.usage
            try:
                answer = conclude(request, reply)
            except NoValue as error:
                turns += repair_turns(request, reply, error, repairs)
            else:
                return replace(answer, usage=usage, attempts=repairs + 1, repairs=repairs)
        raise AssertionError("the last repair returns or raises")

    def _generate(self, request: ChatRequest, turns: Sequence[tuple[str, str]] = ()) -> ModelReply:
        inputs = self._inputs(request, turns)
        read = int(inputs["input_ids"].shape[1])
        sampling = request.sampling
        # Never torch's running state: what was asked before must not change this answer.
        seed = int(request.key[:8], 16) if sampling.seed is None else sampling.seed + request.repeat
        self._torch.manual_seed(seed)
        try:
            with self._torch.inference_mode():
                tokens = self._model.generate(**inputs, **self._settings(sampling))[0, read:]
        except self._torch.OutOfMemoryError as error:
            raise NoValue(
                Reason.TOO_LARGE,
                f"{self._name} ran out of memory on {read} tokens",
                advice="Send fewer or smaller pictures, or take a smaller model.",
            ) from error
        written = int(tokens.shape[0])
        text = self._tokenizer.decode(tokens, skip_special_tokens=True)
        ended = self._ends(tokens) or any(mark in text for mark in sampling.stop)
        for mark in sampling.stop:
            text = text.split(mark)[0]
        cut = written >= sampling.max_tokens and not ended
        finish = "length" if cut else "stop"
        return ModelReply(text, finish, model=self._name, usage=Usage(read, written))

    def _inputs(self, request: ChatRequest, turns: Sequence[tuple[str, str]]) -> Any:
        content: list[dict[str, Any]] = [
            {"type": "text", "text": part.text}
            if isinstance(part, Text)
            else {"type": "image", "image": to_pillow(part.pixels())}
            for part in request.parts
        ]
        if request.schema is not None:
            content.append({"type": "text", "text": request.instructions(enforced=False)})
        messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
        if request.system:
            system = [{"type": "text", "text": request.system}]
            messages.insert(0, {"role": "system", "content": system})
        for role, text in turns:
            messages.append({"role": role, "content": [{"type": "text", "text": text}]})
        if not self._sees:
            # Templates of text models want a plain string.
            for message in messages:
                message["content"] = "\n".join(piece["text"] for piece in message["content"])
        inputs = self._reader.apply_chat_template(
            messages,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        ).to(self._place.device)
        if "pixel_values" in inputs:
            inputs["pixel_values"] = inputs["pixel_values"].to(self._place.dtype)
        return inputs

    def _settings(self, sampling: Sampling) -> dict[str, Any]:
        given = sampling.given
        settings = {name: given[name] for name in _GENERATION if name in given}
        greedy = not settings.get("temperature")
        if greedy:
            # Greedy search warns about settings that only matter when drawing.
            settings = {name: v for name, v in settings.items() if name == "repetition_penalty"}
        settings |= {"do_sample": not greedy, "max_new_tokens": sampling.max_tokens}
        if sampling.stop:
            settings |= {"stop_strings": list(sampling.stop), "tokenizer": self._tokenizer}
        if sampling.min_tokens is not None:
            settings["min_new_tokens"] = sampling.min_tokens
        return settings

    def _ends(self, tokens: Any) -> bool:
        ends = self._model.generation_config.eos_token_id
        return int(tokens[-1]) in (ends if isinstance(ends, list) else [ends])
