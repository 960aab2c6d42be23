"""Certificate: one evaluator on testbeds or beside people, as numbers with intervals."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum

from screentest.analysis.judges.frames import InFrames
from screentest.analysis.people.raters import PeopleResult
from screentest.core import Aspect, Outcome, Reason
from screentest.core.codec import from_object
from screentest.core.signature import read_signature, split_model, split_value_name, value_name
from screentest.judges.cases import ELSEWHERE, HINTED, INSTRUCTION
from screentest.judges.spread import PlaceboSpread
from screentest.models.choice import ModelChoice
from screentest.run.ledger import Call
from screentest.run.reader import RunReader
from screentest.stats import Claim, Correlation, Finding, Interval
from screentest.stats.claims import WORTH_FINDING
from screentest.stats.intervals import wald
from screentest.stats.paired import OrderEffect
from screentest.stats.trend import DoseResponse, Trend

SCHEMA = 1
NOTE = "certificate"
"""Notes of a run that are certificates begin with it."""
CHANCE = 0.5
FAMILY = 4
"""Operators that an aspect must have before a claim on all of them stands for each."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Share of answers for the original; a tie is half a point."""

    points: float
    judgements: int
    """Answers that were given."""
    total: int
    """Answers that were asked for."""
    ties: int
    interval: Interval
    """Over films: pairs of one film, and both orders of one pair, hang together."""
    wald: Interval
    """Over pairs, as if they were independent."""
    failures: Mapping[Reason, int] = field(default_factory=dict)
    pairs: int = 0
    """Pairs with an answer."""

    @property
    def value(self) -> float:
        return self.points / self.judgements

    @property
    def coverage(self) -> float:
        return self.judgements / self.total

    @property
    def reach(self) -> float:
        """Half of Wald's interval over all answers, as SLVMEval prints it after ±.

        >>> everything = Interval(0.0, 1.0)
        >>> round(Accuracy(494, 548, 548, 0, everything, everything).reach, 3)
        0.025
        """
        return wald(self.points, self.judgements).width / 2


@dataclass(frozen=True, slots=True)
class AspectResult:
    """One aspect at the reference severity."""

    aspect: Aspect
    pairs: int
    sources: int
    accuracy: Outcome[Accuracy]
    order: Outcome[OrderEffect]
    trend: Outcome[Trend]
    """In bins of pairs, as the paper has it: pairs of one film are not independent there."""
    finding: Finding
    """The claim, over all its operators."""
    human: float | None = None
    """How often people prefer the original of these pairs, where they were asked."""
    margin: PlaceboSpread | None = None
    """Of a judge that rates: the difference up to which two videos are a tie, as it is for a film
    that is not in the testbed. Each film's own is learnt from the others."""


@dataclass(frozen=True, slots=True)
class OperatorResult:
    """One way of degrading an aspect, at the reference severity."""

    aspect: Aspect
    name: str
    label: str
    """A short name: ``half the resolution``."""
    pairs: int
    accuracy: Outcome[Accuracy]
    finding: Finding


class PlaceboKind(StrEnum):
    """The change that a placebo makes."""

    EDIT = "edit"
    """Nothing that can be seen."""
    INSTRUCTION = "instruction"
    """A text in the picture tells the judge which video to choose."""
    OTHER_VIDEO = "other_video"
    """The true and the false prompt beside a video that neither is about."""


@dataclass(frozen=True, slots=True)
class PlaceboBias:
    """A preference where a fair judge has none."""

    name: str
    kind: PlaceboKind
    toward_original: bool
    certain: bool
    """Significant; else merely far from a half."""
    share: float
    """Of films, or prompts, on which it has this preference."""
    films: int


