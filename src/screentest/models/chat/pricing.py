"""Prices from the user's own file: what a call costs, and the most it can cost.

```toml
[models."gpt-5"]
input = 1.25     # per million tokens
output = 10.00
image = 0        # per picture, where a service bills pictures apart from tokens
image_tokens = 0 # the most tokens one picture counts as, where the service says
```
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from screentest.core import BadOption
from screentest.models.chat.messages import ChatRequest, Usage
from screentest.models.chat.tokens import most_input_tokens

_MILLION = Decimal(1_000_000)
_FIELDS = ("input", "output", "image", "image_tokens")


@dataclass(frozen=True, slots=True)
class Price:
    """What one model costs, in the currency of the file."""

    input: Decimal
    output: Decimal
    image: Decimal = Decimal(0)
    image_tokens: int = 0

    def cost(self, usage: Usage, images: int) -> Decimal | None:
        """What a call cost; None where the server did not count its tokens."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        tokens = self.input * usage.input_tokens + self.output * usage.output_tokens
        return tokens / _MILLION + self.image * images

    def most(self, request: ChatRequest, max_tokens: int, extra_text: str = "") -> Decimal:
        """The most one call for ``request`` can cost."""
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
        """The price of a model; None where the list has none."""
        return self.models.get(model)

    def require(self, model: str) -> Price:
        """The price of a model; a cap cannot be kept without one."""
        price = self.of(model)
        if price is None:
            where = f"{self.source} has" if self.source else "there is"
            raise BadOption(
                f"a cost cap is set, but {where} no price for {model!r}",
                advice=f'Add it to a price file: [models."{model}"] with input = and output = '
                "(per million tokens), and give the file with --prices.",
            )
        return price


def read_prices(path: Path) -> Prices:
    """The prices in a TOML file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadOption(f"the price file {path} cannot be read: {error}") from None
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
            f"{path}: {name!r} has {unknown[0]!r}, which is no part of a price",
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
