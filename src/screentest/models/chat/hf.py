"""A vision-language or text model run here by transformers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from screentest._util.collect import grouped
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
    *,
    model: str,
    revision: str = "",
    trust_remote_code: bool = False,
    device: str = "auto",
    batch: int = 1,
) -> LocalChat:
    """``model`` is a folder or hub id; ``batch`` requests are answered in one call.

    Answers of a batch may differ from answers one by one where two words are nearly as likely.
    """
    return LocalChat(Origin(model, revision, trust_remote_code), ModelDevice.choose(device), batch)


class LocalChat:
    """Fills the role chat. Requests that draw words are answered one after another."""

    def __init__(self, origin: Origin, place: ModelDevice, batch: int = 1) -> None:
        self._torch = optional("torch")
        self._place = place
        self._name = origin.model
        auto = optional("transformers", "AutoConfig")
        config = origin.load(auto.from_pretrained, weights=False)
        self._sees = hasattr(config, "vision_config")
        kinds = ("AutoModelForCausalLM", "AutoTokenizer")
        if self._sees:
            kinds = ("AutoModelForImageTextToText", "AutoProcessor")
        self._model, self._reader, self.identity = load_network(origin, place, *kinds)
        self._tokenizer: Any = getattr(self._reader, "tokenizer", self._reader)
        self._batch = batch
        """Halved, for good, when a batch does not fit into the device's memory."""
        if batch > 1:
            self._tokenizer.padding_side = "left"  # what is written follows what was read
            self.identity |= {"batch": str(batch)}

    def ask(self, requests: Sequence[ChatRequest]) -> list[Outcome[ChatAnswer]]:
        replies = self._together(requests) if self._batch > 1 else {}
        return [self._ask(request, replies.get(n)) for n, request in enumerate(requests)]

    def _together(self, requests: Sequence[ChatRequest]) -> dict[int, ModelReply]:
        """Return first replies by the request's number, of those that can share a call."""
        greedy = [
            n
            for n, request in enumerate(requests)
            if not request.sampling.temperature and (self._sees or not request.pictures)
        ]
        replies: dict[int, ModelReply] = {}
        alike = grouped(((requests[n].sampling, bool(requests[n].pictures)), n) for n in greedy)
        for numbers in alike.values():
            while len(numbers) > 1 and self._batch > 1:
                piece = numbers[: self._batch]
                try:
                    replies |= zip(piece, self._generate([requests[n] for n in piece]), strict=True)
                except self._torch.OutOfMemoryError:
                    self._batch //= 2
                    self._torch.cuda.empty_cache()
                except NoValue:  # of one of them, which says so when it is asked alone
                    break
                else:
                    numbers = numbers[len(piece) :]
        return replies

    def _ask(self, request: ChatRequest, first: ModelReply | None) -> Outcome[ChatAnswer]:
        if request.pictures and not self._sees:
            return Outcome.failed(
                Reason.NOT_APPLICABLE,
                f"{self._name} reads text only and was shown pictures",
                "Choose a vision-language model for the role chat.",
            )
        return attempt(lambda: self._answer(request, first))

    def _answer(self, request: ChatRequest, first: ModelReply | None) -> ChatAnswer:
        turns: list[tuple[str, str]] = []
        usage = Usage(0, 0)
        for repairs in range(request.max_repairs + 1):
            reply = first if first and not turns else self._one(request, turns)
            usage = usage + reply.usage
            try:
                answer = conclude(request, reply)
            except NoValue as error:
                turns += repair_turns(request, reply, error, repairs)
            else:
                return replace(answer, usage=usage, attempts=repairs + 1, repairs=repairs)
        raise AssertionError("the last repair returns or raises")

    def _one(self, request: ChatRequest, turns: Sequence[tuple[str, str]]) -> ModelReply:
        try:
            return self._generate([request], turns)[0]
        except self._torch.OutOfMemoryError as error:
            raise NoValue(
                Reason.TOO_LARGE,
                f"{self._name} ran out of memory",
                advice="Send fewer or smaller pictures, or take a smaller model.",
            ) from error

    def _generate(
        self, requests: Sequence[ChatRequest], turns: Sequence[tuple[str, str]] = ()
    ) -> list[ModelReply]:
        """Return replies to requests of the same sampling, from one call of the model."""
        messages = [self._messages(request, turns) for request in requests]
        inputs = self._inputs(messages if len(messages) > 1 else messages[0])
        sampling, repeat = requests[0].sampling, requests[0].repeat
        # Never torch's running state: what was asked before must not change this answer.
        seed = int(requests[0].key[:8], 16) if sampling.seed is None else sampling.seed + repeat
        self._torch.manual_seed(seed)
        with self._torch.inference_mode():
            made = self._model.generate(**inputs, **self._settings(sampling))
        read = [int(mask.sum()) for mask in inputs["attention_mask"]]
        rows = made[:, inputs["input_ids"].shape[1] :]
        return [self._reply(*row, sampling) for row in zip(rows, read, strict=True)]

    def _reply(self, tokens: Any, read: int, sampling: Sampling) -> ModelReply:
        ends = [n for n, token in enumerate(tokens.tolist()) if token in self._ends]
        # In a batch padding follows the end, until the longest has ended.
        written = ends[0] + 1 if ends else len(tokens)
        text = self._tokenizer.decode(tokens[:written], skip_special_tokens=True)
        ended = bool(ends) or any(mark in text for mark in sampling.stop)
        for mark in sampling.stop:
            text = text.split(mark)[0]
        cut = written >= sampling.max_tokens and not ended
        finish = "length" if cut else "stop"
        return ModelReply(text, finish, model=self._name, usage=Usage(read, written))

    def _messages(
        self, request: ChatRequest, turns: Sequence[tuple[str, str]]
    ) -> list[dict[str, Any]]:
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
        return messages

    def _inputs(self, messages: Sequence[Any]) -> Any:
        """Return the tensors for one conversation, or for several, padded to one length."""
        padding: dict[str, Any] = {"padding": True}
        if self._sees:
            padding = {"processor_kwargs": padding}
        inputs = self._reader.apply_chat_template(
            messages,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            **(padding if isinstance(messages[0], list) else {}),
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

    @cached_property
    def _ends(self) -> frozenset[int]:
        """The tokens that end an answer, and the one that fills up what follows."""
        ends = self._model.generation_config.eos_token_id
        padding = self._tokenizer.pad_token_id if self._batch > 1 else None
        return frozenset([*(ends if isinstance(ends, list) else [ends]), padding]) - {None}
