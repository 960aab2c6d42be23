"""Contracts, checked: what every metric, judge, degradation and backend keeps to.

    from screentest.testing import check_metric

    def test_saturation():
        check_metric("saturation")

Each check raises :class:`BrokenContract` with all that it found. They run on small films that
are black, tiny, of one frame, of noise; without a network and, unless a chat server is named in
``models``, without a model.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from screentest.api.testbeds import build as build_bed
from screentest.core.aspects import Aspect
from screentest.core.errors import BadOption, NoValue
from screentest.core.item import Item, Shot
from screentest.core.metric import MetricInfo
from screentest.core.outcome import Outcome, Reason, Score
from screentest.core.registry import build
from screentest.core.verdict import Choice, Verdict
from screentest.judges.cases import Case, Order
from screentest.judges.verdicts import judge_of, judge_pairs
from screentest.measure.evaluators import Evaluator, resolve, sign
from screentest.measure.items import measure
from screentest.measure.tasks import score_items
from screentest.present.results import BuiltTestbed
from screentest.run.engine import InlineEngine, LocalEngine
from screentest.run.session import Session, Settings, Tools, close_tools, settings_of
from screentest.run.store import RunStore
from screentest.run.tasks import Engine
from screentest.testbeds.catalogue import OperatorSet
from screentest.testing.films import captioned_film, hard_films, item_of, pictures_of, texture
from screentest.video.scan import scan

FAULTS = frozenset({Reason.CRASHED, Reason.DECODER_CRASHED, Reason.TIMED_OUT})
"""Reasons that say something of the metric, not of the film."""
_ROUNDING = 1e-6

Outcomes: TypeAlias = Mapping[tuple[str, str, str], Outcome[Score]]
"""Outcomes by metric, item and output."""


class BrokenContract(AssertionError):
    """What does not keep to its contract, one line each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(
            "\n".join(["the contract is broken:", *(f"- {problem}" for problem in problems)])
        )
        self.problems = tuple(problems)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect problems; raises where there are any in the end."""
    problems: list[str] = []
    yield problems
    if problems:
        raise BrokenContract(list(dict.fromkeys(problems)))


def must_name(specs: Sequence[str]) -> None:
    """Raise where nothing is named: that is not a success."""
    if not specs:
        raise BadOption("there is nothing to check", advice="Name at least one.")


def check_metric(
    *specs: str,
    models: Sequence[str] = (),
    settings: Settings | None = None,
    items: Sequence[Item] = (),
) -> None:
    """Check metrics, all in one go: ``name``, or ``name:option=value,…``.

    On every film each output has a value in its declared range, or a typed reason that is not a
    crash. The numbers are the same twice, in any order of films, beside other metrics or alone,
    and by two worker processes. All that they rest on is declared, and so in the signature.
    ``items`` are films of your own, besides ours.
    """
    must_name(specs)
    chosen = settings or settings_of({"models": models})
    with collected() as problems, tempfile.TemporaryDirectory() as folder:
        metrics = [resolve(spec) for spec in dict.fromkeys(specs)]
        films = [*hard_films(Path(folder)), *items]
        for metric in metrics:
            problems += _declarations(metric)
            problems += _signature(metric, chosen)
        together = _measured(metrics, films, chosen, problems)
        for (spec, item, output), outcome in together.items():
            info = next(metric.info for metric in metrics if metric.name == spec)
            assert isinstance(info, MetricInfo)
            problems += _value(f"{spec} on {item}", output, outcome, info)
        for metric in metrics:
            alone = _measured([metric], films[::-1], chosen, problems)
            problems += _differences("alone, in another order of films,", alone, together)
        scored = _by_workers(metrics, films, chosen, Path(folder) / "run")
        problems += _differences("by two workers", scored, together)


def _declarations(metric: Evaluator) -> Iterator[str]:
    info = metric.info
    assert isinstance(info, MetricInfo)
    if not info.outputs:
        yield f"{metric.name} declares no outputs"
    for name, output in info.outputs.items():
        if not output.low < output.high:
            yield f"{metric.name}, output {name}: the range [{output.low}, {output.high}] is empty"
        if not output.summary:
            yield f"{metric.name}, output {name}: there is no summary"


def _signature(metric: Evaluator, settings: Settings) -> Iterator[str]:
    """Version and options are in it; so are shots, templates and models, where declared."""
    tools = Tools(settings)
    parts = dict(sign(metric, tools).signature.parts)
    tools.models.close()
    wanted = {"v", "screentest", "decoder", *(f"model.{role}" for role in metric.info.roles)}
    wanted |= {key for key, _ in metric.spec.options if key not in metric.spec.neutral}
    for missing in sorted(wanted - parts.keys()):
        yield f"{metric.name}: {missing} is not in the signature"


class _Watched(Tools):
    """Tools that note what was used of them."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.roles: set[str] = set()
        self.shots_of: set[Path] = set()

    def role(self, name: str) -> Any:
        self.roles.add(name)
        return super().role(name)

    def shots(self, video: Path, detector: str = "") -> Sequence[Shot]:
        if not detector:  # who names a detector has it among its options
            self.shots_of.add(video)
        return super().shots(video, detector)


