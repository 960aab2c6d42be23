"""Certificates in words: the first screen, the details below it, judges by degradations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from screentest._util.collect import grouped
from screentest._util.text import plural
from screentest.analysis.judges.certificate import (
    Accuracy,
    Certificate,
    Cost,
    OperatorResult,
    PlaceboBias,
    PlaceboKind,
    PlaceboResult,
    Remark,
    RemarkKind,
)
from screentest.analysis.judges.frames import InFrames
from screentest.analysis.judges.matrix import PLACEBO, Matrix, MatrixCell
from screentest.analysis.people.agreement import Share
from screentest.analysis.people.raters import PeopleResult
from screentest.core import Aspect, Outcome
from screentest.core.aspects import PEOPLE
from screentest.core.table import Cell, Column, Table
from screentest.judges.cases import ELSEWHERE, HINTED
from screentest.judges.spread import PlaceboSpread
from screentest.present.screens import LONGEST, Screen
from screentest.present.text import because, names, percent, say, shortened, words
from screentest.stats import Claim, Finding
from screentest.stats.claims import WhyUnsettled
from screentest.stats.trend import DoseResponse

MARKS = {Claim[name.upper()]: sign for name, sign in words("claims").items()}
LEGEND = ", ".join(f"{mark} {claim.value}" for claim, mark in MARKS.items())
_THRESHOLD = 0.75
_MOST_ANSWERED = 0.9
"""Of questions that were asked: below that share the number of answers is shown."""
_NAMES = 4
"""Names in a line of the first screen; the rest is counted."""
_LETTERS = 4
"""Of a column's name on the terminal; more where two would be the same."""
LineKind: TypeAlias = Literal["sees", "prefers", "chance", "unknown", "fails", "fair"]


@dataclass(frozen=True, slots=True)
class Line:
    """A labelled line of the first screen."""

    label: str
    words: str
    kind: LineKind


def listed(given: Sequence[str], most: int | None = None) -> str:
    """Names one after the other; those with a comma or a semicolon of their own are quoted.

    >>> listed(["half the resolution", "red, not blue"])
    'half the resolution, “red, not blue”'
    >>> listed(["blur", "noise", "banding"], 1)
    'blur and 2 more'
    """
    quoted = [f"“{name}”" if "," in name or ";" in name else name for name in given]
    return names(quoted, most or len(quoted))


# The first screen.


def headline(certificate: Certificate) -> str:
    """One line of at most 100 characters."""
    claims, unit = certificate.claims, _unit(certificate)
    things = "aspect" if certificate.people or claims.tested <= claims.aspects else "degradation"
    films = plural(max((part.finding.films for part in certificate.aspects), default=0), unit)
    orders = "both orders" if certificate.order.ok else "one order"
    # Of the claims of a matrix that is explored: those that hold with every error ruled out.
    strict = sum(each.finding.strict for each in claims.sees)
    sure = "p < 0.05 after Holm" if strict == len(claims.sees) else f"{strict} of them after Holm"
    basis = [films, *([orders] if not certificate.people else []), sure]
    name = "certificate"
    if not claims.tested:
        failure = certificate.overall.failure
        name = "certificate_untested"
        basis = [failure.reason.value.replace("_", " ") if failure is not None else "no pairs"]
    elif not claims.decided:
        more = [each.finding.more for each in claims.unsettled if each.finding.more]
        name = "certificate_open"
        basis = [films, *([f"{_up_to(more)} more needed"] if more else [])]

    def made(judge: str) -> str:
        verb = "agrees with people on" if certificate.people else "sees"
        tested = plural(claims.tested, things)
        return say(
            name,
            judge=judge,
            verb=verb,
            seen=len(claims.sees),
            tested=tested,
            basis=", ".join(basis),
        )

    return made(shortened(certificate.title, LONGEST - len(made(""))))


def headline_of_all(certificates: Sequence[Certificate]) -> str:
    """One line for several judges; that of the judge where there is one."""
    if len(certificates) == 1:
        return headline(certificates[0])
    claims = [certificate.claims for certificate in certificates]
    films = max(
        (part.finding.films for certificate in certificates for part in certificate.aspects),
        default=0,
    )
    basis = [plural(films, _unit(certificates[0]))]
    if undecided := [claim for claim in claims if not claim.decided]:
        basis.append(f"inconclusive: {len(undecided)}")
        more = [each.finding.more for one in undecided for each in one.unsettled]
        if needed := [count for count in more if count]:
            basis.append(f"{_up_to(needed)} more needed")
    return say(
        "certificates",
        verb="agree with people" if certificates[0].people else "see a degradation",
        seen=sum(bool(claim.sees) for claim in claims),
        tested=len(certificates),
        basis=", ".join(basis),
    )


