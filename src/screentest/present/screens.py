"""First screens: a headline of at most 100 characters, short labelled lines, a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

from screentest._util.collect import grouped
from screentest._util.text import plural
from screentest.analysis.models.comparison import ModelComparison
from screentest.analysis.models.coverage import (
    BrokenVideo,
    NotCovered,
    PromptCoverage,
    UnreadVideo,
    bordered_videos,
    broken_videos,
    not_covered,
    worst_videos,
)
from screentest.analysis.models.rows import (
    Explained,
    Explanation,
    MetricRow,
    ModelPair,
    ModelValue,
    NotCompared,
    Part,
    Place,
    State,
    WhyNotCompared,
    first_and_last,
    forecastable,
    row_order,
    spread_out,
)
from screentest.analysis.results import Pool, Results
from screentest.core.outcome import last_line
from screentest.core.table import ARROWS, Cell, Column, Table
from screentest.present.sentences import say
from screentest.present.text import (
    about,
    aligned,
    because,
    label,
    labels,
    names,
    number,
    p_value,
    percent,
    row_labels,
    shortened,
    words,
)
from screentest.stats.signflip import LEVEL

SENSIBLE = 200
"""Prompts up to which a forecast is worth saying: what takes more is about as small as
re-encoding noise."""
LONGEST = 100
"""Characters of a headline."""
WIDTH = 80
"""Characters of other lines."""
NAMED = 4
"""Metrics that a line names."""
WORST = 3
"""Videos of one model that have a line each."""
_NAMES_WIDTH = 30
"""Characters that the names of models may take above the columns of a table."""
Lines = Iterator[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Screen:
    """A headline, labelled lines, a table and the notes below it."""

    headline: str
    lines: tuple[tuple[str, str], ...]
    table: Table | None = None
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The headline and the lines."""
        wide = max((len(name) for name, _ in self.lines), default=0)
        lines = [self.headline]
        for name, text in self.labelled:
            first, *rest = wrap(text, WIDTH - wide - 4) or [""]
            lines.append(f"  {name:<{wide}}  {first}")
            lines += [f"{'':{wide + 4}}{part}" for part in rest]
        return "\n".join(lines)

    @property
    def labelled(self) -> list[tuple[str, str]]:
        """The lines, with a label at the first of several with the same."""
        before = ["", *(name for name, _ in self.lines)]
        return [
            ("" if name == last else name, text)
            for last, (name, text) in zip(before, self.lines, strict=False)
        ]

    def __str__(self) -> str:
        table = [] if self.table is None or not self.table.rows else ["", *_aligned(self.table)]
        return "\n".join([self.text, *table, *self.notes])


def _aligned(table: Table) -> list[str]:
    brief = table.short()
    rows = [tuple(column.heading for column in brief.columns), *brief.texts()]
    return aligned(rows, brief.alignments())


# Several models.


def comparison_screen(comparison: ModelComparison) -> Screen:
    """Return the first screen of a comparison."""
    return Screen(
        headline(comparison),
        tuple(_lines(comparison)),
        comparison_table(comparison),
        tuple(_notes(comparison)),
    )


def headline(comparison: ModelComparison) -> str:
    """Return the result of a comparison in one sentence."""
    texts = [_headline(comparison, longest) for longest in (LONGEST, 24, 16, 8)]
    fitting = [text for text in texts if len(text) <= LONGEST]
    return fitting[0] if fitting else shortened(texts[-1], LONGEST)


