"""Certificates about a value, and their claims on one line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from screentest.analysis.judges.certificate import Certificate
from screentest.core import Aspect
from screentest.core.signature import split_value_name, value_name
from screentest.present.certificates import brief
from screentest.stats import Claim


def trust(certificate: Certificate, signature: str = "") -> str:
    """The claims about a judge, on one line."""
    words = brief(certificate)
    if certificate.models:
        words = f"{certificate.title}: {words}"
    if signature and is_of_other_settings(certificate, signature):
        words += " (tested with other settings)"
    return words


def sees_something(certificates: Iterable[Certificate]) -> bool:
    """Tell whether any of them claims that the judge sees a degradation: only that certifies it."""
    findings = [
        finding
        for own in certificates
        for finding in (
            *(one.finding for one in own.operators),
            *(one.finding for one in own.aspects),
        )
    ]
    return any(finding.claim is Claim.SEES for finding in findings)


def certificates_of(
    value: str, certificates: Iterable[Certificate], names: Sequence[str]
) -> list[Certificate]:
    """The certificates about ``value``, each with the aspects in which it does.

    A judge made of a metric goes by one value of it: by the one that is named, or else, aspect by
    aspect, by the one named like the aspect, the one named like the metric, the first. Only that
    value was tested; the certificate says nothing of the metric's others.

    ``names`` are those of all values, in the order in which their metrics declare them.
    """
    found = []
    for one in certificates:
        if one.people and "|scores:" in one.signature:
            continue  # numbers from elsewhere, whatever they are called
        aspects = tuple(
            result for result in one.aspects if tested(one.judge, result.aspect, names) == value
        )
        if aspects:
            found.append(replace(one, aspects=aspects))
    return found


def tested(judge: str, aspect: Aspect, names: Sequence[str]) -> str:
    """The name of the value that a judge goes by; empty where none is known by that name.

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
    parts = dict(part.split(":", 1) for part in certificate.signature.split("|")[1:])
    digests = [text for name, text in parts.items() if name.startswith("metric.")]
    mine = hashlib.sha256(signature.encode()).hexdigest()[:16]
    return bool(digests) and mine not in digests