def _measured(
    metrics: Sequence[Evaluator], films: Sequence[Item], settings: Settings, problems: list[str]
) -> Outcomes:
    by_key: dict[tuple[str, str, str], Outcome[Score]] = {}
    tools = _Watched(settings)
    try:
        for film in films:
            # Built anew for each film, as a worker may: nothing is carried from one to the next.
            made = {metric.name: resolve(metric.name).metric for metric in metrics}
            for spec, outcomes in measure(film, made, tools).items():
                by_key |= {(spec, film.id, name): value for name, value in outcomes.items()}
    finally:
        tools.models.close()
    if len(metrics) == 1:
        metric, info = metrics[0], metrics[0].info
        for role in sorted(tools.roles - set(info.roles)):
            problems.append(f"{metric.name} asks the role {role} and does not declare it")
        if tools.shots_of and not info.shots:
            problems.append(f"{metric.name} looks at shots and does not declare it")
    return by_key


def _value(where: str, output: str, outcome: Outcome[Score], info: MetricInfo) -> Iterator[str]:
    if outcome.failure is not None:
        if outcome.failure.reason in FAULTS:
            yield f"{where}, output {output}: {outcome.failure}"
        return
    score, declared = outcome.unwrap(), info.outputs[output]
    reach = _ROUNDING * max(1.0, abs(score.value))
    inside = declared.low - reach <= score.value <= declared.high + reach
    if declared.bounded and not inside:
        yield (
            f"{where}, output {output}: {score.value:g} is not in"
            f" [{declared.low:g}, {declared.high:g}]"
        )
    if any(after.span.start < point.span.start for point, after in pairwise(score.curve)):
        yield f"{where}, output {output}: the curve is not in the order of time"


def _differences(how: str, outcomes: Outcomes, wanted: Outcomes) -> Iterator[str]:
    for key, outcome in outcomes.items():
        other = wanted[key]
        if _plain(outcome) != _plain(other):
            spec, item, output = key
            yield f"{spec} on {item}, output {output}: {how} {_short(outcome)}, not {_short(other)}"


def _plain(outcome: Outcome[Any]) -> Any:
    return outcome.failure.reason if outcome.failure is not None else outcome.value


def _short(outcome: Outcome[Any]) -> str:
    value = outcome.value
    number = value.value if isinstance(value, Score) else value
    return str(outcome.failure) if outcome.failure is not None else repr(number)


def _by_workers(
    metrics: Sequence[Evaluator], films: Sequence[Item], settings: Settings, folder: Path
) -> Outcomes:
    by_key: dict[tuple[str, str, str], Outcome[Score]] = {}
    with RunStore(folder, command="score") as store:
        specs = [metric.name for metric in metrics]
        score_items(store, films, specs, settings, engine=LocalEngine(workers=2))
        for record in store.records():
            outcomes: Mapping[str, Any] = record.outcomes
            for name, outcome in outcomes.items():
                by_key[record.key.evaluator, record.key.item, name] = outcome
    return by_key