@dataclass(frozen=True, slots=True)
class PlaceboResult:
    """Answers on edits that change nothing."""

    name: str
    pairs: int
    false_alarms: Outcome[Accuracy]
    """How often it preferred the untouched copy; a fair judge is at a half, or ties."""
    tie_share: float
    finding: Finding | None = None
    """Whether it differs from fair; corrected for all placebos."""

    @property
    def kind(self) -> PlaceboKind:
        """The change that it makes."""
        if self.name == INSTRUCTION:
            return PlaceboKind.INSTRUCTION
        return PlaceboKind.OTHER_VIDEO if self.name.endswith(ELSEWHERE) else PlaceboKind.EDIT

    @property
    def bias(self) -> PlaceboBias | None:
        """The preference of the judge; None where it is fair, or not known to be unfair."""
        if self.finding is None or self.finding.accuracy is None:
            return None
        share = self.finding.accuracy
        certain = self.finding.claim in (Claim.SEES, Claim.PREFERS_DEGRADED)
        near = abs(share - CHANCE) < WORTH_FINDING - CHANCE
        if not certain and (near or self.kind is PlaceboKind.OTHER_VIDEO):
            return None
        toward, films = share > CHANCE, self.finding.films
        return PlaceboBias(self.name, self.kind, toward, certain, max(share, 1 - share), films)


@dataclass(frozen=True, slots=True)
class PromptResult:
    """Answers under another prompt, or with hints at what the degradation looks like."""

    change: str
    """``swapped``, ``shuffled``, ``empty`` or ``hinted``."""
    aspect: Aspect
    pairs: int
    changed_share: float
    """Answers that are no longer the same."""
    accuracy: Outcome[Accuracy]
    plain: Outcome[Accuracy]
    """On the same pairs, with the prompt and the definition as they are."""

    @property
    def should_matter(self) -> bool:
        """Tell whether a judge that reads would answer otherwise: the order of the captions is
        part of temporal flow alone, the words of all aspects that are about the text. A judge
        that sees and reads needs no hint."""
        if self.change == HINTED:
            return False
        if self.change == "shuffled":
            return self.aspect.info.about_order
        return self.aspect.info.about_text


@dataclass(frozen=True, slots=True)
class FilterResult:
    """Accuracies on all pairs, and on those alone that people's filter kept."""

    pairs: int
    kept: int
    overall: Outcome[Accuracy]
    """On the kept pairs."""
    aspects: Mapping[Aspect, Outcome[Accuracy]]
    """On the kept pairs."""
    before: Mapping[Aspect, Outcome[Accuracy]] = field(default_factory=dict)
    """On all pairs."""
    trends: Mapping[Aspect, Outcome[Trend]] = field(default_factory=dict)
    """On the kept pairs."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Time, calls and money of all judgements together."""

    seconds: float
    """Per judgement, on one worker."""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    uncounted: int = 0
    """Calls whose tokens are unknown: they are in none of the sums."""
    cost: Decimal | None = None
    unpriced: int = 0
    """Calls whose price is not known: the cost is that of the others."""
    judgements: int = 0
    measured_with: tuple[str, ...] = ()
    """Other metrics that were measured in the same scans, whose time is in the seconds too."""

    @classmethod
    def of(cls, calls: Sequence[Call], judgements: int) -> Cost:
        """Return the sums over calls, as far as they are known."""
        receipts = [call.receipt for call in calls if call.receipt is not None]
        costs = [receipt.cost for receipt in receipts if receipt.cost is not None]
        return cls(
            seconds=0.0,
            calls=len(calls),
            tokens_in=sum(receipt.tokens_in or 0 for receipt in receipts),
            tokens_out=sum(receipt.tokens_out or 0 for receipt in receipts),
            uncounted=len(calls) - sum(receipt.tokens_in is not None for receipt in receipts),
            cost=sum(costs, Decimal(0)) if costs else None,
            unpriced=len(calls) - len(costs),
            judgements=judgements,
        )


