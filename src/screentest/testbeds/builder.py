"""The builder: a corpus in, a testbed out.

First every source is given what it lacks, then it is normalised, then every operator makes
its copies; all in worker processes. What is finished stays finished: the same call again goes
on where the last one was, and a file that is gone or was changed is made anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from screentest._util import VERSION
from screentest.core import Aspect, BadOption, Failure, Item, Outcome, Progress, to_json
from screentest.core.aspects import PairKind
from screentest.core.signature import parse
from screentest.models import Models
from screentest.run.engine import LocalEngine
from screentest.run.inputs import hash_parts
from screentest.run.records import RecordKey
from screentest.run.session import Settings
from screentest.run.store import RunStore
from screentest.run.tasks import Engine, Task
from screentest.testbeds.captions.facts import CaptionFacts
from screentest.testbeds.catalogue import left_out
from screentest.testbeds.chat import caption_signature, facts_signature
from screentest.testbeds.faults import Fault
from screentest.testbeds.intact import Intact, IntactTask, make_intact
from screentest.testbeds.options import BuildOptions, Rung
from screentest.testbeds.page import write_page
from screentest.testbeds.pairs import PairTask, make_pairs
from screentest.testbeds.prepare import BuildRun, prepare, source_task
from screentest.testbeds.sources import (
    BuildSource,
    Change,
    Extractor,
    by_rules,
    changes,
    film_signature,
    roles_of,
    sources_of,
)
from screentest.testbeds.testbed import SCHEMA, Pair, Skip, Testbed, portable, write_testbed
from screentest.video.limits import DEFAULT_LIMITS, Limits

NOTHING: Mapping[str, Failure] = {}
RUN = "run"
"""The folder of the run, in that of the testbed."""


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What one call of ``build`` did: the testbed, and how much of it was made or reused."""

    testbed: Testbed
    reused: int
    """Records that were there already: intact videos, pairs, answers of models."""
    made: int
    exit_code: int = 0
    """Above zero where a signal stopped it."""
    changed: int = 0
    """Records thrown away since their source changed while it was read."""
    remarks: tuple[Fault, ...] = ()
    """What the user should know: pictures left out, sources with faults."""


def build_testbed(
    items: Sequence[Item],
    out: Path,
    options: BuildOptions | None = None,
    *,
    extractor: Extractor | None = None,
    chat: Settings | None = None,
    categories: Sequence[str] = (),
    max_cost: Decimal | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
    lost: Mapping[str, Failure] = NOTHING,
    limits: Limits = DEFAULT_LIMITS,
    retry: str = "transient",
) -> BuildResult:
    """Build the testbed of ``items`` in the folder ``out``, or go on with it.

    With ``chat``, films without captions are captioned; with ``options.extract`` "chat" it also
    reads all captions, and with ``categories`` it sorts sources that have no category. ``lost``
    are sources that failed before they came here; they are counted as skipped. testbed.json
    lists what there is when this returns, also after an interruption.
    """
    options = options or BuildOptions()
    reader, name = _reader(options, extractor, chat)
    if categories and chat is None:
        raise BadOption(
            "categories are chosen by a chat model, and there is none",
            advice="Give `model=chat=openai:NAME`, or put the category into the manifest's groups.",
        )
    out = out.absolute()
    plan = changes(options, name)
    arguments = {"options": to_json(options), "captions": name}
    with RunStore(
        out / RUN, command="build", arguments=arguments, max_cost=max_cost, retry=retry
    ) as store:
        run = BuildRun(store, out, engine or LocalEngine(), progress)
        sources = sources_of(items, lost, out, limits)
        prepare(sources, run, reader, chat, categories, options.detector)
        run.execute(_intact_tasks(sources, plan, options, out), "normalising")
        for source in sources:
            if source.usable:
                source.film = run.value(source.intact_key, Intact)
            elif source.lost is not None:
                source.film = Outcome(failure=source.lost)
        run.execute(_pair_tasks(sources, plan, options, out), "degrading")
        testbed = _listed(sources, plan, _recipe(options, name, chat), options.seed, run)
        testbed = portable(testbed, [out, *_places(sources, options)])
        write_testbed(out, testbed)
        write_page(out, testbed)
    done = run.executions
    return BuildResult(
        testbed,
        reused=sum(execution.reused for execution in done),
        made=sum(execution.made for execution in done),
        exit_code=max((execution.exit_code for execution in done), default=0),
        changed=sum(execution.changed for execution in done),
        remarks=tuple(_remarks(sources, plan, options, testbed)),
    )


def _reader(
    options: BuildOptions, extractor: Extractor | None, chat: Settings | None
) -> tuple[Extractor | None, str]:
    """Return the reader of captions in this process, None for a chat model; and its name."""
    if extractor is None and options.extract == "chat":
        if chat is None:
            raise BadOption(
                "captions are to be read by a chat model, and there is none",
                advice="Give `model=chat=openai:NAME`, or leave `extract` out.",
            )
        return None, str(facts_signature(chat))
    reader = extractor or by_rules()
    return reader, reader.name