def check_judge(
    *specs: str,
    models: Sequence[str] = (),
    settings: Settings | None = None,
    aspects: Sequence[str] = ("aesthetics", "technical_quality", "temporal_flow"),
    items: Sequence[Item] = (),
) -> None:
    """Check judges (or metrics, as judges) on pairs of small films, in both orders.

    There is a verdict or a typed reason for each, the same twice and by two workers. A judge
    that asks no chat model prefers the same video in either order, and neither of two that are
    the same.
    """
    must_name(specs)
    chosen = settings or settings_of({"models": models})
    with collected() as problems, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pairs = _pairs(folder, items)
        cases = [
            Case(case, Aspect(aspect), first.text, first, second)
            for case, (first, second) in pairs.items()
            for aspect in aspects
        ]
        once = _verdicts(specs, cases, chosen, folder / "inline", InlineEngine())
        again = _verdicts(specs, cases, chosen, folder / "workers", LocalEngine(workers=2))
        for spec in specs:
            problems += _verdict_problems(spec, cases, once[spec], again[spec])
        close_tools()


def _pairs(folder: Path, items: Sequence[Item]) -> dict[str, tuple[Item, Item]]:
    films = {film.id: film for film in hard_films(folder)}
    dim = [(picture * 0.4).astype(np.uint8) for picture in pictures_of(films["two_shots"].video)]
    darker = item_of(folder, "darker", dim)
    pairs = {
        "darker": (films["two_shots"], darker),
        "same": (
            films["two_shots"],
            item_of(folder, "again", pictures_of(films["two_shots"].video)),
        ),
        "black": (films["two_shots"], films["black"]),
        "short": (films["one_frame"], films["tiny"]),
    }
    return pairs | {f"yours_{number}": pair for number, pair in enumerate(pairwise(items))}


Verdicts: TypeAlias = Mapping[tuple[str, str, str], Outcome[Verdict]]
"""By case, aspect and order."""


def _verdicts(
    specs: Sequence[str], cases: Sequence[Case], settings: Settings, folder: Path, engine: Engine
) -> dict[str, Verdicts]:
    by_spec: dict[str, dict[tuple[str, str, str], Outcome[Verdict]]] = {spec: {} for spec in specs}
    with RunStore(folder, command="judge") as store:
        judge_pairs(Session(store, settings, engine), lambda _: cases, specs)
        for record in store.records():
            key = record.key
            if key.aspect:
                outcome: Any = record.outcomes[key.evaluator]
                by_spec[key.evaluator][key.item, key.aspect, key.order] = outcome
    return dict(by_spec)


def _verdict_problems(
    spec: str, cases: Sequence[Case], once: Verdicts, again: Verdicts
) -> Iterator[str]:
    asks = any(role.partition(".")[0] == "chat" for role in judge_of(spec).info.roles)
    for case in cases:
        where = f"{spec} on {case.id} in {case.aspect.value}"
        keys = [(case.id, case.aspect.value, order.value) for order in Order]
        for key in keys:
            if key not in once or key not in again:
                yield f"{where}: there is neither verdict nor reason"
                return
            failure = once[key].failure
            if failure is not None and failure.reason in FAULTS:
                yield f"{where}: {failure}"
            if _plain(once[key]) != _plain(again[key]):
                yield f"{where}: by two workers another verdict"
        given, swapped = (once[key].value for key in keys)
        if asks or given is None or swapped is None:
            continue
        if given.choice is not swapped.choice.flipped:
            yield f"{where}: {given.choice} as given, {swapped.choice} in the other order"
        if case.id == "same" and given.choice is not Choice.TIE:
            yield f"{where}: of two equal videos it prefers the {given.choice}"


