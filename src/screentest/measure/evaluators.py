"""Evaluators: a metric or judge by name, with the signature of all its numbers depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from screentest._util import VERSION
from screentest.core.errors import NoValue, UnknownName
from screentest.core.metric import Judge, JudgeInfo, Metric, MetricInfo, RatingJudge
from screentest.core.outcome import Json
from screentest.core.registry import Spec, build, registry, suggest
from screentest.core.signature import Signature, parse
from screentest.run.notes import EvaluatorNote
from screentest.run.session import Tools
from screentest.video.probe import decoder_version


@dataclass(frozen=True, slots=True)
class Evaluator:
    """A metric or a judge, built from its spec."""

    kind: str
    """``metric`` or ``judge``."""
    name: str
    """The spec as it was asked for: its name in records, and what builds it in a worker."""
    spec: Spec
    thing: Any
    signature: Signature
    """What its numbers depend on: by itself and its options alone until ``sign`` adds the rest."""

    @property
    def info(self) -> MetricInfo | JudgeInfo:
        info: MetricInfo | JudgeInfo = self.thing.info
        return info

    @property
    def metric(self) -> Metric:
        assert isinstance(self.thing, Metric)
        return self.thing

    @property
    def judge(self) -> Judge | RatingJudge:
        assert isinstance(self.thing, Judge | RatingJudge)
        return self.thing

    @property
    def note(self) -> EvaluatorNote:
        info = self.info
        options = {key: str(value) for key, value in self.spec.options}
        if isinstance(info, MetricInfo):
            return EvaluatorNote.of_metric(self.name, str(self.signature), info, options)
        about: dict[str, Json] = {
            "summary": info.summary,
            "roles": list(info.roles),
            "reads_text": info.reads_text,
            "options": dict(options),
        }
        return EvaluatorNote(self.name, self.kind, str(self.signature), about)


def resolve(name: str, kind: str = "metric") -> Evaluator:
    """Build a metric or judge by its spec: ``name`` or ``name:option=value,…``."""
    built = build(kind, name)
    return Evaluator(kind, name, built.spec, built.thing, built.spec.signature)


def known(text: str) -> str:
    """Return ``judge`` or ``metric``, whichever ``text`` names; raise UnknownName if neither."""
    name, _ = parse(text)
    for kind in ("judge", "metric"):
        if registry.has(kind, name):
            return kind
    names = dict.fromkeys(registry.names("judge") + registry.names("metric"))
    raise UnknownName(f"there is no judge and no metric {name!r}", advice=suggest(name, names))


def sign(evaluator: Evaluator, tools: Tools) -> Evaluator:
    """Add the full signature: implementation, options, decoder, detector, models, templates.

    A role whose model is missing is signed as missing: the record has the reason.
    """
    info = evaluator.info
    parts: dict[str, object] = {"screentest": VERSION, "decoder": decoder_version()}
    if info.shots:
        parts["shots"] = tools.detector_signature
    if info.prompts:
        parts["prompts"] = tools.prompts.digest(*info.prompts)
    for role in info.roles:
        try:
            parts[f"model.{role}"] = tools.models.signature(role)
        except NoValue as missing:
            parts[f"model.{role}"] = missing.failure.reason.value
    if tools.settings.allow_damaged:
        parts["damaged"] = "allowed"
    extra: Mapping[str, object] = getattr(evaluator.thing, "signature_parts", {})
    signature = evaluator.spec.signature.with_parts(parts).with_parts(extra)
    return replace(evaluator, signature=signature)