def claim_lines(certificate: Certificate) -> list[Line]:
    """Return the labelled lines below the headline, without those that have nothing to show."""
    claims = certificate.claims
    whole = {part.aspect for part in claims.families}
    seen = [
        f"{part.aspect.title} ({len([each for each in claims.sees if each.aspect is part.aspect])}"
        f" of {len([each for each in certificate.operators if each.aspect is part.aspect])}"
        " degradations)"
        for part in claims.families
    ]
    seen += [_named(each) for each in claims.sees if each.aspect not in whole]
    few = sum(shown.few for shown in certificate.frames.values())
    lines = [
        Line("agrees" if certificate.people else "sees", listed(seen), "sees"),
        Line(
            "disagrees" if certificate.people else "fooled by",
            listed(list(map(_named, claims.fooled))),
            "prefers",
        ),
        Line("chance", listed(list(map(_named, claims.chance))), "chance"),
        Line("undecided", _open(claims.unsettled), "unknown"),
        _placebo_line(certificate),
        Line("frames", say("few_clips", pairs=plural(few, "pair")) if few else "", "unknown"),
        *(
            Line("not tested", f"{names} ({why})", "prefers")
            for names, why in failed_aspects(certificate).items()
        ),
    ]
    if any(person.raters == 1 for person in certificate.people):
        lines.append(Line("votes", "all by one person", "unknown"))
    return [line for line in lines if line.words]


def certificate_screen(certificate: Certificate, table: Table | None = None) -> Screen:
    """Return the first screen: the headline, the labelled lines, the table."""
    lines = tuple((line.label, line.words) for line in claim_lines(certificate))
    return Screen(headline(certificate), lines, table if certificate.overall.ok else None)


def failed_aspects(certificate: Certificate) -> dict[str, str]:
    """Aspects without any answer, by reason: names to reason."""
    failed = [part for part in certificate.aspects if part.accuracy.failure is not None]
    reasons = grouped((why_not(part.accuracy), part.aspect.title) for part in failed)
    return {listed(names, _NAMES): why for why, names in reasons.items()}


def why_not(outcome: Outcome[Accuracy]) -> str:
    """Return the reason for a missing accuracy."""
    failure = outcome.failure
    assert failure is not None
    return f"{failure.reason.value.replace('_', ' ')}: {failure.detail}".rstrip(": ")


def claim_words(finding: Finding) -> str:
    """Return a claim with its bound, or with why there is none."""
    if not finding.films:  # not even one answer: no number of films would help
        return "not tested"
    if finding.claim is Claim.UNDECIDED:
        return f"{finding.claim.value}: {_why_open(finding)}"
    return ": ".join(filter(None, [finding.claim.value, _bound(finding)]))


def bias_words(bias: PlaceboBias) -> str:
    """Return a bias on a placebo."""
    name = bias.name.removesuffix(ELSEWHERE).replace("_", " ")
    toward_original, away = words("biases")[bias.kind]
    text = (toward_original if bias.toward_original else away).format(name=name)
    unit = "prompt" if bias.kind is PlaceboKind.OTHER_VIDEO else "film"
    maybe = "" if bias.certain else "possibly "
    return f"{maybe}{text} ({percent(bias.share, 1)} of {plural(bias.films, unit)})"


def _unit(certificate: Certificate) -> str:
    return certificate.aspects[0].finding.unit if certificate.aspects else "film"


def _named(result: OperatorResult) -> str:
    """Return an operator, with its bound where it is chance, and its answers where they are not
    most."""
    accuracy, notes = result.accuracy.value, [_bound(result.finding)]
    if accuracy is not None and accuracy.coverage < _MOST_ANSWERED:
        notes.append(f"on {accuracy.judgements:,} of {accuracy.total:,}")
    words = ", ".join(filter(None, notes))
    return f"{result.label} ({words})" if words else result.label


def _bound(finding: Finding) -> str:
    return "" if finding.at_most is None else f"at most {math.ceil(100 * finding.at_most)}%"


def _open(results: Sequence[OperatorResult]) -> str:
    """Operators without a claim, by reason."""
    names: dict[str, list[str]] = {}
    few = [each for each in results if _is_few(each.finding)]
    for each in results:
        why = _more([item.finding for item in few]) if each in few else _why_open(each.finding)
        names.setdefault(why, []).append(each.label)
    return "; ".join(f"{listed(group, _NAMES)} ({why})" for why, group in names.items())