_SAMPLE_CALLS: Mapping[str, Callable[[Any], Any]] = {
    "text_embedding": lambda model: model.embed(["A dog runs.", "A cat sleeps."]),
    "image_text": lambda model: (
        model.embed_images([texture(1), texture(2)]),
        model.embed_texts(["A dog runs."]),
        model.count_tokens("A dog runs."),
    ),
    "image_features": lambda model: model.features([texture(1), texture(2)]),
    "flow": lambda model: model.flow([(texture(1), texture(1))]),
    "interpolation": lambda model: model.midpoint([(texture(1), texture(2))]),
    "aesthetic": lambda model: model.score([texture(1), texture(2)]),
    "technical": lambda model: model.score([texture(1), texture(1)]),
    "videoscore": lambda model: model.score([texture(1), texture(2)], "A dog runs."),
    "matting": lambda model: model.matte([texture(1)]),
    "detection": lambda model: model.detect(texture(1), ["dog"]),
    "segmentation": lambda model: model.segment(texture(1), [(10.0, 10.0, 60.0, 60.0)]),
    "inpainting": lambda model: model.inpaint(texture(1), np.zeros((96, 128), np.float32)),
    "image_edit": lambda model: model.recolour(
        texture(1), np.ones((96, 128), np.float32), "car", "red"
    ),
}


def check_backend(role: str, spec: str, call: Callable[[Any], Any] | None = None) -> None:
    """Check a backend of a role: it says what it is, and answers the same twice, finitely.

    ``call`` asks it something; the roles of screentest have a call of ours. A backend that
    is not available here raises NoValue with its reason, which keeps to the contract.
    """
    ask = call or _SAMPLE_CALLS.get(role)
    with collected() as problems:
        try:
            built, other = build(role, spec), build(role, spec)
            identity = built.thing.identity
            answers = [ask(backend.thing) for backend in (built, other, built)] if ask else []
        except NoValue:
            return
        if not isinstance(identity, Mapping) or not all(
            isinstance(text, str) for pair in identity.items() for text in pair
        ):
            problems.append(f"{role}={spec}: identity is not a mapping of text to text")
        arrays = [_arrays(answer) for answer in answers]
        if any(not _equal(arrays[0], more) for more in arrays[1:]):
            problems.append(f"{role}={spec}: the same question has another answer")
        if any(not np.isfinite(array).all() for array in arrays[0] if array.dtype.kind == "f"):
            problems.append(f"{role}={spec}: an answer is not finite")


def _arrays(answer: Any) -> list[Any]:
    """All numbers in an answer, flat."""
    if isinstance(answer, Mapping):
        return [array for key in sorted(answer) for array in _arrays(answer[key])]
    if isinstance(answer, list | tuple):
        return [array for part in answer for array in _arrays(part)]
    if isinstance(answer, int | float | np.ndarray | np.generic):
        return [np.asarray(answer)]
    return [np.asarray(str(answer))]


def _equal(left: Sequence[Any], right: Sequence[Any]) -> bool:
    return len(left) == len(right) and all(
        a.shape == b.shape
        and (np.array_equal(a, b) if a.dtype.kind != "f" else np.allclose(a, b, atol=1e-6))
        for a, b in zip(left, right, strict=True)
    )


def check_degradation(*specs: str, models: Sequence[str] = (), items: Sequence[Item] = ()) -> None:
    """Check degradations on a small captioned film, at half and at full severity.

    Every changed copy decodes to as many frames as it says, and the frames of clips that were
    not chosen stay as they are. Full severity changes something, and no less than half of it.
    Built twice, once by two workers, it is the same to the byte. Where no clip can be harmed
    there is a typed reason.
    """
    for names in _rounds(specs):
        _check_build("degradation", names, models, items)


def check_placebo(*specs: str, models: Sequence[str] = (), items: Sequence[Item] = ()) -> None:
    """Check placebos: every copy decodes, and building again gives the same bytes."""
    for names in _rounds(specs):
        _check_build("placebo", names, models, items)