def _headline(comparison: ModelComparison, longest: int) -> str:
    tested = comparison.tested
    prompts = prompt_count(comparison, tested)
    metrics = plural(len(tested), "metric")
    if not comparison.comparisons:
        if tested:
            return say("identical", metrics=metrics, prompts=prompts)
        return say("nothing_compared", reason=_nothing(comparison))
    if comparison.winner:
        return _winner(comparison, longest)
    if comparison.loser and (rows := _lost_to_all(comparison)):
        return _loser(comparison, rows, longest)
    earned = [row for row in tested if any(pair.earned for pair in row.pairs)]
    if earned:
        prompts = prompt_count(comparison, earned)
        of = _of(len(earned), len(tested))
        return say("no_single_winner", metrics=of, prompts=prompts, level=LEVEL)
    if comparison.having(State.SIGNIFICANT):
        return say("explained_only", prompts=prompts)
    if comparison.too_few and len(comparison.not_compared) > len(tested):
        return say("nothing_compared", reason=_nothing(comparison))
    soonest = next(iter(forecastable(comparison.rows)), None)
    if any(pair.differs for row in comparison.rows for pair in row.pairs):
        if soonest is not None and (soonest.needed or 0) <= SENSIBLE:
            metric = row_labels(comparison.rows)[soonest.name]
            needed = f"about {about(soonest.needed or 0)} needed for {metric}"
            return say("inconclusive", prompts=prompts, needed=needed)
        if comparison.too_few:
            needed = f"at least {comparison.fewest} needed"
            return say("inconclusive", prompts=prompts, needed=needed)
    equal = comparison.having(State.EQUIVALENT)
    if 2 * len(equal) > len(tested) and not any(row.leaning for row in tested):
        alike = f"all {len(comparison.models)} {comparison.by}s"
        if len(comparison.models) == 2:
            alike = names((shortened(m, longest) for m in comparison.models), last=" and ")
        of = metrics if len(equal) == len(tested) else _of(len(equal), len(tested))
        prompts = prompt_count(comparison, equal)
        return say("equal", models=alike, metrics=of, prompts=prompts)
    return say("no_difference", metrics=metrics, prompts=prompts)


def _winner(comparison: ModelComparison, longest: int) -> str:
    rivals = [name for name in comparison.models if name != comparison.winner]
    over = [row for row in comparison.rows if row.over(comparison.winner)]
    all_over = [row for row in over if len(row.over(comparison.winner)) == row.rivals]
    others = "both others" if len(rivals) == 2 else f"all {len(rivals)} others"
    if len(rivals) == 1:
        others = shortened(rivals[0], longest)
    elif not all_over:
        others = f"{len(rivals)} others"
    rows = all_over or over
    return say(
        "beats" if all_over else "beats_each",
        winner=shortened(comparison.winner, longest),
        others=others,
        metrics=_of(len(rows), len(comparison.tested)),
        prompts=prompt_count(comparison, rows),
        level=LEVEL,
    )


def _lost_to_all(comparison: ModelComparison) -> list[MetricRow]:
    loser = comparison.loser
    return [row for row in comparison.rows if 0 < row.rivals == len(row.under(loser))]


def _loser(comparison: ModelComparison, rows: Sequence[MetricRow], longest: int) -> str:
    others = len(comparison.models) - 1
    return say(
        "loses",
        loser=shortened(comparison.loser, longest),
        others="both others" if others == 2 else f"all {others} others",
        metrics=_of(len(rows), len(comparison.tested)),
        prompts=prompt_count(comparison, rows),
        level=LEVEL,
    )


def _of(count: int, total: int) -> str:
    return f"{count} of {plural(total, 'metric')}"


def prompt_count(comparison: ModelComparison, rows: Sequence[MetricRow]) -> str:
    """Return the number of prompts that some rows rest on, but for the few that have few."""
    most = max((row.prompts for row in rows), default=comparison.prompts)
    counts = sorted({row.prompts for row in rows if 2 * row.prompts >= most}) or [most]
    least = f"{counts[0]:,} to " if len(counts) > 1 else ""
    return f"{least}{plural(counts[-1], comparison.unit)}"


def _nothing(comparison: ModelComparison) -> str:
    if comparison.unread:
        return f"{unread_words(comparison.unread, comparison.videos)} could not be read"
    if not comparison.prompts:
        return f"the {comparison.by}s share no prompt"
    if comparison.not_compared:
        reasons = Counter(map(why_words, comparison.not_compared.values()))
        return reasons.most_common(1)[0][0]
    if not comparison.rows:
        return f"no metric has values of two {comparison.by}s on one prompt"
    return "no metric here says which is better"


