"""Scoring items with metrics, into a run: one task per item, one record per metric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from screentest._util.collect import grouped
from screentest.core.calls import Progress, Silent
from screentest.core.errors import BadOption, UserError
from screentest.core.item import Item
from screentest.core.metric import Metric
from screentest.core.outcome import Reason
from screentest.measure.evaluators import Evaluator, resolve, sign
from screentest.measure.items import measure
from screentest.models import Models
from screentest.run.execute import Execution, execute
from screentest.run.inputs import Stamp, hash_item
from screentest.run.notes import MODELS
from screentest.run.reader import RunReader
from screentest.run.records import RecordKey
from screentest.run.session import Settings, Tools, open_tools
from screentest.run.store import RunStore
from screentest.run.tasks import Engine, Job, Task, TaskResults


@dataclass(frozen=True, slots=True)
class ItemTask:
    """What a worker is given."""

    item: Item
    settings: Settings
    batch: str = ""
    """Tasks of the same batch share the metrics that a worker has built."""
    crf: float | None = None
    """Measure a copy that is encoded anew, with this rate factor."""


def measure_item(job: Job) -> TaskResults:
    """Measure one item. Runs in a worker."""
    task: ItemTask = job.payload
    tools = open_tools(task.settings)
    tools.attach(job.ledger)
    keys = {key.evaluator: key for key in job.keys}
    metrics = {spec: _metric(task.batch, spec) for spec in keys}
    with _as_encoded(task) as item:
        outcomes = measure(item, metrics, tools, lambda spec: job.noting(keys[spec]))
    return {key: dict(outcomes[spec]) for spec, key in keys.items()}


@contextmanager
def _as_encoded(task: ItemTask) -> Iterator[Item]:
    if task.crf is None:
        yield task.item
        return
    from screentest.video.edit.encode import EncoderSettings
    from screentest.video.edit.normalize import normalize

    with TemporaryDirectory(prefix="screentest-") as folder:
        copy = Path(folder) / f"{task.item.video.stem}.mp4"
        settings = EncoderSettings(crf=task.crf, preset="veryfast")
        normalize(task.item.video, copy, settings=settings)
        yield replace(task.item, video=copy)


@lru_cache(256)
def _metric(batch: str, spec: str) -> Metric:
    """Build a metric once per batch: what its options name may be another file in the next."""
    return resolve(spec).metric


def signed_metrics(specs: Iterable[str], tools: Tools) -> list[Evaluator]:
    """Metrics with signatures; stops where a chosen profile's weights are not on this machine."""
    return sign_all([resolve(spec) for spec in specs], tools)


def sign_all(evaluators: Iterable[Evaluator], tools: Tools) -> list[Evaluator]:
    """Sign metrics or judges; stops where what they chose cannot be opened."""
    evaluators = list(evaluators)
    tools.models.must_be_here(roles_of(evaluators))
    return [sign(evaluator, tools) for evaluator in evaluators]


def roles_of(evaluators: Iterable[Evaluator]) -> list[str]:
    """List the roles that these metrics or judges ask for."""
    return sorted({role for evaluator in evaluators for role in evaluator.info.roles})


def keep_models(store: RunStore, settings: Settings, evaluators: Iterable[Evaluator]) -> None:
    """Write down which backends a run uses; of judges with chat models of their own, all."""
    lines: list[str] = []
    used: list[tuple[str, str]] = []
    for group in grouped((str(one.settings(settings)), one) for one in evaluators).values():
        models, asked = Models(group[0].settings(settings).models), roles_of(group)
        lines.append(models.summary(asked))
        used += models.used(asked).items()
    roles = {role: ", ".join(dict.fromkeys(names)) for role, names in grouped(used).items()}
    store.keep_note(MODELS, {"summary": "; ".join(filter(None, lines)), "roles": {**roles}})


def score_tasks(
    store: RunStore,
    items: Sequence[Item],
    metrics: Sequence[Evaluator],
    settings: Settings,
    *,
    crf: Mapping[str, float] | None = None,
) -> list[Task]:
    """One task per item with a record for each metric.

    ``crf`` has the rate factor of items that are measured as copies, encoded anew.
    """
    tasks, batch = [], uuid4().hex
    for item in items:
        inputs = hash_item(item, store.inputs.of_file)
        keys = [
            RecordKey(item.id, metric.name, signature=str(metric.signature), inputs=inputs)
            for metric in metrics
        ]
        files = [Stamp.of(path) for path in _files(item)]
        tasks.append(
            Task(
                tuple(keys),
                measure_item,
                ItemTask(item, settings, batch, (crf or {}).get(item.id)),
                timeout=settings.limits.wall_seconds,
                files=tuple(stamp for stamp in files if stamp is not None),
                on_death=Reason.DECODER_CRASHED,
                separable=True,
            )
        )
    return tasks