class RemarkKind(StrEnum):
    """A kind of remark."""

    SAME_FILM = "same_film"
    """``count`` sources are ``of`` films; each film counts once."""
    UNKNOWN_IDS = "unknown_ids"
    """``count`` of ``of`` ids of a score table are no videos of the release."""
    NO_SCORE = "no_score"
    """``count`` of ``of`` videos of the release have no score."""
    NOT_NUMBERS = "not_numbers"
    UNREADABLE_SCORES = "unreadable_scores"
    UNREADABLE_VOTES = "unreadable_votes"


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark with its numbers."""

    kind: RemarkKind
    count: int
    of: int = 0
    names: tuple[str, ...] = ()
    """The first of them."""


@dataclass(frozen=True, slots=True)
class ClaimSummary:
    """The claims of a certificate, by operator."""

    families: tuple[AspectResult, ...]
    """Aspects of several operators that the judge sees as a whole, fooled by none."""
    sees: tuple[OperatorResult, ...]
    """Those of a family among them."""
    fooled: tuple[OperatorResult, ...]
    chance: tuple[OperatorResult, ...]
    unsettled: tuple[OperatorResult, ...]
    """Without those of a family."""
    tested: int
    """Operators with an answer."""
    aspects: int
    """Aspects with an answer."""

    @property
    def decided(self) -> bool:
        """Tell whether there is any claim but *undecided*."""
        return bool(self.families or self.sees or self.fooled or self.chance)


@dataclass(frozen=True, slots=True)
class Certificate:
    """One evaluator on testbeds, or beside people."""

    judge: str
    signature: str
    testbeds: tuple[str, ...]
    overall: Outcome[Accuracy]
    aspects: tuple[AspectResult, ...]
    order: Outcome[OrderEffect]
    trend: Outcome[Trend]
    """In bins of pairs, as the paper has it."""
    duration: Outcome[Correlation]
    """Whether long films are harder: one value per film, p by permutation."""
    severities: Mapping[str, DoseResponse] = field(default_factory=dict)
    """By aspect, where the testbed has a ladder."""
    clip_counts: Mapping[str, DoseResponse] = field(default_factory=dict)
    placebos: tuple[PlaceboResult, ...] = ()
    prompts: tuple[PromptResult, ...] = ()
    cost: Cost = field(default_factory=lambda: Cost(0.0))
    schema: int = SCHEMA
    summary: str = ""
    filtered: FilterResult | None = None
    """Where a testbed was given that people's filter left."""
    by_testbed: Mapping[str, Outcome[Accuracy]] = field(default_factory=dict)
    """Where there are several."""
    operators: tuple[OperatorResult, ...] = ()
    chance: float = CHANCE
    models: Mapping[str, str] = field(default_factory=dict)
    """The backend that answered for each role: `clipscore` on another is another judge."""
    people: tuple[PeopleResult, ...] = ()
    """By aspect, where the pairs are people's and not a testbed's."""
    frames: Mapping[Aspect, InFrames] = field(default_factory=dict)
    """By aspect, of a judge that says which frames it was shown."""
    remarks: tuple[Remark, ...] = ()

    @property
    def title(self) -> str:
        """The judge with the models behind it, as it is shown: ``clipscore[label_text]``."""
        return labelled(self.judge, self.models)

    @property
    def claims(self) -> ClaimSummary:
        """Operators by claim.

        An aspect stands for its family only where several operators were tested and none fools the
        judge: one that sees blur need not see technical quality.
        """
        operators = {
            part.aspect: [each for each in self.operators if each.aspect is part.aspect]
            for part in self.aspects
        }
        families = tuple(
            part
            for part in self.aspects
            if len(operators[part.aspect]) >= FAMILY and part.finding.claim is Claim.SEES
        )
        whole = {part.aspect for part in families}
        every = [each for family in operators.values() for each in family]

        def having(claim: Claim) -> tuple[OperatorResult, ...]:
            return tuple(each for each in every if each.finding.claim is claim)

        return ClaimSummary(
            families,
            having(Claim.SEES),
            having(Claim.PREFERS_DEGRADED),
            having(Claim.CHANCE),
            tuple(
                each
                for each in having(Claim.UNDECIDED)
                if each.accuracy.ok and each.aspect not in whole
            ),
            sum(each.accuracy.ok for each in every),
            sum(part.accuracy.ok for part in self.aspects),
        )

    @property
    def mean_over_aspects(self) -> float | None:
        """Every aspect counts alike, however many pairs it has."""
        available = [
            aspect.accuracy.unwrap().value for aspect in self.aspects if aspect.accuracy.ok
        ]
        return sum(available) / len(available) if available else None