def _lines(comparison: ModelComparison) -> Lines:
    label_of = row_labels(comparison.rows)
    yield from broken_lines(comparison.broken, comparison.videos)
    yield from _better(comparison, label_of)
    undecided = list(_undecided(comparison, label_of))
    yield from undecided
    equal = comparison.having(State.EQUIVALENT)
    open_rows = [row for row in comparison.having(State.UNDECIDED) if not row.leaning]
    if open_rows:
        others = plural(len(open_rows), "other metric" if undecided else "metric")
        yield "undecided", because(others, "no clear direction")
    if equal and (comparison.having(State.SIGNIFICANT) or undecided):
        yield "equal", because(plural(len(equal), "metric"), "within re-encoding noise")
    elif equal:
        yield "equal", names((label_of[row.name] for row in equal), 2 * NAMED)
    yield from _explained(comparison, label_of)
    described = comparison.having(State.DESCRIBED)
    if described and comparison.tested:
        yield "descriptive", f"{plural(len(described), 'metric')}, not ranked"
    if looks := _looks(comparison):
        yield "looks", looks
    yield from _not_compared(comparison, label_of)
    if uncovered := not_covered_words(comparison.not_covered):
        yield "not covered", uncovered
    yield from _left_out(comparison)
    yield from _missing(comparison, label_of)
    if comparison.unread and comparison.comparisons:
        yield "unreadable", unread_words(comparison.unread, comparison.videos)


def _better(comparison: ModelComparison, label_of: Mapping[str, str]) -> Lines:
    """Yield the metrics in which one model is significantly better, by whom it is better than."""
    if comparison.winner and len(comparison.models) == 2:
        better_on = [label_of[row.name] for row in comparison.rows if row.over(comparison.winner)]
        yield "better", names(better_on, 2 * NAMED)
        return
    sides: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for row in comparison.rows:
        best = {value.model for value in row.values if value.best}
        for value in row.values:
            under = row.under(value.model) if value.worst or len(comparison.models) == 2 else ()
            better = tuple(name for name in under if name in best) or under
            if better:
                sides.setdefault((better, value.model), []).append(label_of[row.name])
    merged = grouped(
        ((better, tuple(metrics)), loser) for (better, loser), metrics in sides.items()
    )
    for (better, listed), worse in merged.items():
        sides_text = f"{names(better, last=' and ')} over {names(worse, last=' and ')}"
        yield "better", f"{sides_text}: {names(listed, NAMED)}"


def _undecided(comparison: ModelComparison, label_of: Mapping[str, str]) -> Lines:
    """Yield the differences that more prompts might show, by the model that is ahead, or last."""
    rows = sorted((row for row in comparison.rows if row.leaning), key=row_order)
    rows = [row for row in rows if not all(pair.explanation for pair in row.claimed)]
    sides: dict[tuple[str, str], list[str]] = {}
    for row in spread_out(rows, lambda row: row.metric):
        kind, model, count = row_place(comparison, row)
        if model:
            wins = wins_words(comparison, row, count, brief=bool(sides))
            wins = f"{kind} on {wins}" if model == comparison.winner else wins
            named = because(label_of[row.name], wins)
            sides.setdefault((kind, model), []).append(named)
    for (kind, model), metrics in sides.items():
        listed = names(metrics, NAMED)
        if model != comparison.winner:
            listed = f"{model} {kind}: {listed}"
        yield "undecided", listed


def row_place(comparison: ModelComparison, row: MetricRow) -> tuple[str, str, int]:
    """Return the place (ahead or last), the model that has it so far, and its number of prompts;
    no model where all share the place."""
    leader, last, ahead, behind = row.leader, row.last, row.ahead, row.behind
    if row.prompts == 1:
        leader, last = first_and_last(row)
        ahead = behind = 1
    kind, model, count = "ahead", leader, ahead
    if row.claim is Place.LAST and len(row.values) > 2 and last:
        kind, model, count = "last", last, behind
    elif not leader and row.claimed:
        model, count = row.claimed[0].better, row.claimed[0].ahead
    return kind, model, count


