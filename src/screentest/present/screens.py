"""First screens: a headline of at most 100 characters, short labelled lines, a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from screentest._util.collect import grouped
from screentest._util.text import plural
from screentest.analysis.evidence import Evidence, evidence_of
from screentest.analysis.models.comparison import ModelComparison
from screentest.analysis.models.coverage import (
    BrokenVideo,
    NotCovered,
    PromptCoverage,
    UnreadVideo,
    bordered_videos,
    broken_videos,
    not_covered,
    unread_videos,
    worst_videos,
)
from screentest.analysis.models.rows import (
    Explained,
    Explanation,
    MetricRow,
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
from screentest.core.outcome import Reason, last_line
from screentest.core.table import Table
from screentest.present.tables import (
    WIDTH,
    comparison_table,
    missing_why,
    pool_note,
    scores_table,
    table_lines,
)
from screentest.present.text import (
    about,
    because,
    degradation_words,
    failure_words,
    label,
    labels,
    names,
    number,
    percent,
    phrase,
    row_labels,
    say,
    shortened,
    words,
)
from screentest.stats.signflip import LEVEL

SENSIBLE = 200
"""Prompts up to which a forecast is worth saying: what takes more is about as small as
re-encoding noise."""
LONGEST = 100
"""Characters of a headline."""
NAMED = 4
"""Metrics that a line names."""
WORST = 3
"""Videos of one model that have a line each."""
SIDES = 5
"""Models that are worse somewhere and have a line each."""
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
            first, *rest = wrap(text, WIDTH - wide - 4, break_on_hyphens=False) or [""]
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
        table = [] if self.table is None or not self.table.rows else ["", *table_lines(self.table)]
        table += self.table.note.split("\n") if table and self.table and self.table.note else []
        return "\n".join([self.text, *table, *self.notes])


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
    if 4 * len(equal) >= 3 * len(tested) and not any(row.leaning for row in tested):
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
        others = names((label_of[row.name] for row in open_rows), len(open_rows))
        if len(open_rows) > NAMED:
            others = plural(len(open_rows), "other metric" if undecided else "metric")
        yield "undecided", f"{others}: no clear leader"
    if equal:
        alike = names((label_of[row.name] for row in equal), 2 * NAMED)
        if len(equal) > NAMED and (comparison.having(State.SIGNIFICANT) or undecided):
            alike = plural(len(equal), "metric")
        yield "equal", because(alike, "within re-encoding noise")
    yield from _explained(comparison, label_of)
    described = comparison.having(State.DESCRIBED)
    if described and comparison.tested:
        yield (
            "not ranked",
            because(plural(len(described), "metric"), "neither more nor less is better"),
        )
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
    """Yield the metrics in which the winner is better than all others, and those in which any other
    is worse than some; of two models where each is better."""
    rows, worse = comparison.rows, dict[str, list[str]]()
    if len(comparison.models) == 2:
        for model in comparison.models:
            if won := [label_of[row.name] for row in rows if row.over(model)]:
                who = "" if comparison.winner else f"{model}: "
                yield "better", f"{who}{names(won, 2 * NAMED)}"
        return
    won = [label_of[row.name] for row in rows if len(row.over(comparison.winner)) == row.rivals]
    if won:
        yield "better", f"{comparison.winner} than all others: {names(won, NAMED)}"
    for row in rows:
        for model in comparison.models:
            if row.under(model):
                worse.setdefault(model, []).append(label_of[row.name])
    ranked = sorted(worse, key=lambda model: -len(worse[model]))
    for model in ranked[:SIDES]:
        yield "worse", f"{model}: {names(worse[model], NAMED)}"
    if ranked[SIDES:]:
        yield "worse", because(names(ranked[SIDES:], NAMED), "fewer metrics each")


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
    explained: dict[tuple[str, str], dict[str, None]] = {}
    unclear: dict[tuple[str, str], dict[str, None]] = {}
    for row in comparison.rows:
        for pair in row.pairs:
            explanation = pair.explanation
            shown = pair.significant or (row.leaning and pair in row.claimed)
            if explanation is None or not shown:
                continue
            if explanation.kind is Explained.ARTEFACT:
                why = artefact_words(explanation, label_of, ahead=pair.better)
                explained.setdefault((pair.better, why), {})[label_of[row.name]] = None
            else:
                other = pair.worse if explanation.model == pair.better else pair.better
                unclear.setdefault((explanation.model, label_of[row.name]), {})[other] = None
    for (leader, why), gains in list(explained.items())[:SIDES]:
        yield "discounted", f"{leader} ahead: {because(names(gains, NAMED), why)}"
    alike = grouped(((model, tuple(others)), name) for (model, name), others in unclear.items())
    for (model, others), metrics in alike.items():
        why = say("unclear", model=model, other=names(others, 2, last=" or "))
        yield "unclear", because(names(metrics, NAMED), why)


def artefact_words(explanation: Explanation, label_of: Mapping[str, str], ahead: str = "") -> str:
    """Return the artefact that explains a lead, and the model that has it."""
    value = explanation.value
    word = words("artefacts").get(value) or label_of.get(value) or label(value)
    why = f"due to its {word}" if explanation.model == ahead else f"{word} in {explanation.model}"
    tests = names(map(degradation_words, explanation.tests), 2)
    return phrase("known_to_prefer", why=why, tests=tests) if tests else why


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
    lost = {metric.name for metric in comparison.missing if metric.inapplicable}
    for name, why in comparison.not_compared.items():
        if name in lost:
            continue
        reasons.setdefault(why_words(why), []).append(label_of.get(name) or label(name))
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


def get_models(covered: NotCovered) -> bool:
    """Return True where other models would read the prompts."""
    return not covered.prompts_read or covered.prompts is PromptCoverage.HEURISTIC


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
    alike: dict[tuple[str, str, str], list[str]] = {}
    for metric in comparison.missing:
        lacks = metric.missing
        lost = sum(lack.videos for lack in lacks.values())
        total = sum(lack.of_videos for lack in lacks.values())
        each = (f"{model} {lack.videos:,}" for model, lack in lacks.items() if lack.videos)
        why = missing_why(metric)
        kind, count = "no value", ""
        if lost < total:
            kind, count = "missing", f"{lost:,} of {plural(total, 'video')}"
            why = why if metric.inapplicable else "; ".join(filter(None, [", ".join(each), why]))
        name = label_of.get(metric.name) or label(metric.name)
        alike.setdefault((kind, count, why), []).append(name)
    yield from _gaps(list(alike.items()))


def _gaps(alike: Sequence[tuple[tuple[str, str, str], Sequence[str]]]) -> Lines:
    """Yield metrics without values, by label, count and reason; the rest is counted."""
    most = WORST if len(alike) > WORST + 1 else WORST + 1
    for (kind, count, why), listed in alike[:most]:
        what = names(listed, WORST)
        yield kind, because(f"{what}: {count}" if count else what, why)
    if rest := sum(len(listed) for _, listed in alike[most:]):
        yield "missing", f"values of {plural(rest, 'more metric')}"


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
    count = f"{len(unread):,} of {plural(videos, 'video')}"
    return count if reasons.keys() == {Reason.UNDECODABLE.value} else because(count, listed)


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
    why = f"the file {rest}" if quoted else detail or unread.reason.replace("_", " ")
    inside = path.absolute().is_relative_to(Path.cwd())
    return str(path.absolute().relative_to(Path.cwd()) if inside else path), why


def _notes(comparison: ModelComparison) -> Iterator[str]:
    values = [value for row in comparison.rows for value in row.values]
    yield from sees_note([row.evidence for row in comparison.rows if row.shows])
    if any(row.shows and row.p is not None for row in comparison.rows):
        yield say("star")
    if any(value.explained for value in values):
        yield say("circle")
    rows = tuple(row for row in comparison.rows if row.shows)
    if rows and comparison.part is not Part.WHOLE:
        yield say("counted", part=words("parts")[comparison.part])
    bare = [label(row.name, row.info, row.stand_ins) for row in rows if row.margin is None]
    if bare:
        yield say("no_margin", metrics=names(bare, NAMED))
    own = [row.margin.films for row in rows if row.margin is not None and row.margin.own]
    if own:
        yield say("own_margins", count=max(own))
    if get_models(comparison.not_covered):
        yield say("get_models")


def sees_note(known: Sequence[Evidence | None]) -> Iterator[str]:
    """Yield what the column of evidence means, where anything is known."""
    films = [each.films for each in known if each is not None and each.operators]
    if films:
        yield say("sees", films=max(films))


# One model.


def scores_screen(results: Results, pool: Pool = "worst") -> Screen:
    """Return the first screen of videos without rivals: the one that ranks worst most often."""
    results = results.pooled(pool)
    known = evidence_of(results)
    notes = [pool_note(results, pool), say("get_models") * get_models(not_covered(results))]
    notes = [*sees_note(list(known.values())), *filter(None, notes)]
    headline, lines = scores_headline(results, pool), tuple(_worst_lines(results, pool))
    return Screen(headline, lines, scores_table(results, pool, known), tuple(notes))


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
    yield from _missing_values(results, label_of)
    if unread := unread_videos(results):
        yield "unreadable", unread_words(unread, ranking.videos)
    if borders := borders_words(results):
        yield "borders", borders


def _missing_values(results: Results, label_of: Mapping[str, str]) -> Lines:
    """Yield the metrics that lack values of videos that can be read, by the most common reason."""
    results = results.without({video.item for video in unread_videos(results)})
    alike: dict[tuple[str, str, str], list[str]] = {}
    for total in results.totals():
        failures = [value.outcome.failure for value in results.of(total.name)]
        reasons = Counter(failure_words(failure) for failure in failures if failure is not None)
        if reasons:
            lost = sum(reasons.values())
            some = f"{lost:,} of {plural(total.total, 'video')}" if total.scored else ""
            key = ("missing" if some else "no value", some, next(iter(reasons.most_common()))[0])
            alike.setdefault(key, []).append(label_of[total.name])
    yield from _gaps(sorted(alike.items(), key=lambda entry: (bool(entry[0][1]), -len(entry[1]))))
