"""What calls cost: prices from the user's own file, counts of tokens, a ledger in memory."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from threading import Lock
from typing import Any

from screentest.core import BadOption, CallIntent, CallReceipt, CallStatus
from screentest.models.chat.messages import ChatRequest, Text, Usage


class MemoryLedger:
    """Keeps the intents and receipts of calls outside a run. A LedgerClient without a cap."""

    waits = False
    """Nothing here waits for a disk, so async code may call it directly."""

    def __init__(self) -> None:
        self.intents: dict[str, CallIntent] = {}
        self.receipts: dict[str, CallReceipt] = {}
        self._answers: dict[str, CallReceipt] = {}
        self._lock = Lock()

    def recall(self, request: str) -> CallReceipt | None:
        return self._answers.get(request)

    def intend(self, intent: CallIntent) -> str:
        with self._lock:
            call = str(len(self.intents) + 1)
            self.intents[call] = intent
            return call

    def settle(self, call: str, receipt: CallReceipt) -> None:
        with self._lock:
            self.receipts[call] = receipt
            if receipt.status is CallStatus.ANSWERED and receipt.answer is not None:
                self._answers[self.intents[call].request] = receipt


_PIECES = re.compile(r"[^\W\d_]+|\d+|\n+|[^\w\s]+|_+")
_LETTERS_PER_TOKEN = 6.5
_FOREIGN_LETTERS_PER_TOKEN = 4.0
_TOKENS_PER_SIGN = 0.8
_PATCH = 28
"""Side, in pixels, of the square that one picture token stands for in Qwen-VL models."""


def estimate_text_tokens(text: str) -> int:
    """About how many tokens a text has.

    Every model cuts text in its own way. The estimate was fitted to OpenAI's o200k vocabulary: it
    is within a tenth of it on prompts, captions, transcripts and code, within a fifth on JSON
    schemas.

    >>> estimate_text_tokens("A red car drives along the coast at sunset.")
    10
    """
    total = 0.0
    for match in _PIECES.finditer(text):
        piece = match.group()
        if not piece[0].isalpha():
            total += math.ceil(len(piece) / 3)
        elif piece.isascii():
            total += max(1.0, len(piece) / _LETTERS_PER_TOKEN)
        elif piece.upper() != piece.lower():
            total += max(1.0, len(piece) / _FOREIGN_LETTERS_PER_TOKEN)
        else:  # a script without upper and lower case, mostly written without spaces too
            total += len(piece) * _TOKENS_PER_SIGN
    return math.ceil(total)


def most_input_tokens(request: ChatRequest, extra_text: str = "", image_tokens: int = 0) -> int:
    """More tokens than any server will count: one per byte of text, four per patch of picture.

    ``image_tokens`` is what the user's price file says one picture counts as, where it does.

    Holds for any tokenizer that works on bytes.
    """
    texts = [request.system, extra_text]
    texts += [part.text for part in request.parts if isinstance(part, Text)]
    # In words, and as response_format, or in words with an outline, which is shorter.
    texts.append(request.instructions(enforced=True) * 2)
    total = sum(len(text.encode("utf-8", "replace")) for text in texts) + 64
    for picture in request.pictures:
        patches = math.ceil(picture.width / _PATCH) * math.ceil(picture.height / _PATCH)
        total += max(4 * patches + 1024, image_tokens)
    return total


_MILLION = Decimal(1_000_000)
_FIELDS = ("input", "output", "image", "image_tokens")


@dataclass(frozen=True, slots=True)
class Price:
    """The price of one model, in the currency of the file."""

    input: Decimal
    output: Decimal
    image: Decimal = Decimal(0)
    image_tokens: int = 0

    def cost(self, usage: Usage, images: int) -> Decimal | None:
        """Return the cost of a call; None where the server did not count its tokens."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        tokens = self.input * usage.input_tokens + self.output * usage.output_tokens
        return tokens / _MILLION + self.image * images

    def most(self, request: ChatRequest, max_tokens: int, extra_text: str = "") -> Decimal:
        """Return the most one call for ``request`` can cost."""
        tokens = most_input_tokens(request, extra_text, self.image_tokens)
        cost = self.cost(Usage(tokens, max_tokens), len(request.pictures))
        assert cost is not None
        return cost


@dataclass(frozen=True, slots=True)
class Prices:
    """The price list, by the name under which a model is asked for."""

    models: Mapping[str, Price] = field(default_factory=dict)
    source: str = ""

    def of(self, model: str) -> Price | None:
        """Return the price of a model; None where the list has none."""
        return self.models.get(model)

    def require(self, model: str) -> Price:
        """Return the price of a model; a cap cannot be kept without one."""
        price = self.of(model)
        if price is None:
            where = f"{self.source} has" if self.source else "there is"
            raise BadOption(
                f"a cost cap is set, but {where} no price for {model!r}",
                advice=f'Add it to a price file: [models."{model}"] with input = and output = '
                "(per million tokens), and give the file as `prices`.",
            )
        return price


def read_prices(path: Path) -> Prices:
    """Return the prices in a TOML file.

    ```toml
    [models."gpt-5"]
    input = 1.25     # per million tokens
    output = 10.00
    image = 0        # per picture, where a service bills pictures apart from tokens
    image_tokens = 0 # the most tokens one picture counts as, where the service says
    ```
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, ValueError, RecursionError) as error:
        raise BadOption(f"cannot read the price file {path}: {error}") from None
    table = content.get("models")
    if not isinstance(table, dict) or not table:
        raise BadOption(
            f"the price file {path} lists no model",
            advice='Write [models."NAME"] with input = and output = per million tokens.',
        )
    return Prices({name: _price(name, entry, path) for name, entry in table.items()}, str(path))


def _price(name: str, entry: Any, path: Path) -> Price:
    if not isinstance(entry, dict) or not {"input", "output"} <= entry.keys():
        raise BadOption(f"{path}: the price of {name!r} needs input = and output =")
    unknown = sorted(entry.keys() - set(_FIELDS))
    if unknown:
        raise BadOption(
            f"{path}: {name!r} has {unknown[0]!r}, which is not part of a price",
            advice=f"A price has {', '.join(_FIELDS)}.",
        )
    numbers = {key: _amount(entry[key], f"{path}: {key} of {name!r}") for key in entry}
    image_tokens = numbers.pop("image_tokens", Decimal(0))
    return Price(**numbers, image_tokens=int(image_tokens))


def _amount(value: Any, what: str) -> Decimal:
    try:
        amount = Decimal(str(value)) if not isinstance(value, bool) else Decimal("NaN")
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise BadOption(f"{what} is {value!r}, not an amount")
    return amount
