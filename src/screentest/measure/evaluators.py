"""Evaluators: a metric or judge by name, with the signature of all its numbers depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from screentest._util import VERSION
from screentest.core.errors import BadOption, NoValue, UnknownName
from screentest.core.metric import Judge, JudgeInfo, Metric, MetricInfo, RatingJudge
from screentest.core.outcome import Json
from screentest.core.registry import Spec, build, registry, suggest
from screentest.core.signature import Signature, parse, split_model
from screentest.models.choice import chat_models
from screentest.models.roles import CHAT
from screentest.run.notes import EvaluatorNote
from screentest.run.session import Settings, Tools
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
    def answers(self) -> str:
        """The chat role that answers for it, the last that it asks; empty where it asks none."""
        return next((one for one in reversed(self.info.roles) if one.split(".")[0] == CHAT), "")

    def settings(self, given: Settings) -> Settings:
        """Return settings with the one chat model that its name has, where it has one."""
        model = split_model(self.name)[1] if self.kind == "judge" else ""
        if not model:
            return given
        models = chat_models(given.models, self.answers)
        if model not in models:
            raise BadOption(
                f"no chat model {model!r} answers for {self.name}",
                advice=f"Chosen: {', '.join(models) or 'none'}. Give `model=chat=openai:{model}`.",
            )
        return replace(given, models=models[model])

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
    built = build(kind, split_model(name)[0] if kind == "judge" else name)
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
