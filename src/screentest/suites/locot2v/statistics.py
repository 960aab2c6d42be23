"""What a prompt suite is made of: how many, how long, how complex, in which themes.

The paper's table 1 and figures 2, 5 and 6, of any prompt file. Complexity is what the file says;
``measure`` may ask a chat model where it says nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from screentest._util.collect import grouped
from screentest._util.text import lines
from screentest.analysis.people.released import read_text
from screentest.core import Cell, Column, ManifestError, Table
from screentest.inputs.layouts.contents import TABLES, read_prompts, table_rows, text_of
from screentest.present.charts import COLOURS, new_figure, styled
from screentest.suites.locot2v.data import (
    COMPLEXITIES,
    TERMS,
    PromptRecord,
    category_of,
    read_prompt_suite,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LENGTH_BOUND, COMPLEXITY_BOUND = 500, 10
"""What the paper divides lengths and complexities by in figure 6."""
STEP_WORDS, STEP_SECONDS = 50, 5
_COMMON_WORDS = 30
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SMALL = frozenset(TERMS["small_words"])


@dataclass(frozen=True, slots=True)
class PromptFile:
    """The prompts of one file, under the name it is shown by."""

    name: str
    records: tuple[PromptRecord, ...]
    problems: tuple[str, ...] = ()
    """Entries that could not be read, and themes in no category."""


def read_prompt_files(
    paths: Sequence[Path], categories: Mapping[str, str] | None = None
) -> list[PromptFile]:
    """Return each file under its own name, with its folder's where several have the same."""
    stems = Counter(path.stem for path in paths)
    files = []
    for path in paths:
        name = path.stem if stems[path.stem] == 1 else f"{path.parent.name}/{path.stem}"
        files.append(replace(read_prompt_file(path, categories), name=name))
    return files


def read_prompt_file(path: Path, categories: Mapping[str, str] | None = None) -> PromptFile:
    """Read a prompt suite of either edition, a table with a column of prompts, or lines."""
    suffix = path.suffix.lower()
    if suffix == ".json":
        try:
            suite = read_prompt_suite(path, categories=categories)
        except ManifestError as error:
            # Other benchmarks' lists call the column otherwise, as VBench's prompt_en.
            try:
                return PromptFile(path.stem, _listed(path))
            except ManifestError:
                raise error from None
        lost = tuple(f"{path.name}: {problem}" for problem in suite.warnings)
        return PromptFile(path.stem, tuple(suite.records.values()), lost)
    if suffix in TABLES:
        return PromptFile(path.stem, _listed(path))
    # Not as lists of prompts are read: these number their lines, so that a blank one is an error.
    texts = [line.strip() for line in lines(read_text(path)) if line.strip()]
    if not texts:
        raise ManifestError(f"{path} has no prompts")
    records = [PromptRecord(str(number), text) for number, text in enumerate(texts, start=1)]
    return PromptFile(path.stem, tuple(records))


def _listed(path: Path) -> tuple[PromptRecord, ...]:
    """Return the prompts of any table, with the theme and category that its rows tell."""
    prompts = read_prompts(path)
    return tuple(
        PromptRecord(
            prompt.id or str(number),
            prompt.text,
            theme=text_of(row.fields.get("theme")),
            category=text_of(row.fields.get("category")),
        )
        for number, (prompt, row) in enumerate(zip(prompts, table_rows(path), strict=True), start=1)
    )


def with_complexity(file: PromptFile, measure: Callable[[str], Mapping[str, float]]) -> PromptFile:
    """Return the same with the complexity of every prompt that has none."""
    return replace(
        file,
        records=tuple(
            record if record.complexity else replace(record, complexity=measure(record.prompt))
            for record in file.records
        ),
    )


def length_of(record: PromptRecord) -> int:
    """Return the number of words of a prompt."""
    return len(record.prompt.split())


def comparison_table(files: Sequence[PromptFile]) -> Table:
    """Table 1: samples, mean length in words, and the three complexities with their mean."""
    return Table(
        "comparison",
        "Prompts",
        (
            *("prompts", "samples", Column("words", digits=2)),
            *(Column(name, digits=2) for name in (*COMPLEXITIES, "mean")),
            Column("graded", "of", detail=True),
        ),
        [(file.name, len(file.records), *_measures(file.records)) for file in files],
        note="Complexity from 1 to 10, of the prompts that have one.",
    )


def theme_table(files: Sequence[PromptFile]) -> Table:
    """Figure 2, left: how many prompts each theme has, with its category."""
    rows: list[tuple[Cell, ...]] = []
    for file in files:
        counts = Counter(record.theme for record in file.records if record.theme)
        categories = {record.theme: record.category for record in file.records}
        for theme, count in counts.most_common():
            rows.append((file.name, theme, categories[theme] or category_of(theme) or None, count))
    return Table("themes", "Themes", ("prompts", "theme", "category", "count"), rows)


