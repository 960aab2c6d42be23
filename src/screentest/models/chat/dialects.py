"""Which sampling settings a server takes, and how it spells them.

A server refuses or ignores what it does not know. What a dialect cannot say is left out and
warned of once; the dialect stands in the signature, so the number still says how it was made.

>>> REASONING.fields(Sampling(temperature=0.7, max_tokens=100))
{'max_completion_tokens': 100}
>>> REASONING.unsaid(Sampling(temperature=0.7))
['temperature']
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from screentest.core import BadOption
from screentest.models.chat.messages import Sampling

# Names of models that draw with fixed settings.
_REASONING_MODELS = re.compile(r"^(gpt-5|o[1-9])(?![a-z0-9])", re.IGNORECASE)
_HOSTED = ("openai.com", "azure.com")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The settings one family of servers takes: our name to theirs."""

    name: str
    words: tuple[tuple[str, str], ...]
    most_stops: int = 16

    def fields(self, sampling: Sampling, repeat: int = 0) -> dict[str, Any]:
        """The settings as fields of a request."""
        given = sampling.given
        if "stop" in given:
            given["stop"] = list(given["stop"])[: self.most_stops]
        if "seed" in given:
            given["seed"] += repeat
        return {theirs: given[ours] for ours, theirs in self.words if ours in given}

    def unsaid(self, sampling: Sampling) -> list[str]:
        """The settings that are set but cannot be said here."""
        known = dict(self.words)
        left_out = [name for name in sampling.given if name not in known]
        if "stop" in known and len(sampling.stop) > self.most_stops:
            left_out.append(f"stop (beyond {self.most_stops})")
        return left_out


def _same(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, name) for name in names)


OPEN = Dialect(
    "open",
    _same(
        *("temperature", "top_p", "top_k", "min_p", "repetition_penalty"),
        *("max_tokens", "min_tokens", "seed", "stop"),
    ),
)
"""vLLM, SGLang and their like: everything."""

PLAIN = Dialect("plain", _same("temperature", "top_p", "max_tokens", "seed", "stop"))
"""The settings that nearly every server knows, such as `transformers serve` and Ollama."""

OPENAI = Dialect(
    "openai",
    (*_same("temperature", "top_p", "seed", "stop"), ("max_tokens", "max_completion_tokens")),
    most_stops=4,
)
"""OpenAI's own models with free sampling."""

REASONING = Dialect("reasoning", (("max_tokens", "max_completion_tokens"),))
"""GPT-5 and the o-series: temperature is 1 and cannot be set."""

DIALECTS = {dialect.name: dialect for dialect in (OPEN, PLAIN, OPENAI, REASONING)}


def dialect_for(name: str, host: str, model: str) -> Dialect:
    """The dialect of that name; ``auto`` goes by the host and the model's name."""
    if name in DIALECTS:
        return DIALECTS[name]
    if name != "auto":
        raise BadOption(
            f"there is no dialect {name!r}", advice=f"Dialects: auto, {', '.join(DIALECTS)}."
        )
    if _REASONING_MODELS.match(model):
        return REASONING
    hosted = any(host == domain or host.endswith(f".{domain}") for domain in _HOSTED)
    return OPENAI if hosted else OPEN
