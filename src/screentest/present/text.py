"""Numbers, names and labels as people read them: one way for each."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from screentest._util.text import plural
from screentest.core.metric import OutputInfo
from screentest.core.outcome import Failure, Point
from screentest.core.table import Column, columns_of

if TYPE_CHECKING:
    from screentest.analysis.models.rows import MetricRow
    from screentest.analysis.results import Results
    from screentest.video.arrays import Frames


@cache
def _read(name: str) -> Any:
    return tomllib.loads(files("screentest.present").joinpath(name).read_text(encoding="utf-8"))


SENTENCES: Mapping[str, str] = _read("sentences.toml")
"""Every sentence that people may see, errors aside."""


def say(sentence: str, **values: object) -> str:
    """Return a sentence with its values filled in."""
    return SENTENCES[sentence].format_map(values)


def columns(
    table: str, of: Mapping[str, Callable[[Any], Any]] | None = None, **shown: Callable[[Any], str]
) -> list[Column]:
    """Return the columns of a table of ``columns.toml``."""
    return columns_of(_read("columns.toml")[table], of, **shown)


def number(value: float) -> str:
    """Three significant digits, without an exponent.

    >>> number(0.06164), number(25.71), number(-1e-9), number(1234.5), number(0.00001)
    ('0.0616', '25.7', '0', '1,234', '0.00001')
    """
    if round(value, 5) == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    text = f"{value:,.{min(max(digits, 0), 5)}f}"
    return text.rstrip("0").rstrip(".") if digits > 5 else text


def percent(share: float, digits: int = 0) -> str:
    """Return a share of one in per cent.

    >>> percent(0.123), percent(0.1234, 1)
    ('12%', '12.3%')
    """
    return f"{share:.{digits}%}"


def p_value(p: float) -> str:
    """Return a p-value; no value above 0.05 is printed as 0.05.

    >>> [p_value(p) for p in (0.0004, 0.0031, 0.0501, 0.0832, 1.0)]
    ['< .001', '0.003', '0.051', '0.08', '1']
    """
    if p < 0.001:
        return "< .001"
    if p < 0.01:
        return f"{p:.3f}"
    if 0.05 < p < 0.055:
        return f"{math.ceil(1000 * p) / 1000:.3f}"
    return "1" if p > 0.995 else f"{p:.2f}"


def about(count: int) -> str:
    """Return a forecast has no more than two significant digits.

    >>> about(12), about(63), about(1234)
    ('12', '65', '1,300')
    """
    if count <= 20:
        return f"{count}"
    step = 5 if count < 100 else 10 ** (len(str(count)) - 2)
    return f"{math.ceil(count / step) * step:,}"


def names(given: Iterable[str], most: int = 6, *, last: str = ", ") -> str:
    """Return a list of names; the rest is counted.

    >>> names(["a", "b", "c"]), names(["a", "b", "c"], last=" and "), names("abcd", 2)
    ('a, b, c', 'a, b and c', 'a, b and 2 more')
    """
    listed = list(given)
    if len(listed) > most:
        return f"{', '.join(listed[:most])} and {len(listed) - most:,} more"
    return last.join([", ".join(listed[:-1]), listed[-1]]) if len(listed) > 1 else "".join(listed)


def degradation_words(name: str) -> str:
    """Return a short name for a degradation.

    >>> degradation_words("oversharpened"), degradation_words("motion_blur")
    ('sharpening', 'motion blur')
    """
    return str(words("degradations").get(name, name.replace("_", " ")))


def because(what: str, why: str) -> str:
    """Something with its reason, if there is one.

    >>> because("noise", "blur in a")
    'noise (blur in a)'
    """
    return f"{what} ({why})" if why else what


def failure_words(failure: Failure) -> str:
    """Return why there is no value."""
    return failure.brief or failure.reason.value.replace("_", " ")


def frames_words(read: Frames, rate: float) -> str:
    """Return how frames in memory were read."""
    lengths = {len(clip) for clip in read.clips}
    sizes = list(dict.fromkeys(f"{clip.shape[2]}×{clip.shape[1]}" for clip in read.clips))
    count = f"{plural(len(read.clips), 'clip')} of " if read.batch else ""
    least = f"{min(lengths)} to " if len(lengths) > 1 else ""
    size = " and ".join(sizes[:3]) + " and more" * (len(sizes) > 3)
    low, high = read.value_range
    values = f"{read.layout} {read.kind} read as {low:g} to {high:g}"
    return f"{count}{least}{plural(max(lengths), 'frame')}, {size}, {values}, {rate:g} fps"


def shortened(text: str, longest: int) -> str:
    """Return a name of at most so many letters.

    >>> shortened("a_model_called_a", 8)
    'a_model…'
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def aligned(rows: Sequence[Sequence[str]], sides: Sequence[str]) -> list[str]:
    """Return rows of text as lines, each column as wide as its longest cell."""
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            text.rjust(width) if side == "right" else text.ljust(width)
            for text, width, side in zip(row, wide, sides, strict=True)
        ).rstrip()
        for row in rows
    ]