def wins_words(
    comparison: ModelComparison, row: MetricRow, count: int, *, brief: bool = False
) -> str:
    """On how many prompts a place is held, and how many it takes; ``brief`` without the noun."""
    wins = f"{count} of {row.prompts}"
    if not row.needed or row.needed > SENSIBLE:
        return wins
    unit = "" if brief else f" {comparison.unit}s needed"
    return f"{wins}; about {about(row.needed)}{unit}"


def _explained(comparison: ModelComparison, label_of: Mapping[str, str]) -> Lines:
    """Leads that an artefact explains, and those of which nothing tells whose fault it is."""
    explained: dict[str, list[str]] = {}
    unclear: dict[tuple[str, str], list[str]] = {}
    for row in comparison.rows:
        for pair in row.pairs:
            explanation = pair.explanation
            shown = pair.significant or (row.leaning and _stands_out(row, pair))
            if explanation is None or not shown:
                continue
            if explanation.kind is Explained.ARTEFACT:
                artefact = artefact_words(explanation, label_of)
                listed = explained.setdefault(label_of[row.name], [])
                if artefact not in listed:
                    listed.append(artefact)
            else:
                other = pair.worse if explanation.model == pair.better else pair.better
                unclear.setdefault((explanation.model, other), []).append(label_of[row.name])
    if explained:
        listed = [because(n, f"due to {names(found)}") for n, found in explained.items()]
        yield "explained", names(listed, NAMED)
    for (model, other), metrics in unclear.items():
        why = say("unclear", model=model, other=other)
        yield "unclear", because(names(dict.fromkeys(metrics), NAMED), why)


def artefact_words(explanation: Explanation, label_of: Mapping[str, str]) -> str:
    """Return the artefact that explains a lead, and the model that has it."""
    value = explanation.value
    word = words("artefacts").get(value) or label_of.get(value) or label(value)
    return f"{word} in {explanation.model}"


def _stands_out(row: MetricRow, pair: ModelPair) -> bool:
    """Return True where the pair is of the row's leader, or of its last, that is so on most
    prompts."""
    first = row.leader == pair.better and 2 * row.clear > row.prompts
    return first or (row.last == pair.worse and 2 * row.clear_last > row.prompts)


def _means(row: MetricRow) -> str:
    had = [(value.model, value.mean) for value in row.values if value.mean is not None]
    return ", ".join(f"{shortened(model, 16)} {number(mean)}" for model, mean in had[:NAMED])


def _looks(comparison: ModelComparison) -> str:
    by_model: dict[str, list[str]] = {}
    for look in comparison.looks:
        more, less = words("looks").get(look.value.partition(":")[0]) or (
            f"higher in {label(look.value)}",
            f"lower in {label(look.value)}",
        )
        by_model.setdefault(look.model, []).append(more if look.more else less)
    return "; ".join(
        say("looks", model=model, looks=names(looks, last=" and "))
        for model, looks in by_model.items()
    )


def why_words(why: WhyNotCompared) -> str:
    """Return the reason why a metric is not compared."""
    usual = {model: f"{rate:.4g}" for model, rate in why.rates.items()}
    rates = ", ".join(f"{model} {rate}" for model, rate in usual.items())
    rates = rates if len(set(usual.values())) > 1 else "by prompt"
    settings = ", ".join(
        f"{_setting(key)} ({' and '.join(value or 'none' for value in values)})"
        for key, values in why.settings.items()
    )
    missing = ", ".join(
        f"{model} lacks {lack.videos:,} of {plural(lack.of_videos, 'value')}"
        for model, lack in list(why.missing.items())[:1]
    )
    text = words("not_compared")[why.reason].format(
        rates=rates, settings=settings, missing=missing, version=why.version, films=why.films
    )
    others = names(why.comparable, last=" and ")
    return f"{text}; {others} can be compared" if len(why.comparable) > 1 else str(text)