def score_items(
    store: RunStore,
    items: Sequence[Item],
    metrics: Sequence[str],
    settings: Settings | None = None,
    *,
    engine: Engine | None = None,
    progress: Progress | None = None,
    crf: Mapping[str, float] | None = None,
) -> Execution:
    """Score ``items`` with the metrics of these specs, or go on with it.

    Items with large files come last: their files are read while the others are measured. Items in
    ``crf`` are measured as copies, encoded anew with that rate factor.
    """
    _refuse_twins(items)
    chosen = settings or Settings()
    tools = Tools(chosen)
    with closing(tools.models):
        signed = signed_metrics(metrics, tools)
    store.keep_items(items)
    store.keep_evaluators([metric.note for metric in signed])
    keep_models(store, chosen, signed)
    store.inputs.largest = chosen.limits.file_bytes
    large = {item.id for item in items if any(map(store.inputs.is_large, _files(item)))}
    last = [item for item in items if item.id in large]
    store.inputs.begin(path for item in last for path in _files(item))

    def score(part: Sequence[Item]) -> Execution:
        tasks = score_tasks(store, part, signed, chosen, crf=crf)
        what = "scoring" if crf is None else "re-encoding"
        return execute(store, tasks, engine=engine, progress=progress, what=what)

    done = score([item for item in items if item.id not in large])
    if not last:
        return done
    if done.signal is not None:  # without hashes there are no records to plan: they are counted
        return done + Execution(len(last) * len(signed), reused=0, made=0)
    store.inputs.wait(progress or Silent())
    return done + score(last)


def _files(item: Item) -> list[Path]:
    return [path for path in (item.video, item.source, *item.references) if path]


def _refuse_twins(items: Sequence[Item]) -> None:
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise UserError(f"two items have the id {item.id!r}", advice="Give each its own.")
        seen.add(item.id)


# What a folder holds already: a run is added to or replaced on purpose, never hidden.


def beside_earlier(
    folder: Path, items: Sequence[Item], metrics: Sequence[str], *, add: bool
) -> list[Item]:
    """Return the items for a run that is there; raises where results would be hidden.

    A run shows what its latest start asks for. The same items with the same metrics go on where
    they were, and so do more of either; whatever else it holds would not be seen any more, which
    takes an ``add`` or a ``replace``. With ``add`` another video of the same name is called by its
    folder, too.
    """
    with RunReader(folder) as run:
        earlier = run.items()
        scored = {(key.item, key.evaluator) for key in run.reasons() if not key.aspect}
    if add:
        return [_distinct(item, earlier, items) for item in items]
    ids = {item.id for item in items if not _is_another(item, earlier)}
    unseen = {item: None for item, _ in scored if item not in ids}
    unmeasured = {metric: None for item, metric in scored if metric not in metrics}
    if not unseen and not unmeasured:
        return list(items)
    parts = [_counted(sorted(unseen), "video"), _counted(sorted(unmeasured), "metric")]
    what = " and ".join(part for part in parts if part)
    raise BadOption(
        f"{folder} holds results that would be hidden: {what}",
        advice="`add=True` keeps them beside the new ones, `replace=True` drops them, another `out`"
        " makes another run.",
    )


def _is_another(item: Item, earlier: dict[str, Item]) -> bool:
    """Return True if an earlier item of that id is another file, and not the same, moved."""
    before = earlier.get(item.id)
    if before is None or before.video == item.video.absolute() or not before.video.exists():
        return False
    return not item.video.exists() or not before.video.samefile(item.video)


def _distinct(item: Item, earlier: dict[str, Item], items: Sequence[Item]) -> Item:
    if not _is_another(item, earlier):
        return item
    called = replace(item, id=f"{item.video.absolute().parent.name}/{item.id}")
    taken = any(other.id == called.id for other in items) or _is_another(called, earlier)
    if taken:
        raise BadOption(
            f"the run has another video {item.id!r}, and another {called.id!r}",
            advice="Give them ids in a manifest, or choose another `out`.",
        )
    return called


def _counted(names: Sequence[str], thing: str) -> str:
    """Count names and list the first: ``3 videos (a, b, c)``.

    >>> _counted(["a", "b", "c", "d"], "video"), _counted([], "video")
    ('4 videos (a, b, c …)', '')
    """
    if not names:
        return ""
    few = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
    return f"{len(names):,} {thing}{'' if len(names) == 1 else 's'} ({few})"