def category_table(files: Sequence[PromptFile]) -> Table:
    """Figure 6: length and complexity by category of themes, and both as shares of a bound."""
    rows: list[tuple[Cell, ...]] = []
    for file in files:
        for category, subset in _by_category(file.records).items():
            words, *complexities, mean, _ = _measures(subset)
            share = None if mean is None else mean / COMPLEXITY_BOUND
            length = None if words is None else words / LENGTH_BOUND
            measured = (words, *complexities, mean, length, share)
            rows.append((file.name, category, len(subset), *measured))
    return Table(
        "categories",
        "Categories of themes",
        (
            *("prompts", "category", "samples", Column("words", digits=2)),
            *(Column(name, digits=2) for name in (*COMPLEXITIES, "mean")),
            Column("length_share", detail=True),
            Column("complexity_share", detail=True),
        ),
        rows,
        note=f"Shares are of {LENGTH_BOUND} words and of {COMPLEXITY_BOUND}, as the paper draws.",
    )


def spread_table(files: Sequence[PromptFile]) -> Table:
    """Figures 2 and 5, right: prompts by length in words, and videos by duration."""
    rows: list[tuple[Cell, ...]] = []
    for file in files:
        for what, step, counts in _spreads(file.records):
            for start, count in counts.items():
                rows.append((file.name, what, start, start + step, count))
    return Table("spread", "Lengths", ("prompts", "of", "from", "to", "count"), rows)


def word_table(files: Sequence[PromptFile]) -> Table:
    """Figure 5, left, as numbers: the most common words and how many prompts have each."""
    rows: list[tuple[Cell, ...]] = []
    for file in files:
        counts = Counter(word for record in file.records for word in _words(record.prompt))
        rows += [(file.name, word, count) for word, count in counts.most_common(_COMMON_WORDS)]
    return Table("words", "Common words", ("prompts", "word", "count"), rows)


def tables(files: Sequence[PromptFile]) -> list[Table]:
    """Return all that has a row."""
    kinds = (comparison_table, theme_table, category_table, spread_table, word_table)
    lost = [(problem,) for file in files for problem in file.problems]
    problems = Table("problems", f"Problems: {len(lost):,}", ("problem",), lost)
    return [item for item in (*(kind(files) for kind in kinds), problems) if item.rows]


def bins(values: Sequence[float], step: int) -> dict[int, int]:
    """Return how many values are in each step, empty ones between them too.

    >>> bins([30.0, 31, 44], 5)
    {30: 2, 35: 0, 40: 1}
    """
    counts = Counter(int(value // step) * step for value in values)
    if not counts:
        return {}
    return {start: counts[start] for start in range(min(counts), max(counts) + step, step)}


def _spreads(records: Sequence[PromptRecord]) -> Iterator[tuple[str, int, dict[int, int]]]:
    yield "words", STEP_WORDS, bins([length_of(record) for record in records], STEP_WORDS)
    seconds = [record.duration for record in records if record.duration is not None]
    yield "seconds", STEP_SECONDS, bins(seconds, STEP_SECONDS)


@styled
def statistics_chart(files: Sequence[PromptFile]) -> Figure:
    """Themes, lengths and durations of prompt files, side by side."""
    figure = new_figure(11, 7, layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    for number, file in enumerate(files):
        colour = COLOURS[number % len(COLOURS)]
        themes = Counter(record.theme for record in file.records if record.theme)
        axes[0].barh(list(themes), list(themes.values()), color=colour, alpha=0.8, label=file.name)
        for place, (_, step, counts) in zip(axes[1:3], _spreads(file.records), strict=True):
            place.bar(list(counts), list(counts.values()), step * 0.9, align="edge", color=colour)
        for category, subset in _by_category(file.records).items():
            words, *_, mean, _ = _measures(subset)
            if words is not None and mean is not None:
                axes[3].scatter(words / LENGTH_BOUND, mean / COMPLEXITY_BOUND, color=colour)
                axes[3].annotate(category, (words / LENGTH_BOUND, mean / COMPLEXITY_BOUND))
    labels = ("prompts", "words", "seconds", f"length / {LENGTH_BOUND} words")
    for place, label in zip(axes, labels, strict=True):
        place.set_xlabel(label)
        place.spines[["top", "right"]].set_visible(False)
    axes[3].set_ylabel(f"complexity / {COMPLEXITY_BOUND}")
    axes[0].legend(frameon=False)
    return figure


def _by_category(records: Sequence[PromptRecord]) -> dict[str, list[PromptRecord]]:
    categories = grouped(
        (record.category or category_of(record.theme), record) for record in records
    )
    return {name: subset for name, subset in sorted(categories.items()) if name}


def _measures(records: Sequence[PromptRecord]) -> tuple[float | None, ...]:
    """Mean words, the three complexities, their mean, and how many prompts have them."""
    graded = [
        record.complexity for record in records if all(k in record.complexity for k in COMPLEXITIES)
    ]
    words = fmean(length_of(record) for record in records) if records else None
    if not graded:
        return (words, *[None] * (len(COMPLEXITIES) + 1), 0)
    means = [fmean(item[kind] for item in graded) for kind in COMPLEXITIES]
    return (words, *means, fmean(means), len(graded))


def _words(prompt: str) -> set[str]:
    result = {word.lower() for word in _WORD.findall(prompt)}
    return {word for word in result if word not in _SMALL and len(word) > 1}