def _setting(key: str) -> str:
    return {"v": "versions", "shots": "shot detectors", "": "metrics"}.get(
        key, key.removeprefix("model.")
    )


def _not_compared(comparison: ModelComparison, label_of: Mapping[str, str]) -> Lines:
    reasons: dict[str, list[str]] = {}
    for name, why in comparison.not_compared.items():
        row = next((row for row in comparison.rows if row.name == name), None)
        text = label_of.get(name) or label(name)
        if row is not None and why.reason in (NotCompared.FEW_FILMS, NotCompared.OLD_VERSION):
            text = f"{text} {_means(row)}"
        reasons.setdefault(why_words(why), []).append(text)
    for reason, listed in reasons.items():
        yield "not compared", because(names(listed, NAMED), reason)


def not_covered_words(covered: NotCovered) -> str:
    """Return the parts of prompts, and the faults, that nothing measures."""
    faults = [fault.replace("_", " ") for fault in covered.faults]
    if covered.prompts in (PromptCoverage.COVERED, PromptCoverage.FOREIGN):
        return names(faults, 9)
    why = words("prompt_coverage")[covered.prompts].format(
        failures=", ".join(covered.failures).replace("_", " "),
        read=covered.read,
        of_prompts=covered.of_prompts,
    )
    return names([because("prompt following", why), *faults], 9)


def _left_out(comparison: ModelComparison) -> Lines:
    left = comparison.left_out
    if left.prompts and comparison.prompts:
        lacking = [f"{model} lacks {count:,}" for model, count in left.missing.items()]
        why = names(lacking, NAMED)
        if left.best_without:
            models = names(left.best_without, last=" and ")
            why += f"; {models} share {left.shared_without:,}"
        what = f"{left.prompts:,} of {plural(left.of_prompts, comparison.unit)}"
        yield "left out", because(what, why)
    if comparison.ungrouped:
        yield "left out", f"{plural(comparison.ungrouped, 'video')} without {comparison.by}"
    merged = comparison.merged
    if merged.units < merged.written:
        written = plural(merged.written, "prompt")
        yield "merged", say("merged", written=written, units=merged.units)
    if comparison.unit == "video":
        yield "paired", say("by_name")
    seeds = comparison.uneven_seeds
    if seeds is not None:
        spans = [f"{model} {_span(*span)}" for model, span in seeds.videos.items()]
        text = say("seeds", videos=", ".join(spans), count=_span(*seeds.compared))
        if seeds.best_without:
            text += f" ({names(seeds.best_without, last=' and ')} have more)"
        yield "paired", text


def _span(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _missing(comparison: ModelComparison, label_of: Mapping[str, str]) -> Lines:
    alike: dict[tuple[str, str], list[str]] = {}
    for metric in comparison.missing:
        lost = sum(lack.videos for lack in metric.missing.values())
        of = plural(sum(lack.of_videos for lack in metric.missing.values()), "video")
        why = ", ".join(metric.inapplicable) or ", ".join(
            f"{model} {lack.videos:,}" for model, lack in metric.missing.items() if lack.videos
        )
        name = label_of.get(metric.name) or label(metric.name)
        alike.setdefault((f"{lost:,} of {of}", why), []).append(name)
    for (count, why), listed in list(alike.items())[:WORST]:
        what = f"{names(listed, NAMED)}: {count}"
        yield "missing", because(what, why)
    if len(alike) > WORST:
        rest = sum(len(listed) for listed in list(alike.values())[WORST:])
        yield "missing", f"and values of {plural(rest, 'more metric')}"


def broken_lines(broken: Sequence[BrokenVideo], videos: int) -> Lines:
    """Yield the videos that are broken by themselves."""
    if not broken:
        return
    phrases = words("broken")
    reasons = grouped(
        (phrases[video.fault].format(value=video.value, usual=video.usual), video.item)
        for video in broken
    )
    listed = [because(names(items, WORST), why) for why, items in reasons.items()]
    yield "broken", f"{len(broken):,} of {plural(videos, 'video')}: {names(listed, WORST)}"


def unread_words(unread: Sequence[UnreadVideo], videos: int) -> str:
    """Return the number of videos that could not be read, with the reasons."""
    reasons = Counter(video.reason.replace("_", " ") for video in unread)
    listed = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common())
    return because(f"{len(unread):,} of {plural(videos, 'video')}", listed)


