"""What asking would take, before anything is asked: calls, pictures, tokens, cost, bytes.

Nothing is sent. What would leave the machine is made for real, so its size is exact.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from screentest.models.chat import wire
from screentest.models.chat.calling import Settings
from screentest.models.chat.messages import ChatRequest, Text, Usage
from screentest.models.chat.pricing import Price
from screentest.models.chat.tokens import estimate_input_tokens

_PREVIEW = 300


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a list of requests would take, were none of them to fail or need repair."""

    host: str
    url: str
    model: str
    calls: int
    images: int
    image_bytes: int
    """Of the encoded pictures."""
    sent_bytes: int
    """Of all bodies, exactly."""
    input_tokens: int
    """About; every model counts in its own way."""
    most_output_tokens: int
    """No answer may be longer, so this is a bound."""
    most_cost: Decimal | None
    """At the estimated input and the longest answers; None without a price."""
    uses: Mapping[str, int]
    """Calls by use."""
    preview: str
    """The beginning of the first request's text."""

    def lines(self) -> list[str]:
        """The same for people."""
        cost = "unknown: no price for this model"
        if self.most_cost is not None:
            cost = f"at most {self.most_cost:.4f}"
        return [
            f"to        {self.url} ({self.model})",
            f"calls     {self.calls:,}"
            + "".join(f"; {use or 'unnamed'} {count:,}" for use, count in self.uses.items()),
            f"pictures  {self.images:,} ({self.image_bytes:,} bytes)",
            f"tokens    about {self.input_tokens:,} in, at most {self.most_output_tokens:,} out",
            f"cost      {cost}",
            f"sent      {self.sent_bytes:,} bytes, to {self.host} only",
            f"text      {self.preview}",
        ]


def estimate(
    requests: Iterable[ChatRequest], settings: Settings, price: Price | None = None
) -> Estimate:
    """Add up what ``requests`` would take at the endpoint of ``settings``."""
    calls = images = image_bytes = sent = tokens = longest = 0
    cost = Decimal(0)
    uses: dict[str, int] = {}
    preview = ""
    for request in requests:
        calls += 1
        uses[request.use] = uses.get(request.use, 0) + 1
        images += len(request.pictures)
        image_bytes += sum(len(picture.data) for picture in request.pictures)
        sent += len(_body(request, settings))
        here = estimate_input_tokens(request, instructed=settings.structured != "schema")
        tokens += here
        longest += request.sampling.max_tokens
        if price is not None:
            most = price.cost(Usage(here, request.sampling.max_tokens), len(request.pictures))
            cost += most or 0
        preview = preview or _text(request)
    return Estimate(
        host=settings.endpoint.host,
        url=settings.endpoint.url,
        model=settings.model,
        calls=calls,
        images=images,
        image_bytes=image_bytes,
        sent_bytes=sent,
        input_tokens=tokens,
        most_output_tokens=longest,
        most_cost=cost if price is not None else None,
        uses=uses,
        preview=preview,
    )


def outgoing(request: ChatRequest, settings: Settings) -> dict[str, Any]:
    """Exactly what would be sent, each picture shown by its kind and size."""
    content: dict[str, Any] = json.loads(_body(request, settings))
    pictures = iter(request.pictures)
    for message in content["messages"]:
        if isinstance(message["content"], list):
            for part in message["content"]:
                if part["type"] == "image_url":
                    part["image_url"]["url"] = f"<{next(pictures).summary}>"
    return content


def _body(request: ChatRequest, settings: Settings) -> bytes:
    return wire.body(
        request,
        settings.model,
        settings.dialect.fields(request.sampling, request.repeat),
        instructed=settings.structured != "schema",
        enforced=settings.structured != "instructed",
    )


def _text(request: ChatRequest) -> str:
    text = " ".join(part.text for part in request.parts if isinstance(part, Text))
    flat = " ".join(text.split())
    return flat if len(flat) <= _PREVIEW else f"{flat[:_PREVIEW]}…"
