"""Can I believe it? What speaks for the numbers of a report, and what against them.

Everything here is said elsewhere too: by the comparison, by certificates, by the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from screentest._util.text import plural
from screentest.analysis.judges.certificate import Certificate
from screentest.analysis.models.comparison import ModelComparison
from screentest.analysis.models.coverage import PromptCoverage, bordered, unread_videos
from screentest.analysis.models.rows import State
from screentest.analysis.results import Results
from screentest.core import Reason, UserError, registry
from screentest.present.certificates import bias_words
from screentest.present.page.data import Report
from screentest.present.page.trust import sees_something, trust
from screentest.present.screens import (
    borders_words,
    comparison_screen,
    file_and_reason,
    not_covered_words,
    prompt_count,
)
from screentest.present.sentences import say
from screentest.present.text import about, label, names, percent
from screentest.stats import Claim

Kind: TypeAlias = Literal["ok", "note", "warn", "fail"]
_SAID: Mapping[str, str] = {
    "ok": "OK",
    "note": "Note",
    "warn": "Warning",
    "fail": "Problem",
}
_WEIGHT: Sequence[Kind] = ("fail", "warn", "note", "ok")
"""The order in which they are read."""
CHECKED = ("left out", "missing", "merged", "paired")
"""Lines of the first screen that are a check here."""
_MOST = 3
"""Names in a sentence; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that decides how far the numbers may be believed."""

    kind: Kind
    title: str
    words: str
    more: tuple[str, ...] = ()
    more_title: str = ""

    @property
    def kind_words(self) -> str:
        """What the sign before it says."""
        return _SAID[self.kind]


def checks(report: Report, comparison: ModelComparison | None) -> list[Check]:
    """All that apply, what speaks against the numbers first: what nothing measures, too few
    prompts, what is not certified. Enough prompts make safe only what is measured."""
    if not report.results.items:
        return []
    found: list[Check] = []
    if comparison is not None:
        found += _not_covered(comparison)
        found.append(_prompts(comparison))
    found += _certified(report)
    found += _stand_ins(report)
    found += _borders(report.results)
    found += _unread(report.results)
    found += _coverage(report)
    if comparison is not None:
        lines = [line for line in comparison_screen(comparison).lines if line[0] in CHECKED]
        told = " ".join(f"{name.capitalize()}: {text}." for name, text in lines)
        found += [Check("warn", "Left out.", told)] if lines else []
    return sorted(found, key=lambda one: _WEIGHT.index(one.kind))


def _not_covered(comparison: ModelComparison) -> Iterator[Check]:
    """The aspects that have no score, and how to get one."""
    found = comparison.not_covered
    if text := not_covered_words(found):
        partly = found.prompts in (PromptCoverage.HEURISTIC, PromptCoverage.NO_MODEL)
        how = f" {say('get_models')}" if partly else ""
        yield Check("warn", "Not all is covered.", f"No score: {text}.{how}")


def _prompts(comparison: ModelComparison) -> Check:
    had = prompt_count(comparison, comparison.tested)
    settled = comparison.having(State.SIGNIFICANT)
    tests = plural(comparison.comparisons, "comparison")
    if settled:
        metrics = names((label(row.name, row.info) for row in settled), _MOST)
        tested = len(comparison.tested)
        left = sum(row.state is State.UNDECIDED for row in comparison.rows)
        rest = f" {plural(left, 'metric')} undecided." if left else ""
        return Check(
            "ok",
            f"{prompt_count(comparison, settled)} settle {len(settled)} of {tested} metrics.",
            f"Significant after correction for {tests}: {metrics}.{rest}",
        )
    if not comparison.comparisons:
        return Check("warn", f"{had}.", "There is nothing to test.")
    least = (
        f"Among {tests}, fewer than {comparison.fewest} cannot settle anything, even if all agree"
    )
    likely = f"; about {about(comparison.needed)} might" if comparison.needed else ""
    if comparison.too_few:
        return Check("fail", f"Not settled: {had}.", f"{least}{likely}.")
    words = f"No difference holds after correction for {tests}"
    return Check("warn", f"Not settled: {had}.", f"{words}{likely}.")


# Certificates of the metrics used, and the placebos that they failed.


def _certified(report: Report) -> Iterator[Check]:
    values = {total.name: total.signature for total in report.totals if total.scored}
    said: dict[str, list[Certificate]] = {
        name: found for name in values if (found := report.certificates_of(name))
    }
    short = report.labels
    if not values:
        return
    if not said:
        yield Check(
            "warn",
            "No measure here is certified.",
            "Whether each sees what it is named for was not put to the test in this report: "
            "add a run of screentest certify to it.",
        )
        return
    listed = [
        f"{short[name]}: {trust(one, values[name])}"
        for name, found in said.items()
        for one in found
    ]
    # A certificate that cannot tell certifies nothing.
    sees = [name for name in said if sees_something(said[name])]
    words = [f"{names([short[name] for name in sees], _MOST)}."] if sees else []
    if others := [short[name] for name in said if name not in sees]:
        words.append(f"Tested, and not shown to see anything: {names(others, _MOST)}.")
    if without := [short[name] for name in values if name not in said]:
        words.append(f"Not tested: {names(without, _MOST)}.")
    verb = "is" if len(sees) == 1 else "are"
    yield Check(
        ("ok" if len(sees) == len(values) else "note") if sees else "warn",
        f"{len(sees)} of {len(values)} measures {verb} certified."
        if sees
        else "No measure here is certified.",
        " ".join(words),
        tuple(listed),
        "What their certificates say",
    )
    failed = {
        f"{short[name]} {bias_words(bias)}": None
        for name, found in said.items()
        for one in found
        for placebo in one.placebos
        if (bias := placebo.bias) is not None
    }
    if failed:
        yield Check(
            "fail",
            "Placebos were failed.",
            "An edit that changes nothing moves these: " + "; ".join(list(failed)[:_MOST]) + ".",
            tuple(failed) if len(failed) > _MOST else (),
            "All of them",
        )
        return
    placebos = [placebo for found in said.values() for one in found for placebo in one.placebos]
    sure = [one for one in placebos if one.finding and one.finding.claim is not Claim.CANNOT_TELL]
    if placebos and len(sure) == len(placebos):
        yield Check("ok", "No placebo was failed.", "Edits that change nothing move no measure.")
    elif placebos:
        yield Check(
            "note",
            "No placebo is known to be failed.",
            "On so few films it could not be told whether edits that change nothing move them.",
        )


# What answered in place of a model, and what stands around the pictures.


def _stand_ins(report: Report) -> Iterator[Check]:
    """The backends without a learned model, or called a stand-in by themselves."""
    asked: dict[tuple[str, str], set[str]] = {}
    for source in report.sources:
        for note in source.evaluators:
            roles = note.about.get("roles")
            for role in roles if isinstance(roles, list) else ():
                backend = source.models.get(str(role), "").partition(":")[0].partition(",")[0]
                if backend:
                    asked.setdefault((str(role), backend), set()).add(note.name)
    found = []
    for (role, backend), askers in sorted(asked.items()):
        try:
            info = registry.entry(role.partition(".")[0], backend).info
        except UserError:  # of a plugin that is not installed here
            continue
        summary = str(info.get("summary", ""))
        if (not info.get("weights") and "chat" not in role) or "stand-in" in summary:
            found.append(f"{names(sorted(askers), _MOST)} asked {backend} ({role}): {summary}")
    if found:
        yield Check(
            "warn",
            "Stand-ins were used.",
            f"{plural(len(found), 'role')} had no model: these numbers are not those of the model "
            "that a paper names.",
            tuple(found),
            "Which, and for what",
        )


def _borders(results: Results) -> Iterator[Check]:
    """Bars around the picture, which metrics leave out."""
    found = bordered(results)
    if found:
        listed = [f"{item}: {percent(one.share)}" for item, one in sorted(found.items())]
        yield Check("note", "Borders.", f"{borders_words(results)}.", tuple(listed[:60]), "Which")


# Coverage.


def _unread(results: Results) -> Iterator[Check]:
    """Files of which nothing was measured, by name."""
    found = unread_videos(results)
    if not found:
        return
    listed = [": ".join(file_and_reason(one))[:400] for one in found]
    few = len(listed) <= _MOST
    rest = f" and {len(listed) - _MOST:,} more" if not few else ""
    yield Check(
        "fail",
        f"{len(found):,} of {plural(len(results.items), 'video')} could not be read.",
        f"Nothing was measured of {'it' if len(found) == 1 else 'them'}: "
        f"{'; '.join(listed[:_MOST])}{rest}. {found[0].advice}".rstrip(),
        () if few else tuple(listed[:200]),
        "All of them",
    )


def _coverage(report: Report) -> Iterator[Check]:
    results = report.results
    reasons: Counter[str] = Counter()
    details: dict[str, Counter[str]] = {}
    apart = 0
    gone = {one.item for one in unread_videos(results)}
    results = results.without(gone)
    for value in results.values:
        failure = value.outcome.failure
        if failure is None:
            continue
        if failure.reason is Reason.NOT_APPLICABLE:
            apart += 1
            continue
        lines = failure.detail.strip().splitlines()
        reason = failure.reason.value.replace("_", " ")
        why = f"{reason}: {lines[-1]}" if lines else reason
        reasons[reason] += 1
        details.setdefault(why, Counter())[value.item] += 1
    lost, waiting = sum(reasons.values()), len(results.pending)
    planned = len(results.values) + waiting - apart
    scored = planned - lost - waiting
    if gone and not planned:
        return
    if waiting:
        yield Check(
            "warn",
            f"{plural(waiting, 'value')} still to come.",
            "Start the same command again: it goes on where it stopped.",
        )
    beside = f" {apart:,} more do not apply to their video." if apart else ""
    beside += " Videos that could not be read are not counted." if gone else ""
    if not lost:
        title = "Nothing else failed." if gone else "Nothing failed."
        yield Check("ok", title, f"{scored:,} of {planned:,} values are there.{beside}")
        return
    items = {item for counts in details.values() for item in counts}
    why_words = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common())
    yield Check(
        "warn",
        f"{lost:,} of {planned:,} values are missing.",
        f"They are left out of every mean, and never a zero: {why_words}; "
        f"{plural(len(items), 'video')}.{beside}",
        tuple(
            f"{names(sorted(counts), _MOST)}: {why}"[:400]
            for why, counts in sorted(details.items(), key=lambda one: -sum(one[1].values()))[:40]
        ),
        "Which, and why",
    )