def _rounds(specs: Sequence[str]) -> list[list[str]]:
    """Group specs so that a testbed has each name once."""
    must_name(specs)
    rounds: list[dict[str, str]] = []
    for spec in specs:
        name = spec.partition(":")[0]
        free = next((names for names in rounds if name not in names), None)
        if free is None:
            rounds.append(free := {})
        free[name] = spec
    return [list(names.values()) for names in rounds]


def _check_build(
    kind: str, specs: Sequence[str], models: Sequence[str], items: Sequence[Item]
) -> None:
    with collected() as problems, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        films = [captioned_film(folder), *items]

        def made(how: str, **engine: Any) -> BuiltTestbed:
            wanted: dict[str, Any] = {"operators": specs} if kind == "degradation" else {}
            if kind == "placebo":
                wanted = {"operators": ["aesthetics"], "placebos": specs}
            return build_bed(
                films,
                out=folder / how,
                clips=2,
                min_clips=1,
                severities=(0.5, 1.0),
                long_side=None,
                models=models,
                **wanted,
                **engine,
            )

        once, again = made("inline", engine=InlineEngine()), made("workers", workers=2)
        hashes = [
            {(p.source, p.name, p.severity): p.changed.sha256 for p in bed.testbed.pairs}
            for bed in (once, again)
        ]
        if hashes[0] != hashes[1]:
            named = sorted({key[1] for key in hashes[0] if hashes[0][key] != hashes[1].get(key)})
            problems.append(f"{', '.join(named)}: built again, the files differ")
        names = [spec.partition(":")[0] for spec in specs]
        for skip in once.testbed.skips:
            if skip.failure.reason in FAULTS:
                problems.append(f"{skip.name}: {skip.failure}")
            elif (
                skip.operator_set is OperatorSet.PLUGIN and skip.failure.reason is Reason.NO_CHANGE
            ):
                problems.append(f"{skip.name}: full severity changes nothing ({skip.failure})")
            elif skip.failure.reason is Reason.HARMS_LESS:
                problems.append(f"{skip.name}: {skip.failure.detail}")
        handled = {pair.name for pair in once.testbed.pairs}
        handled |= {skip.name for skip in once.testbed.skips}
        for operator in names:
            if operator not in handled:
                problems.append(f"{operator}: there is neither pair nor reason")
            problems += _pair_problems(once, operator)


def _pair_problems(bed: BuiltTestbed, name: str) -> Iterator[str]:
    harms: dict[str, list[tuple[float, float]]] = {}
    for pair in (pair for pair in bed.testbed.pairs if pair.name == name):
        report = scan(bed.folder / pair.changed.path, [])
        if report.decoded != pair.changed.frames or not report.complete:
            yield f"{name}: {report.decoded} frames decode, {pair.changed.frames} are recorded"
            continue
        if pair.severity is None:
            continue
        intact, changed = (
            pictures_of(bed.folder / path) for path in (pair.intact, pair.changed.path)
        )
        again = any(
            clip.degraded and clip.degraded.duration > clip.intact.duration for clip in pair.touched
        )
        if len(intact) < len(changed) and not again:
            yield f"{name}: {len(changed)} frames of {len(intact)}"
        elif len(intact) == len(changed):
            apart = [
                np.abs(before - after)
                for before, after in zip(_floats(intact), _floats(changed), strict=True)
            ]
            harms.setdefault(pair.source, []).append((pair.severity, float(np.mean(apart))))
    for rungs in harms.values():
        listed = [harm for _, harm in sorted(rungs)]
        if listed[-1] == 0:
            yield f"{name}: full severity changes nothing"
        if any(after < 0.95 * before for before, after in pairwise(listed)):
            yield f"{name}: more severity harms less ({', '.join(map('{:.2f}'.format, listed))})"


def _floats(pictures: Sequence[Any]) -> Iterator[Any]:
    return (picture.astype(np.float32) for picture in pictures)