def words(section: str) -> Mapping[str, Any]:
    """One section of ``labels.toml``."""
    entries: Mapping[str, Any] = _read("labels.toml")[section]
    return entries


def phrase(name: str, **values: object) -> str:
    """Return a phrase beside what is known of a value, with its numbers."""
    return str(words("evidence")[name]).format_map(values)


def label(name: str, info: OutputInfo | None = None, stand_ins: Sequence[str] = ()) -> str:
    """Return a value in words, with a mark where a heuristic answered in place of a paper's model.

    >>> label("steadiness.held:x=1"), label("mine.some_value"), label("noise", stand_ins=["x"])
    ('duplicated frames', 'some value', 'noise (heuristic)')
    """
    key = name.partition(":")[0]
    text = words("values").get(key) or (info.label if info is not None else "")
    text = text or key.rpartition(".")[2].replace("_", " ")
    return f"{text} (heuristic)" if stand_ins else str(text)


def labels(results: Results) -> dict[str, str]:
    """Return every value in words; by its name where two would be called alike."""
    infos, stand_ins = results.outputs, results.stand_ins_of
    texts = {name: label(name, info, stand_ins(name)) for name, info in infos.items()}
    return _distinct(texts, results.short_names)


def row_labels(rows: Iterable[MetricRow]) -> dict[str, str]:
    """Return every row in words; by its name where two would be called alike."""
    return _distinct({row.name: label(row.name, row.info, row.stand_ins) for row in rows}, {})


def _distinct(texts: Mapping[str, str], short: Mapping[str, str]) -> dict[str, str]:
    from screentest.analysis.results import plain_name

    count = Counter(texts.values())
    return {
        name: text if count[text] == 1 else short.get(name) or plain_name(name)
        for name, text in texts.items()
    }


# A curve in one line of text.

BLOCKS = "▁▂▃▄▅▆▇█"
PLAIN = "_.:-=+*#"
"""For terminals that have only ASCII."""


def sparkline(curve: Sequence[Point], width: int = 24, levels: str = BLOCKS) -> str:
    """Return the curve over time, its own lowest value at the bottom and its highest at the top.

    Each column shows the mean of the points over its stretch of time; a stretch that no point
    covers is blank.

    >>> from fractions import Fraction
    >>> from screentest.core import Span
    >>> def at(start, value): return Point(Span(Fraction(start), Fraction(start + 1)), value)
    >>> sparkline([at(0, 0.0), at(1, 1.0), at(3, 0.5)], width=4)
    '▁█ ▅'
    """
    if not curve:
        return ""
    start = min(point.span.start for point in curve)
    length = max(point.span.end for point in curve) - start
    if length <= 0:
        columns = [[point.value] for point in curve[:width]]
    else:
        columns = [[] for _ in range(width)]
        for point in curve:
            first = int((point.span.start - start) * width / length)
            last = int((point.span.end - start) * width / length)
            for place in range(first, min(width, max(first + 1, last))):
                columns[place].append(point.value)
    low = min(point.value for point in curve)
    spread = max(point.value for point in curve) - low
    return "".join(_letter(column, low, spread, levels) for column in columns)


def _letter(column: Sequence[float], low: float, spread: float, levels: str) -> str:
    if not column:
        return " "
    if spread <= 0:
        return levels[len(levels) // 2]
    share = (sum(column) / len(column) - low) / spread
    return levels[min(len(levels) - 1, int(share * len(levels)))]