def borders_words(results: Results) -> str:
    """Return the number of videos that have borders, with their size; empty where none has."""
    bordered = bordered_videos(results)
    if bordered is None:
        return ""
    shares = dict.fromkeys(map(percent, (bordered.least, bordered.most)))
    what = f"{bordered.videos:,} of {plural(bordered.of_videos, 'video')}"
    return because(what, say("borders", shares=" to ".join(shares)))


def file_and_reason(unread: UnreadVideo) -> tuple[str, str]:
    """Return a video that could not be read: its path, from here where it is below, and the
    reason."""
    path = Path(unread.video)
    detail = last_line(unread.detail)
    # The message of a decoder begins with the path, which stands beside it already.
    _, quoted, rest = detail.partition(f"{path.name}' ")
    why = ": ".join(filter(None, [unread.reason, f"the file {rest}" if quoted else detail]))
    inside = path.absolute().is_relative_to(Path.cwd())
    return str(path.absolute().relative_to(Path.cwd()) if inside else path), why


def _notes(comparison: ModelComparison) -> Iterator[str]:
    values = [value for row in comparison.rows for value in row.values]
    if any(value.best for value in values):
        yield say("star")
    if any(value.explained for value in values):
        yield say("circle")
    if comparison.part is not Part.WHOLE:
        yield say("counted", part=words("parts")[comparison.part])
    rows = tuple(row for row in comparison.rows if row.shows)
    bare = [label(row.name, row.info, row.stand_ins) for row in rows if row.margin is None]
    if bare:
        yield say("no_margin", metrics=names(bare, NAMED))
    own = [row.margin.films for row in rows if row.margin is not None and row.margin.own]
    if own:
        yield say("own_margins", count=max(own))
    if (
        not comparison.not_covered.prompts_read
        or comparison.not_covered.prompts is PromptCoverage.HEURISTIC
    ):
        yield say("get_models")


def comparison_table(comparison: ModelComparison) -> Table:
    """Return the models side by side, in the metrics in which there is something to see.

    Models whose names are too wide get letters. Where something was tested, values
    that only describe are no rows.
    """
    rows = tuple(row for row in comparison.rows if row.shows)
    if not comparison.tested:
        rows = comparison.having(State.DESCRIBED)
    lengths = [len(name) for name in comparison.models]
    # Of several, the column of wins has a name too.
    longest = max(lengths) if len(lengths) > 2 else 0
    letters = sum(lengths) + len(lengths) + longest > _NAMES_WIDTH
    heads = {name: _letter(n) if letters else name for n, name in enumerate(comparison.models)}
    label_of = row_labels(comparison.rows)
    columns = [
        Column("group", detail=True),
        Column("about", " ", derived=True),
        Column("metric", " "),
        *(Column(f"model.{name}", heads[name], align="right", show=_cell) for name in heads),
        *(Column(name, detail=True) for name in ("leader", "ahead", "last", "behind", "prompts")),
        Column("margin", detail=True),
        Column("wins", "wins", align="right", derived=True, detail=not comparison.tested),
        Column("p", "p", align="right", show=p_value, detail=not comparison.tested),
        Column("state", detail=True),
        Column("needed", detail=True),
    ]
    cells: list[tuple[Cell, ...]] = []
    last = ""
    for row in rows:
        title = row.group.capitalize()
        cells.append(
            (
                *(row.group, "" if title == last else title),
                f"{label_of[row.name]} {ARROWS[row.better]}".rstrip(),
                *(
                    None if value.mean is None else [value.mean, mark(value) or " "]
                    for value in row.values
                ),
                *(row.leader or None, row.ahead, row.last or None, row.behind, row.prompts),
                *(row.margin.value if row.margin else None, row_wins(row, heads), row.p),
                *(row.state.value, row.needed),
            )
        )
        last = title
    note = ", ".join(f"{head}: {name}" for name, head in heads.items() if letters)
    return Table("answer", f"By {comparison.by}", columns, cells, note)


