"""Evidence: what is known of a value before it is used, and whether it holds for these numbers.

``screentest/evidence/measured.json`` comes with the package (``bench/evidence.py``): for every
value with its version, the backends that answered and the detector of shots, how it answered on
every degradation and placebo, and what it costs. What was measured of another version is not shown.
``people.json`` has released scores beside people's votes. A plugin brings a ``measured.json`` of
its own beside its module, and certificates of ``certify`` join (``Results.certified``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cache
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

from screentest.analysis.judges.certificate import (
    Certificate,
    certificates_of,
    is_of_other_settings,
    read_certificates,
)
from screentest.analysis.models.margins import key_of
from screentest.analysis.results import Results, Value
from screentest.core.errors import UserError
from screentest.core.registry import registry
from screentest.core.signature import read_signature, split_value_name
from screentest.run.reader import RunReader
from screentest.stats.claims import Claim, Finding

FOLDER = "evidence"
MEASURED = "measured.json"
PEOPLE = "people.json"
_CODES = {"+": Claim.SEES, "-": Claim.PREFERS_DEGRADED, "=": Claim.CHANCE, "?": Claim.UNDECIDED}
_SIGNS = {claim: code for code, claim in _CODES.items()} | {Claim.MIXED: "+"}


class Standing(StrEnum):
    """Whether there is evidence for a number."""

    MEASURED = "measured"
    OTHER_VERSION = "other_version"
    """Another version, other options, backends or shots were measured."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Reaction:
    """Answers on one degradation, or on one placebo, by film."""

    claim: Claim
    films: int
    wins: int
    """Films on which the original was preferred."""
    losses: int
    """Films on which the degraded video was."""
    strict: bool = False
    """The claim holds after Holm's correction too."""

    @property
    def ties(self) -> int:
        """Films on which both were alike."""
        return self.films - self.wins - self.losses


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known of one value."""

    value: str
    standing: Standing = Standing.NONE
    films: int = 0
    """Independent films that it was tested on, at most."""
    operators: Mapping[str, Reaction] = field(default_factory=dict)
    placebos: Mapping[str, Reaction] = field(default_factory=dict)
    margin: float | None = None
    """Differences up to which two videos were a tie."""
    cost: float | None = None
    """Processor seconds for a second of film."""
    source: str = ""
    """The run of the certificate; empty for what comes with the package."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What was measured: version, backends, shots."""

    def having(self, claim: Claim) -> tuple[str, ...]:
        """Return the degradations with a claim, the most certain first."""
        found = [name for name, each in self.operators.items() if each.claim is claim]
        return tuple(sorted(found, key=lambda name: self._certainty(self.operators[name])))

    @staticmethod
    def _certainty(each: Reaction) -> tuple[float, int]:
        return -abs(each.wins - each.losses) / max(1, each.films), -each.films

    def document(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return asdict(self)


def settings_key(value: Value) -> str:
    """Return the value with everything that its evidence holds for.

    >>> from screentest.core import Outcome, Score
    >>> found, shots = Outcome.of(Score(1.0)), "shots:default%7Cv%3A1"
    >>> settings_key(Value("x", "noise", "luma_noise", found, f"noise|v:2|rate:4|{shots}"))
    'noise.luma_noise|v:2|shots:default/1'
    """
    shots = read_signature(value.signature).get("shots", "").replace("|v:", "/")
    return key_of(value) + (f"|shots:{shots}" if shots else "")


def _settings(key: str) -> dict[str, str]:
    parts = (part.partition(":") for part in key.split("|")[1:])
    return {"version" if name == "v" else name: text for name, _, text in parts}


@cache
def _documents() -> tuple[Mapping[str, Any], ...]:
    """Return what the package has, and what plugins have beside their modules."""
    folders = [files("screentest").joinpath(FOLDER)]
    for point in metadata.entry_points(group="screentest.plugins"):
        try:
            folders.append(files(point.module.partition(".")[0]))
        except (ImportError, TypeError):  # `doctor` shows a plugin that does not import
            continue
    found = [folder.joinpath(MEASURED) for folder in folders]
    return tuple(json.loads(one.read_text(encoding="utf-8")) for one in found if one.is_file())


def recipe() -> Mapping[str, Any]:
    """Return how the package's evidence was measured: films by hash, operators, seed, commit."""
    return dict(_documents()[0].get("recipe", {})) if _documents() else {}


@cache
def measured() -> Mapping[str, Evidence]:
    """Return all evidence that comes with the package and with plugins, by ``settings_key``."""
    # The package's own last: no plugin says what its values see.
    entries = (item for one in reversed(_documents()) for item in one["values"].items())
    return {key: read_entry(key, body) for key, body in entries}


def read_entry(key: str, body: Mapping[str, Any], source: str = "") -> Evidence:
    """Read what ``entry`` wrote."""

    def reactions(part: str) -> dict[str, Reaction]:
        return {
            name: Reaction(_CODES[code[0]], films, wins, losses, code.endswith("!"))
            for name, (films, wins, losses, code) in body[part].items()
        }

    operators = reactions("operators")
    films = max((each.films for each in operators.values()), default=0)
    name = key.partition("|")[0]
    return Evidence(
        *(name, Standing.MEASURED, films, operators, reactions("placebos")),
        *(body.get("margin"), body.get("cost"), source, _settings(key)),
    )


def entry(certificate: Certificate, cost: float | None = None) -> dict[str, Any]:
    """Return the evidence in a certificate, as it is kept."""

    def answers(finding: Finding) -> list[Any]:
        code = _SIGNS[finding.claim] + "!" * finding.strict
        return [finding.films, finding.wins, finding.losses, code]

    margins = {one.margin.value for one in certificate.aspects if one.margin is not None}
    body: dict[str, Any] = {
        "operators": {
            each.name: answers(each.finding) for each in certificate.operators if each.finding.films
        },
        "placebos": {
            each.name: answers(each.finding)
            for each in certificate.placebos
            if each.finding is not None and each.finding.films
        },
    }
    if margins:
        body["margin"] = float(f"{max(margins):.4g}")
    if cost is not None:
        body["cost"] = float(f"{cost:.2g}")
    return body


def evidence_of(results: Results) -> dict[str, Evidence]:
    """Return what is known of each value of a run: a user's certificate before the package's."""
    first: dict[str, Value] = {}
    for value in results.values:
        if value.signature:  # else made by another tool
            first.setdefault(value.name, value)
    own = {folder: _read(folder) for folder in results.certified}
    known = {}
    for name, value in first.items():
        about = {folder: certificates_of(name, own[folder], results.names) for folder in own}
        pairs = [(folder, one) for folder, listed in about.items() for one in listed]
        known[name] = _of(value, [pair for pair in pairs if not pair[1].people])
    return known


def _read(folder: str) -> list[Certificate]:
    with RunReader(Path(folder)) as run:
        return read_certificates(run)


def _of(value: Value, certificates: Sequence[tuple[str, Certificate]]) -> Evidence:
    shipped = measured().get(settings_key(value))
    for folder, certificate in certificates:
        if not is_of_other_settings(certificate, value.signature):
            mine = read_entry(value.name, entry(certificate), folder)
            return replace(mine, cost=shipped.cost if shipped else None)
    if shipped is not None:
        return shipped
    spec, output = split_value_name(value.name)
    like = (spec.partition(":")[0], output)
    other = certificates or like in {split_value_name(one.value) for one in measured().values()}
    return Evidence(value.name, Standing.OTHER_VERSION if other else Standing.NONE)


@cache
def agreements() -> Sequence[Mapping[str, Any]]:
    """Return released scores beside people's votes on pairs: ``right`` is the share of pairs on
    which the score agrees with people, ``in_place`` that with all raters but one, and ``person``
    that of the one; None where a release has no single raters."""
    text = files("screentest").joinpath(FOLDER, PEOPLE).read_text(encoding="utf-8")
    listed: Any = json.loads(text)
    return [dict(zip(listed["columns"], row, strict=True)) for row in listed["rows"]]


def people_of(name: str) -> list[Mapping[str, Any]]:
    """Return the agreement of released scores of a name with people.

    >>> [each["score"] for each in people_of("umtscore")][:1]
    ['UMTScore']
    """
    plain = _letters(name.partition(":")[0])
    return [each for each in agreements() if _letters(each["score"]) == plain]


def _letters(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def values_named(name: str) -> list[Evidence]:
    """Return the evidence of all values of a metric, or of one value, in all its settings."""
    return [
        one
        for one in measured().values()
        if name in ("", one.value, split_value_name(one.value)[0].partition(":")[0])
    ]


def is_current(one: Evidence) -> bool:
    """Tell whether a value is still registered in the version that was measured."""
    metric = split_value_name(one.value)[0].partition(":")[0]
    try:
        version = registry.entry("metric", metric).version
    except UserError:
        return False
    return one.settings.get("version") == str(version)
