"""Which certificate speaks of which value.

A judge made of a metric goes by one value of it: by the one that is named, or else, aspect by
aspect, by the one named like the aspect, the one named like the metric, the first. Only that
value was tested; the certificate says nothing of the metric's others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from screentest.certify.certificate import Certificate
from screentest.core import Aspect
from screentest.evaluate.results import value_name


def certificates_of(
    value: str, certificates: Iterable[Certificate], names: Sequence[str]
) -> list[Certificate]:
    """The certificates that speak of ``value``, each with the aspects in which it does.

    ``names`` are those of all values, in the order in which their metrics declare them.
    """
    found = []
    for one in certificates:
        aspects = tuple(
            result for result in one.aspects if tested(one.judge, result.aspect, names) == value
        )
        if aspects:
            found.append(replace(one, aspects=aspects))
    return found


def tested(judge: str, aspect: Aspect, names: Sequence[str]) -> str:
    """The name of the value that a judge goes by; empty where none is known by that name.

    >>> names = ["contrast", "contrast.exposure", "etva.score", "etva.color", "noise:rate=2"]
    >>> tested("contrast", Aspect.COLOR, names), tested("contrast.exposure", Aspect.COLOR, names)
    ('contrast', 'contrast.exposure')
    >>> tested("etva", Aspect.COLOR, names), tested("etva", Aspect.AESTHETICS, names)
    ('etva.color', 'etva.score')
    >>> tested("noise:rate=2", Aspect.COLOR, names), tested("core", Aspect.COLOR, names)
    ('noise:rate=2', '')
    """
    head, colon, options = judge.partition(":")
    metric, dot, output = head.partition(".")
    if dot:
        named = value_name(f"{metric}{colon}{options}", output)
        return named if named in names else ""
    for name in (f"{judge}.{aspect.value}", judge):
        if name in names:
            return name
    return next((name for name in names if name.startswith(f"{judge}.")), "")


def is_of_other_settings(certificate: Certificate, signature: str) -> bool:
    """Whether the value was measured otherwise than where it was certified.

    A judge's signature holds the digest of its metric's.
    """
    parts = dict(part.split(":", 1) for part in certificate.signature.split("|")[1:])
    digests = [text for name, text in parts.items() if name.startswith("metric.")]
    mine = hashlib.sha256(signature.encode()).hexdigest()[:16]
    return bool(digests) and mine not in digests
