"""The page: one file that opens from disk with no network, and runs nothing but its own script."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import quote

import screentest
from screentest.certify.certificate import Certificate
from screentest.core import Point, Progress, Time
from screentest.report.charts import Chart, certificate_chart, radar_chart, share, summary_chart
from screentest.report.data import Report
from screentest.report.leaderboard import Line, leaderboard
from screentest.report.tables import shown, tables
from screentest.report.thumbnails import Wanted, thumbnails, worst
from screentest.video.atomic import atomic_output

ASSETS = Path(__file__).parent / "assets"
MOST_POINTS = 240
"""Of one curve; a longer one keeps the worst point of each stretch."""
WORST = 4


@dataclass(frozen=True, slots=True)
class PageOptions:
    """What the page holds besides numbers."""

    title: str = "screentest report"
    thumbnails: int = 200
    """For how many videos the worst moments are shown in pictures; the lowest first."""
    embed: bool = False
    """Put the videos themselves into the page; it grows by their size."""


def write_html(
    report: Report,
    out: Path,
    options: PageOptions | None = None,
    *,
    progress: Progress | None = None,
) -> None:
    """Write the page, whole or not at all."""
    options = options or PageOptions()
    style = (ASSETS / "report.css").read_text(encoding="utf-8")
    script = (ASSETS / "report.js").read_text(encoding="utf-8")
    data = json.dumps(
        page_data(report, out.absolute().parent, options, progress),
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
    )
    page = (
        _environment()
        .get_template("report.html.jinja")
        .render(
            title=options.title,
            version=screentest.__version__,
            policy=_policy(style, script),
            style=style,
            script=script,
            # Nothing in the data can end the element it lies in.
            data=data.replace("<", "\\u003c").replace("\u2028", "\\u2028"),
            report=report,
            totals=_totals(report),
            lines=_systems(report),
            systems=report.systems,
            charts=[_picture(chart) for chart in _charts(report)],
            cards=[_card(one) for one in report.certificates],
            tables=[table for table in tables(report) if table.name in ("signatures", "runs")],
            shown=shown,
        )
    )
    with atomic_output(out) as file:
        file.write(page.encode("utf-8", "backslashreplace"))


def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(loader=FileSystemLoader(ASSETS), autoescape=True, undefined=StrictUndefined)


def _policy(style: str, script: str) -> str:
    """Only this style and this script; pictures and videos from the page and its folder."""

    def of(text: str) -> str:
        digest = hashlib.sha256(text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"

    return (
        f"default-src 'none'; script-src {of(script)}; style-src {of(style)}; "
        "img-src data:; media-src 'self' file: data:; base-uri 'none'; form-action 'none'"
    )


def page_data(
    report: Report, folder: Path, options: PageOptions, progress: Progress | None
) -> dict[str, Any]:
    """What the script shows on demand: every video with its curves, and every verdict."""
    by_item: dict[str, list[Any]] = {item: [] for item in report.results.items}
    for value in report.results.values:
        by_item.setdefault(value.item, []).append(value)
    lowest = sorted(by_item, key=lambda item: _badness(report, by_item[item]))
    wanted = {
        item: Wanted(report.results.items[item].video, tuple(_moments(report, by_item[item])))
        for item in lowest[: options.thumbnails]
        if item in report.results.items and _moments(report, by_item[item])
    }
    pictures = thumbnails(wanted, progress)
    items = []
    for item, values in by_item.items():
        known = report.results.items.get(item)
        video = known.video if known else None
        items.append(
            {
                "id": item,
                "prompt": known.text if known else "",
                "groups": dict(known.groups) if known else {},
                "video": _address(video, folder, embed=options.embed) if video else "",
                "values": [_value(report, one) for one in values],
                "worst": [
                    {"t": float(moment), "src": src}
                    for (owner, moment), src in pictures.items()
                    if owner == item
                ],
            }
        )
    return {
        "items": items,
        "verdicts": [_verdict(one) for one in report.judged],
        "names": report.results.names,
    }


def _value(report: Report, value: Any) -> dict[str, Any]:
    info = report.results.outputs[value.name]
    score = value.outcome.value
    told: dict[str, Any] = {"name": value.name, "unit": info.unit, "up": info.higher_is_better}
    if score is None:
        failure = value.outcome.failure
        lines = failure.detail.strip().splitlines()
        return told | {
            "failed": failure.reason.value,
            "why": lines[-1] if lines else "",
            "advice": failure.advice,
        }
    curve = _thinned(score.curve, higher=info.higher_is_better)
    return told | {
        "value": score.value,
        "curve": [
            [round(float(p.span.start), 3), round(float(p.span.end), 3), _short(p.value), p.note]
            for p in curve
        ],
    }


def _short(value: float) -> float:
    return float(f"{value:.5g}")


def _thinned(curve: tuple[Point, ...], *, higher: bool) -> list[Point]:
    """At most so many points; of each stretch the worst one stays."""
    if len(curve) <= MOST_POINTS:
        return list(curve)
    step = len(curve) / MOST_POINTS
    kept = []
    for number in range(MOST_POINTS):
        part = curve[int(number * step) : max(int((number + 1) * step), int(number * step) + 1)]
        kept.append(min(part, key=lambda p: p.value if higher else -p.value))
    return kept


def _moments(report: Report, values: list[Any]) -> list[Time]:
    """The middles of the worst points over all curves, each curve on its own scale."""
    points: list[tuple[Time, float]] = []
    for value in values:
        score = value.outcome.value
        if score is None or len(score.curve) < 2:
            continue
        higher = report.results.outputs[value.name].higher_is_better
        numbers = [point.value for point in score.curve]
        spread = max(numbers) - min(numbers)
        if spread <= 0:
            continue
        for point in score.curve:
            place = (point.value - min(numbers)) / spread
            points.append((Fraction(point.span.centre), place if higher else 1 - place))
    found: dict[Time, float] = {}
    for moment, place in points:
        found[moment] = found.get(moment, 0.0) + place - 1
    return worst(list(found.items()), WORST)


def _badness(report: Report, values: list[Any]) -> float:
    """How far down a video stands over all values with a range; the lowest come first."""
    shares = []
    for value in values:
        info = report.results.outputs[value.name]
        if value.outcome.value is not None and _finite(info.low, info.high):
            given = (info.low, info.high, info.higher_is_better)
            shares.append(share(value.outcome.value.value, given) or 0.0)
    return sum(shares) / len(shares) if shares else 1.0


def _finite(low: float, high: float) -> bool:
    return math.isfinite(low) and math.isfinite(high) and high > low


_PLAYABLE: Mapping[str, str] = {
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".webm": "video/webm",
    ".mov": "video/mp4",
}


def _address(video: Path, folder: Path, *, embed: bool) -> str:
    """Where the page finds a video: inside itself, or beside it; empty where it cannot play."""
    kind = _PLAYABLE.get(video.suffix.lower())
    if kind is None or not video.is_file():
        return ""
    if embed:
        return f"data:{kind};base64,{base64.b64encode(video.read_bytes()).decode()}"
    try:
        relative = os.path.relpath(video, folder)
    except ValueError:  # another drive
        return ""
    return quote(Path(relative).as_posix())


def _verdict(one: Any) -> dict[str, Any]:
    told: dict[str, Any] = {
        "judge": one.judge,
        "item": one.item,
        "aspect": one.aspect,
        "order": one.order,
    }
    if one.outcome.value is None:
        return told | {"failed": str(one.outcome.failure).splitlines()[0]}
    verdict = one.outcome.value
    intact = verdict.choice if one.order == "first_second" else verdict.choice.flipped
    right = {"first": 1, "second": 0, "tie": 0.5}[intact.value]
    return told | {"points": right, "why": verdict.rationale, "kind": one.case.get("kind", "")}


def _totals(report: Report) -> list[dict[str, Any]]:
    rows = []
    for total in report.totals:
        summary = total.summary
        certificate = report.certificate_of(total.name)
        rows.append(
            {
                "name": total.name,
                "summary": total.info.summary,
                "mean": shown(summary.value) if summary else "–",
                "margin": _margin(summary) if summary and summary.scored > 1 else "",
                "better": "higher" if total.info.higher_is_better else "lower",
                "scored": total.scored,
                "total": total.total,
                "coverage": total.scored / total.total if total.total else 0.0,
                "failures": [f"{r.value} {n}" for r, n in total.failures.items()],
                "trust": _trust(certificate),
            }
        )
    return rows


def _margin(summary: Any) -> str:
    return "± " + shown(max(summary.high - summary.value, summary.value - summary.low))


def _trust(certificate: Certificate | None) -> str:
    """In which aspects the metric sees more than chance, in one line."""
    if certificate is None:
        return ""
    seen = [
        f"{one.aspect.value.replace('_', ' ')} {100 * one.accuracy.value.value:.0f}%"
        for one in certificate.aspects
        if one.accuracy.value is not None
        and (one.accuracy.value.clustered or one.accuracy.value.wilson).low > 0.5
    ]
    return "sees " + ", ".join(seen) if seen else "no better than chance on any aspect"


def _systems(report: Report) -> list[tuple[str, list[Line]]]:
    by_value: dict[str, list[Line]] = {}
    for line in leaderboard(report):
        by_value.setdefault(line.value, []).append(line)
    order = report.systems
    return [
        (name, sorted(lines, key=lambda line: order.index(line.system)))
        for name, lines in by_value.items()
    ]


def _charts(report: Report) -> list[Chart]:
    ranges = {
        name: (info.low, info.high, info.higher_is_better)
        for name, info in report.results.outputs.items()
        if _finite(info.low, info.high)
    }
    lines = []
    for total in report.totals:
        if total.summary is not None and total.name in ranges:
            given = ranges[total.name]
            ends = [share(end, given) for end in (total.summary.low, total.summary.high)]
            mean = share(total.summary.value, given)
            known = [end for end in (mean, *ends) if end is not None]
            lines.append((total.name, known[0], min(known), max(known)))
    found = [
        summary_chart(lines[:40]),
        radar_chart(leaderboard(report), ranges),
        certificate_chart(report.certificates),
    ]
    return [chart for chart in found if chart is not None]


def _picture(chart: Chart) -> dict[str, str]:
    def address(svg: str) -> str:
        return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()

    return {
        "title": chart.title,
        "light": address(chart.light),
        "dark": address(chart.dark),
        "words": chart.words,
    }


def _card(certificate: Certificate) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for one in (*certificate.aspects, None):
        outcome = certificate.overall if one is None else one.accuracy
        name = "all pairs" if one is None else one.aspect.value.replace("_", " ")
        found = outcome.value
        if found is None:
            assert outcome.failure is not None
            rows.append({"name": name, "failed": outcome.failure.reason.value})
            continue
        interval = found.clustered or found.wilson
        rows.append(
            {
                "name": name,
                "value": f"{100 * found.value:.1f}",
                "low": f"{100 * interval.low:.0f}",
                "high": f"{100 * interval.high:.0f}",
                "ties": found.ties,
                "judged": found.judgements,
                "asked": found.total,
                "human": "" if one is None or one.human is None else f"{100 * one.human:.1f}",
            }
        )
    return {"certificate": certificate, "rows": rows, "facts": _facts(certificate)}


def _facts(certificate: Certificate) -> list[tuple[str, str]]:
    facts = []
    order = certificate.order.value
    if order is not None:
        facts.append(
            (
                "Order of presentation",
                f"{100 * order.consistent_share:.0f}% judged alike in both orders, "
                f"{100 * order.first_share:.0f}% of answers for the first video",
            )
        )
    if certificate.trend.value is not None:
        facts.append(("With duration", f"ρ = {certificate.trend.value.correlation}"))
    for aspect, dose in certificate.severities.items():
        steps = ", ".join(f"{one.severity:g}: {100 * one.accuracy:.0f}%" for one in dose.doses)
        facts.append((f"Severity, {aspect.replace('_', ' ')}", steps))
    for aspect, dose in certificate.clip_counts.items():
        steps = ", ".join(f"{one.severity:g}: {100 * one.accuracy:.0f}%" for one in dose.doses)
        facts.append((f"Harmed clips, {aspect.replace('_', ' ')}", steps))
    for placebo in certificate.placebos:
        found = placebo.false_alarms.value
        if found is not None:
            facts.append(
                (
                    f"Placebo {placebo.name.replace('_', ' ')}",
                    f"untouched copy preferred {100 * found.value:.0f}% "
                    f"(fair: 50), ties {100 * placebo.tie_share:.0f}%",
                )
            )
    for prompt in certificate.prompts:
        facts.append(
            (
                f"Prompt {prompt.change}, {prompt.aspect.value.replace('_', ' ')}",
                f"{100 * prompt.changed_share:.0f}% of answers change",
            )
        )
    cost = certificate.cost
    words = f"{cost.seconds:.2f} s per judgement"
    if cost.calls:
        words += f", {cost.calls:,} calls, {cost.tokens_in + cost.tokens_out:,} tokens"
    if cost.cost is not None:
        words += f", cost {cost.cost}"
    facts.append(("Cost", words))
    facts.append(("Signature", certificate.signature))
    return facts