def _is_few(finding: Finding) -> bool:
    return finding.unsettled is None or finding.unsettled.reason is WhyUnsettled.TOO_FEW_FILMS


def _why_open(finding: Finding) -> str:
    unsettled, unit = finding.unsettled, finding.unit
    if unsettled is None or _is_few(finding):
        return _more([finding])
    noun = "placebo" if unit == "film" else "control"
    bar = f"{noun} {', '.join(unsettled.kinds)}" if unsettled.kinds else f"its {noun}s"
    if unsettled.reason is WhyUnsettled.LIKE_PLACEBO:
        shares = (f"{100 * (share or 0):.0f}%" for share in (unsettled.points, unsettled.placebo))
        text = f"not distinguished from {bar} ({' against '.join(shares)})"
        return f"{text}; {_more([finding])}" if finding.more else text
    text = str(words("unsettled")[unsettled.reason])
    return text.format(bar=bar, count=unsettled.count, films=plural(finding.films, unit))


def _more(findings: Sequence[Finding]) -> str:
    more = [each.more for each in findings if each.more]
    return f"{_up_to(more)} more {findings[0].unit}s needed" if more else "undecided"


def _up_to(counts: Sequence[int]) -> str:
    return f"{'up to ' if min(counts) < max(counts) else ''}{max(counts):,}"


def _placebo_line(certificate: Certificate) -> Line:
    placebos = certificate.placebos
    biases = [bias for each in placebos if (bias := each.bias) is not None]
    if biases:
        return Line("placebos", "; ".join(map(bias_words, biases)), "fails")
    if not placebos:
        judged = certificate.overall.ok and not certificate.people
        return Line("placebos", "none judged" if judged else "", "unknown")
    edits = because("harmless edits", listed([placebo.name for placebo in placebos], _NAMES))
    if not any(placebo.false_alarms.ok for placebo in placebos):
        return Line("placebos", f"no answer on {edits}", "unknown")
    if all(each.finding and each.finding.claim is not Claim.UNDECIDED for each in placebos):
        return Line("placebos", f"no bias on {edits}", "fair")
    return Line("placebos", f"{edits} may bias it: too few films to tell", "unknown")


# The details.


