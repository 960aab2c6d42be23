"""Names, numbers and lists as tables and sentences have them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from screentest.analysis.results import Results
from screentest.core.metric import OutputInfo
from screentest.core.signature import split_value_name

T = TypeVar("T")


def number(value: float) -> str:
    """Three digits that count, without an exponent.

    >>> number(0.06164), number(25.71), number(0.0), number(1234.5), number(0.00001)
    ('0.0616', '25.7', '0', '1,234', '0.00001')
    """
    if value == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    text = f"{value:,.{min(max(digits, 0), 5)}f}"
    return text.rstrip("0").rstrip(".") if digits > 5 else text


def label(name: str, info: OutputInfo, title: str) -> str:
    """A value in words: its own label, or its name without dots; and what stood in for a model.

    >>> label("steadiness.longest_hold:x=1", OutputInfo(""), "steadiness.longest_hold:x=1")
    'longest hold'
    >>> label("clipscore", OutputInfo("", label="fit"), "clipscore[label_text]")
    'fit (label text)'
    """
    metric, output = split_value_name(name)
    words = info.label or (output or metric.partition(":")[0]).replace("_", " ")
    inner = title.partition("[")[2].rstrip("]") if title.endswith("]") else ""
    return f"{words} ({inner.replace('_', ' ').replace('+', ', ')})" if inner else words


def labels(results: Results) -> dict[str, str]:
    """Every value in words; by its name where two would be called alike."""
    titles = {name: results.short_names.get(name, name) for name in results.names}
    words = {name: label(name, results.outputs[name], titles[name]) for name in titles}
    count = Counter(words.values())
    return {name: one if count[one] == 1 else titles[name] for name, one in words.items()}


def about(count: int) -> str:
    """A forecast has no more than two digits that count."""
    if count <= 20:
        return f"{count}"
    step = 5 if count < 100 else 10 ** (len(str(count)) - 2)
    return f"{math.ceil(count / step) * step:,}"


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names as a sentence has them; the rest is counted."""
    found = list(names[:most])
    if len(names) > most:
        found.append(f"{len(names) - most:,} more")
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} and {found[-1]}"


def many(count: int, thing: str) -> str:
    """A count with its noun."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def spread_out(given: Sequence[T], metric: Callable[[T], str]) -> list[T]:
    """In the same order, but the first of each metric before the second of any: three numbers of
    one freeze do not hide what else there is.

    >>> spread_out(["a1", "a2", "b1", "a3"], lambda one: one[0])
    ['a1', 'b1', 'a2', 'a3']
    """
    had: Counter[str] = Counter()
    turns = []
    for one in given:
        turns.append(had[metric(one)])
        had[metric(one)] += 1
    return [one for _, one in sorted(zip(turns, given, strict=True), key=lambda pair: pair[0])]