def row_wins(row: MetricRow, heads: Mapping[str, str]) -> str:
    """On how many prompts the leader is best; of several models also who it is, or who is last, or
    which differences are significant."""
    if row.state is State.DESCRIBED:
        return ""
    two = sum(value.mean is not None for value in row.values) == 2
    pair = row.pairs[0]
    if two:
        return f"{pair.ahead:,}/{pair.prompts:,}"
    if row.state is State.SIGNIFICANT and not row.settled:
        return _orders(row, heads)
    if row.claim is Place.FIRST:
        return f"{heads[row.leader]} {row.ahead:,}/{row.prompts:,}"
    if row.claim is Place.LAST:
        return f"{heads[row.last]} last {row.behind:,}/{row.prompts:,}"
    return f"{heads[pair.better]} over {heads[pair.worse]}"


def _orders(row: MetricRow, heads: Mapping[str, str]) -> str:
    """Return the significant differences: ``A over C``."""
    over = grouped((pair.better, heads[pair.worse]) for pair in row.pairs if pair.significant)
    sides = grouped((", ".join(sorted(worse)), heads[better]) for better, worse in over.items())
    return "; ".join(f"{', '.join(better)} over {worse}" for worse, better in sides.items())


def mark(value: ModelValue) -> str:
    """Return the sign beside a mean; the notes below the table explain it."""
    return "*" if value.best else "°" if value.explained else ""


def _cell(cell: Any) -> str:
    return f"{number(cell[0])}{cell[1]}"


def _letter(place: int) -> str:
    return chr(ord("A") + place % 26) * (place // 26 + 1)


# One model.


def scores_screen(results: Results, pool: Pool = "worst") -> Screen:
    """Return the first screen of videos without rivals: the one that ranks worst most often."""
    results = results.pooled(pool)
    unread = not not_covered(results).prompts_read
    notes = (say("get_models"),) if unread else ()
    lines = tuple(_worst_lines(results, pool))
    return Screen(scores_headline(results, pool), lines, notes=notes)


def scores_headline(results: Results, pool: Pool = "worst") -> str:
    """Return the video that ranks worst most often, where one stands out."""
    ranking = worst_videos(results, pool)
    videos = plural(ranking.videos, "video")
    if not ranking.scored:
        return say("nothing_scored", videos=videos)
    item, worst_on = next(iter(ranking.worst.items()), ("", {}))
    if ranking.scored < 3 or len(worst_on) < 2:
        return say("scored", videos=videos, metrics=plural(ranking.metrics, "metric"))
    metrics = _of(len(worst_on), ranking.compared)
    return say("worst_video", video=shortened(item, 60), metrics=metrics)


def _worst_lines(results: Results, pool: Pool) -> Lines:
    label_of = labels(results)
    ranking = worst_videos(results, pool)
    yield from broken_lines(broken_videos(results), ranking.videos)
    for item, worst_on in list(ranking.worst.items())[:WORST] if ranking.videos > 2 else ():
        listed = [f"{label_of[name]} {number(value)}" for name, value in worst_on.items()]
        yield "worst", because(shortened(item, 60), names(listed, 3))
    covered = not_covered(results)
    if ranking.scored and (uncovered := not_covered_words(covered)):
        yield "not covered", uncovered
    if borders := borders_words(results):
        yield "borders", borders