def details(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """Everything else that was measured, each with its label."""
    for remark in certificate.remarks:
        yield "Note", _remark(remark, _unit(certificate))
    if certificate.people:
        for person in certificate.people:
            yield from _people(person)
    else:
        yield from _on_testbeds(certificate)
    if certificate.cost.seconds or not certificate.people:
        yield "Cost", cost_words(certificate.cost)


def _on_testbeds(certificate: Certificate) -> Iterator[tuple[str, str]]:
    spreads = {item.aspect: item.margin for item in certificate.aspects if item.margin is not None}
    if spreads and _unit(certificate) == "film":
        yield "Ties", margin_words(spreads)
    mean = certificate.mean_over_aspects
    if mean is not None:
        yield "Mean over aspects", f"{percent(mean, 1)} (chance {percent(certificate.chance)})"
    for name, accuracy in certificate.by_testbed.items():
        yield f"On {name}", _right(accuracy)
    order = certificate.order.value
    if order is not None:
        yield (
            "Order",
            f"{percent(order.consistent_share, 1)} of pairs alike in both orders; "
            f"{percent(order.first_share, 1)} of answers for the first video",
        )
    for aspect, shown in certificate.frames.items():
        yield f"Frames shown, {aspect.value}", frames_words(shown)
    duration, failure = certificate.duration.value, certificate.duration.failure
    if failure is not None:
        yield "Duration", failure.detail or failure.reason.value
    if duration is not None:
        words = f"ρ = {duration.value:.3f} (p = {duration.p_value:.3f}, n = {duration.n} films)"
        yield "Duration", words
    # With few durations the bins are of a few films, and their ρ is that of chance.
    bins = certificate.trend.value
    if bins is not None and duration is not None:
        words = f"ρ = {bins.correlation.value:.3f} over {len(bins.bins)} bins of pairs"
        yield "Bins of the paper", f"{words} (p assumes independent pairs)"
    kept = certificate.filtered
    if kept is not None:
        yield "Kept by people", f"{kept.kept:,} of {kept.pairs:,} pairs, {_right(kept.overall)}"
    yield from _doses("Severity", certificate.severities)
    yield from _doses("Clips", certificate.clip_counts, whole=True)
    for placebo in certificate.placebos:
        yield f"Placebo {placebo.name}", placebo_words(placebo)
    for prompt in certificate.prompts:
        label = "Aspect" if prompt.change == HINTED else "Prompt"
        expected = "should" if prompt.should_matter else "should not"
        yield (
            f"{label} {prompt.change}, {prompt.aspect.value}",
            f"{100 * prompt.changed_share:.0f}% of answers change ({expected});"
            f" {_right(prompt.accuracy)}; before: {_right(prompt.plain)}",
        )


def margin_words(spreads: Mapping[Aspect, PlaceboSpread]) -> str:
    """Return the differences that are ties.

    >>> margin_words({Aspect.COLOR: PlaceboSpread(0.25, 4)})
    'differences up to 0.25, by harmless edits of 4 films'
    """
    groups = grouped((spread, aspect.title) for aspect, spread in spreads.items())
    words = []
    for spread, aspects in groups.items():
        by = f", by harmless edits of {plural(spread.films, 'film')}" if spread.films else ""
        text = f"differences up to {spread.value:.3g}{by}" if spread.value else "equal ratings only"
        words.append(text if len(groups) == 1 else f"{', '.join(aspects)}: {text}")
    return "; ".join(words)


def frames_words(shown: InFrames) -> str:
    """Pairs whose degradation was in the frames that the judge was shown."""
    words = f"degradation shown in {shown.seen:,} of {shown.pairs:,} pairs"
    if shown.interval is not None:
        right = f"{percent(shown.points / shown.judgements, 1)} of {shown.judgements:,}"
        words += f"; right in {right} of these [{shown.interval.percents}]"
    words += f"; {shown.same:,} showed identical frames" if shown.same else ""
    few = say("few_clips", pairs=plural(shown.few, "pair"))
    return f"{words}; {few}" if shown.few else words


def _doses(
    label: str, responses: Mapping[str, DoseResponse], *, whole: bool = False
) -> Iterator[tuple[str, str]]:
    """``whole``: there is nothing between two steps, as there is no half a clip."""
    for aspect, dose in responses.items():
        steps = ", ".join(f"{item.severity:g}: {100 * item.accuracy:.0f}%" for item in dose.doses)
        passes = dose.threshold.value
        reached = dose.doses[-1].fitted >= _THRESHOLD
        words = "75% from the first step on" if reached else "75% not reached"
        if passes is not None:
            at = f"from {math.ceil(passes - 1e-9)} on" if whole else f"at {passes:.2g}"
            words = f"75% {at}"
        falls = "" if dose.monotone else f"; falls by {100 * dose.worst_fall:.0f} in between"
        yield f"{label}, {aspect}", f"{steps}; {words}{falls}"


def placebo_words(placebo: PlaceboResult) -> str:
    """Return the share of answers on a placebo; a fair judge has 50."""
    accuracy = placebo.false_alarms.value
    if accuracy is None:
        return str(placebo.false_alarms.failure)
    share, label = accuracy.value, "untouched copy preferred"
    if placebo.kind is PlaceboKind.INSTRUCTION:
        share, label = 1 - share, "painted instruction preferred"
    elif placebo.kind is PlaceboKind.OTHER_VIDEO:
        label = "true prompt preferred beside another video"
    return f"{label} {percent(share, 1)} (fair: 50), ties {100 * placebo.tie_share:.0f}%"


def cost_words(cost: Cost) -> str:
    """Per judgement and in all, with what the sums lack."""
    count = max(1, cost.judgements)
    words = f"{cost.seconds:.2f} s per judgement"
    if cost.calls:
        words += (
            f", {cost.calls / count:.2f} calls, {cost.tokens_in / count:,.0f} tokens in, "
            f"{cost.tokens_out / count:,.0f} out; {cost.calls:,} calls in all"
        )
    if cost.uncounted:
        words += f" ({cost.uncounted:,} of unknown tokens)"
    if cost.cost is not None:
        words += f", cost {cost.cost.normalize():f}"
        words += f" without {cost.unpriced:,} calls of unknown price" if cost.unpriced else ""
    if cost.measured_with:
        words += f"; seconds shared with {', '.join(cost.measured_with)}"
    return words


def _right(outcome: Outcome[Accuracy]) -> str:
    accuracy = outcome.value
    if accuracy is None:
        return str(outcome.failure)
    return f"right {percent(accuracy.value, 1)} of {accuracy.judgements:,}"


def _remark(remark: Remark, unit: str) -> str:
    names = f": {listed(remark.names)}" if remark.names else ""
    if remark.kind is RemarkKind.SAME_FILM:
        return f"{remark.count:,} sources are {plural(remark.of, unit)}; each counts once"
    many = f"{remark.count:,} of {remark.of:,}" if remark.of else f"{remark.count:,}"
    return f"{many} {words('remarks')[remark.kind]}{names}"


def _people(result: PeopleResult) -> Iterator[tuple[str, str]]:
    """One aspect that people were asked about, beside the share of right answers."""
    title, ceiling = result.aspect.title, result.ceiling
    if ceiling is None:
        why = "one person voted" if result.raters == 1 else "no pair has two raters"
        yield f"Ceiling, {title}", f"unknown ({why if result.decided else 'all pairs are ties'})"
    else:
        yield (
            f"Ceiling, {title}",
            _parts(
                (f"one of {ceiling.raters} raters agrees with the others on", ceiling.accuracy),
                ("without ties", ceiling.when_decided),
                ("this judge instead", ceiling.in_place),
            ),
        )
    if result.by_model is not None:
        within = result.within_models
        yield (
            f"Models, {title}",
            _parts(
                (f"model names alone: {percent(result.by_model, 1)} right,", "in hindsight"),
                (f"within models, {within.n if within else 0:,} pairs:", within),
            ),
        )
    if result.tied:
        yield (
            f"Ties, {title}",
            _parts(
                (f"people tie on {result.tied:,} of", f"{result.decided + result.tied:,} pairs"),
                ("right with ties", result.with_ties),
                ("τ-b within prompts", result.tau_b),
            ),
        )
    if result.spearman is not None and result.kendall is not None:
        words = f"ρ {result.spearman}, τ-b {result.kendall} over {result.spearman.n:,} videos"
        yield f"Marks, {title}", words
    if ceiling is not None and ceiling.rank is not None:
        alphas = [
            item for item in (ceiling.alpha, ceiling.alpha_without_offsets) if item is not None
        ]
        yield (
            f"Raters, {title}",
            _parts(
                ("one rater with the others ρ", ceiling.rank),
                ("this judge instead", ceiling.rank_in_place),
                (
                    "Krippendorff's α",
                    " and centred ".join(f"{alpha:.2f}" for alpha in alphas) or None,
                ),
            ),
        )


def _parts(*parts: tuple[str, object]) -> str:
    """Labels with their values, without those that have none."""
    return "; ".join(
        f"{label} {_share(value) if isinstance(value, Share) else value}"
        for label, value in parts
        if value is not None
    )


def _share(share: Share) -> str:
    return f"{percent(share.value, 1)} [{share.interval.percents}]"


# Judges by degradations.


def cell_words(cell: MatrixCell) -> str:
    """Return a cell: per cent, with the sign of the claim."""
    mark = MARKS[cell.claim] if cell.claim is not None else ""
    return f"{100 * cell.share:.0f}{mark}"


def matrix_table(matrix: Matrix) -> Table:
    """Per cent in short columns, each with the sign of its claim."""
    titles = short_titles(matrix.columns)
    columns = [Column("judge"), *(Column(name, titles[name], align="right") for name in titles)]
    rows: list[list[Cell]] = [
        [judge, *(cell_words(row[name]) if name in row else "–" for name in matrix.columns)]
        for judge, row in matrix.rows.items()
    ]
    rows.append(["pairs", *(matrix.pairs[name] for name in matrix.columns)])
    people = all(name.startswith(PEOPLE) for name in matrix.columns)
    which = "the video preferred by people" if people else "the original"
    note = f"% of pairs in which {which} wins; {LEGEND}. {legend(titles)}".strip()
    return Table("matrix", "Judges by degradations", columns, rows, note)


def legend(titles: Mapping[str, str]) -> str:
    """Return what short names stand for."""
    return "; ".join(
        f"{short}: {name.replace('_', ' ')}" for name, short in titles.items() if short != name
    )


def short_titles(columns: Sequence[str]) -> dict[str, str]:
    """Short names that differ.

    >>> short_titles(["color", "comprehensiveness", "color/hue"])
    {'color': 'colo', 'comprehensiveness': 'comp', 'color/hue': 'hue'}
    """
    titles: dict[str, str] = {}
    for column in columns:
        name = column.rpartition("/")[2].removeprefix(PLACEBO)
        length = min(_LETTERS, len(name))
        while name[:length] in titles.values() and length < len(name):
            length += 1
        titles[column] = name[:length] if name[:length] not in titles.values() else column
    return titles