def labelled(judge: str, models: Mapping[str, str]) -> str:
    """Return a judge and the backends that it asks.

    >>> labelled("clipscore", {"image_text": "label_text"}), labelled("flicker", {})
    ('clipscore[label_text]', 'flicker')
    >>> labelled("vlm_text", {"chat.caption": "openai:a", "chat.judge": "openai:b,top_p=1"})
    'vlm_text[openai:a, openai:b]'
    >>> labelled("vlm_text@b", {"chat.caption": "openai:my-b", "chat.judge": "openai:b"})
    'vlm_text@b[openai:my-b]'
    """
    # Options of a model, such as its address, are for the signature.
    names = {
        text.partition(",")[0]: ModelChoice.parse(f"{role}={text}").label
        for role, text in models.items()
    }
    own = split_model(judge)[1]
    others = [name for name, label in names.items() if label != own]
    return f"{judge}[{', '.join(others)}]" if others else judge


def read_certificates(run: RunReader) -> list[Certificate]:
    """Return the certificates that a run keeps."""
    return [
        from_object(Certificate, body)
        for name, body in run.notes().items()
        if name.startswith(f"{NOTE}: ")
    ]


def certificates_of(
    value: str, certificates: Iterable[Certificate], names: Sequence[str]
) -> list[Certificate]:
    """Return the certificates about ``value``, each with the aspects in which it does.

    A judge made of a metric goes by one value of it: by the one that is named, or else, aspect by
    aspect, by the one named like the aspect, the one named like the metric, the first. Only that
    value was tested; the certificate says nothing of the metric's others.

    ``names`` are those of all values, in the order in which their metrics declare them.
    """
    about = []
    for certificate in certificates:
        if certificate.people and "scores" in read_signature(certificate.signature):
            continue  # numbers from elsewhere, whatever they are called
        aspects = tuple(
            result
            for result in certificate.aspects
            if tested(certificate.judge, result.aspect, names) == value
        )
        if aspects:
            about.append(replace(certificate, aspects=aspects))
    return about


def tested(judge: str, aspect: Aspect, names: Sequence[str]) -> str:
    """Return the name of the value that a judge goes by; empty where none is known by that name.

    >>> names = ["contrast", "contrast.exposure", "seen.score", "seen.color", "noise:rate=2"]
    >>> tested("contrast", Aspect.COLOR, names), tested("contrast.exposure", Aspect.COLOR, names)
    ('contrast', 'contrast.exposure')
    >>> tested("seen", Aspect.COLOR, names), tested("seen", Aspect.AESTHETICS, names)
    ('seen.color', 'seen.score')
    >>> tested("noise:rate=2", Aspect.COLOR, names), tested("baseline", Aspect.COLOR, names)
    ('noise:rate=2', '')
    """
    if "." in judge.partition(":")[0]:
        return judge if judge in names else ""
    for name in (value_name(judge, aspect.value), judge):
        if name in names:
            return name
    return next((name for name in names if split_value_name(name)[0] == judge), "")


def is_of_other_settings(certificate: Certificate, signature: str) -> bool:
    """Tell whether the value was measured otherwise than where it was certified.

    A judge's signature holds the digest of its metric's.
    """
    parts = read_signature(certificate.signature).items()
    digests = [text for name, text in parts if name.startswith("metric.")]
    mine = hashlib.sha256(signature.encode()).hexdigest()[:16]
    return bool(digests) and mine not in digests