def _remarks(
    sources: Sequence[BuildSource], plan: Sequence[Change], options: BuildOptions, testbed: Testbed
) -> Iterable[Fault]:
    others = left_out(options.degradations)
    if others:
        yield Fault.of("plugins", names=tuple(others))
    for remark in dict.fromkeys(remark for change in plan for remark in change.remarks):
        yield Fault.of("error", error=remark)
    for source in sources:
        for error in source.faults:
            yield Fault.of("of_source", name=source.item.id, error=error)
    kept = [pair for pair in testbed.pairs if pair.faults]
    if kept:
        aspects = sorted({pair.aspect.value for pair in kept if pair.aspect is not None})
        total = sum(pair.kind is PairKind.DEGRADATION for pair in testbed.pairs)
        yield Fault.of("kept", count=len(kept), total=total, names=tuple(aspects))
    silent = tuple(
        source.item.id
        for source in sources
        if source.usable and source.clips and not any(clip.caption.strip() for clip in source.clips)
    )
    if silent:
        yield Fault.of("no_captions", names=silent)


def _intact_tasks(
    sources: Iterable[BuildSource], plan: Sequence[Change], options: BuildOptions, out: Path
) -> list[Task]:
    others = sorted({change.side or 0 for change in plan} - {options.long_side or 0})
    sides = (options.long_side, *others)
    signature = str(film_signature(options, *sides))
    tasks = []
    for source in sources:
        if not source.usable:
            continue
        source.intact_key = RecordKey(
            source.item.id, "intact", signature=signature, inputs=source.inputs
        )
        payload = IntactTask(source.item, out, options, sides)
        tasks.append(source_task(source, make_intact, payload, source.intact_key))
    return tasks


def _pair_tasks(
    sources: Iterable[BuildSource], plan: Sequence[Change], options: BuildOptions, out: Path
) -> list[Task]:
    tasks = []
    for source in sources:
        if source.film is None or source.film.value is None:
            continue
        film = source.film.value
        facts = to_json(source.facts, tuple[CaptionFacts | None, ...])
        for change in plan:
            # A film made anew with other bytes would make other copies.
            inputs = {"item": source.inputs, "captions": facts, "files": change.inputs}
            digest = hash_parts(inputs)
            rungs: dict[RecordKey, Rung | None] = {}
            for rung, signature in change.rungs:
                key = RecordKey(
                    source.item.id,
                    change.name,
                    change.aspect,
                    signature=str(signature),
                    inputs=digest,
                )
                source.keys[change.name, rung] = key
                rungs[key] = rung
            payload = PairTask(
                source.item,
                source.facts,
                out,
                film.by_side[str(change.side)],
                change.kind,
                change.spec,
                rungs,
                options,
            )
            tasks.append(source_task(source, make_pairs, payload, *rungs))
    return tasks


def _listed(
    sources: Sequence[BuildSource],
    plan: Sequence[Change],
    recipe: Mapping[str, str],
    seed: int,
    run: BuildRun,
) -> Testbed:
    pairs: list[Pair] = []
    skips: list[Skip] = []
    pending = 0
    for source in sources:
        for change in plan:
            for rung, _ in change.rungs:
                outcome: Outcome[Pair] | None = None
                if source.film is not None and source.film.failure is not None:
                    outcome = Outcome(failure=source.film.failure)
                elif (change.name, rung) in source.keys:
                    outcome = run.value(source.keys[change.name, rung], Pair)
                if outcome is None:
                    pending += 1
                elif outcome.failure is not None:
                    skips.append(_skip(source, change, rung, outcome.failure))
                else:
                    pairs.append(outcome.unwrap())
    # Groups and place are those of today; a record may be older.
    films = [
        replace(
            source.film.unwrap().source,
            groups=source.item.groups,
            video=source.item.video.name,
            unread=source.unread,
            faults=(*source.film.unwrap().source.faults, *source.faults),
        )
        for source in sources
        if source.film is not None and source.film.ok
    ]
    return Testbed(
        schema=SCHEMA,
        screentest=VERSION,
        seed=seed,
        recipe=recipe,
        sources=tuple(films),
        pairs=tuple(pairs),
        skips=tuple(skips),
        pending=pending,
    )


def _places(sources: Sequence[BuildSource], options: BuildOptions) -> Iterator[Path]:
    """Yield every place that a build may mention: sources, files of operators, models."""
    yield from (source.item.video for source in sources)
    given: list[object] = []
    for spec in (*options.degradations, *options.placebos):
        given += parse(spec)[1].values()
    for choice in options.models:
        given += [choice.model, *choice.options.values()]
    for value in given:
        if isinstance(value, str) and Path(value).expanduser().is_absolute():
            yield from {Path(value), Path(value).expanduser()}


def _skip(source: BuildSource, change: Change, rung: Rung | None, failure: Failure) -> Skip:
    return Skip(
        source=source.item.id,
        kind=change.kind,
        name=change.name,
        failure=failure,
        aspect=Aspect(change.aspect) if change.aspect else None,
        operator_set=change.operator_set,
        severity=rung.severity if rung else None,
        clips=rung.clips if rung else None,
    )


def _recipe(options: BuildOptions, extractor: str, chat: Settings | None) -> Mapping[str, str]:
    """Return the options, in the words of the command line; and whole, to build it again."""
    return {
        "operators": " ".join(options.degradations),
        "placebos": " ".join(options.placebos),
        "clips": ",".join(str(count) for count in options.clips),
        "least": str(options.least_clips or ""),
        "severities": ",".join(f"{severity:g}" for severity in options.severities),
        "film": str(film_signature(options, options.long_side)),
        "captions": extractor,
        "captioner": str(caption_signature(chat)) if chat is not None else "",
        "models": Models(options.models).summary(roles_of(options)),
        "options": to_json(options),
    }
