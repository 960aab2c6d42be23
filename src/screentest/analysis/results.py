"""Results: the values of a run, and what they sum up to with coverage beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

from screentest._util.collect import clustered, grouped
from screentest.core import (
    BadOption,
    Item,
    Outcome,
    OutputInfo,
    Reason,
    Score,
    Summary,
    Traits,
    UserError,
    registry,
)
from screentest.core.item import STEP
from screentest.core.signature import (
    backends_in,
    parse,
    split_value_name,
    value_name,
    write_options,
)
from screentest.models.roles import is_stand_in
from screentest.stats import summarise

Pool: TypeAlias = Literal["worst", "mean"]
"""How the shots of a video become its number: by the worst tenth of its time, or by their mean."""
POOLS: tuple[Pool, ...] = ("worst", "mean")
REENCODED = "reencoded"
"""The folder in a run of score that has the numbers of clips of it, encoded anew."""
ORIGINAL = "original"
"""The group of an item that was encoded anew: the id of the item that it was made of."""
RUN = "run"
"""The group that several runs are compared by."""
FOLDER = "folder"
"""The group that every item is in without a manifest: the folder of its video."""


@dataclass(frozen=True, slots=True)
class Value:
    """One output of one metric on one item."""

    item: str
    metric: str
    output: str
    outcome: Outcome[Score]
    signature: str
    elapsed: float = 0.0

    @property
    def name(self) -> str:
        """``metric.output:option=value``, or the spec where the output is named like the metric."""
        return value_name(self.metric, self.output)

    @property
    def number(self) -> float | None:
        return None if self.outcome.value is None else self.outcome.value.value

    def pooled(self, pool: Pool) -> Value:
        """Return this value by the mean over the video, if it has one, or by the worst."""
        score = self.outcome.value
        if pool == "worst" or score is None or not self.pools:
            return self
        mean: Any = score.details["mean"]
        return replace(self, outcome=Outcome.of(replace(score, value=float(mean))))

    def as_whole(self) -> Value:
        """Return this value of the whole video, as that of a clip of one shot is."""
        if not self.pools:
            return self
        score = self.pooled("mean").outcome.unwrap()
        return replace(self, outcome=Outcome.of(replace(score, curve=())))

    @property
    def pools(self) -> bool:
        """Return True where it has a mean over several shots besides its worst tenth.

        Of one shot both are the same number.
        """
        score = self.outcome.value
        return score is not None and len(score.curve) > 1 and "mean" in score.details


@dataclass(frozen=True, slots=True)
class Total:
    """What one output says of many items; the summary is None where nothing was scored."""

    name: str
    info: OutputInfo
    total: int
    summary: Summary | None
    failures: Mapping[Reason, int] = field(default_factory=dict)
    signature: str = ""

    @property
    def scored(self) -> int:
        return self.summary.scored if self.summary else 0


@dataclass(frozen=True, slots=True)
class Margin:
    """The smallest difference that counts in one measure."""

    value: float
    films: int
    """On which it was measured."""
    run: str = ""
    """The run that it was measured in; empty for what comes with the package."""
    own: bool = False
    """It was measured on clips of the run that is compared."""


@dataclass(frozen=True)
class Results:
    """All that a run of metrics holds."""

    items: Mapping[str, Item]
    values: tuple[Value, ...]
    outputs: Mapping[str, OutputInfo]
    """By the name of the value."""
    pending: tuple[tuple[str, str], ...] = ()
    """Item and name of each value that is still to come."""
    suites: tuple[str, ...] = ()
    """The suites that were asked for, by spec."""
    contents: Mapping[str, str] = field(default_factory=dict)
    """By item: the sha256 of its video, where it is known."""
    traits: Mapping[str, Traits] = field(default_factory=dict)
    """By the name of the value: facts for the comparison of models."""
    margins: Mapping[tuple[str, Pool], Margin] = field(default_factory=dict)
    """Measured on clips of this run, by the name of the value."""
    certified: tuple[str, ...] = ()
    """Runs of ``certify`` with evidence of the user's own."""

    @cached_property
    def _by_name(self) -> Mapping[str, list[Value]]:
        return grouped((value.name, value) for value in self.values)

    @cached_property
    def _by_item(self) -> Mapping[str, Mapping[str, Value]]:
        by_item: dict[str, dict[str, Value]] = {}
        for value in self.values:
            by_item.setdefault(value.item, {})[value.name] = value
        return by_item

    def of(self, name: str) -> list[Value]:
        return self._by_name.get(name, [])

    def numbers(self, name: str) -> dict[str, float]:
        """Return the numbers of one value by item, of those that have one."""
        values = self.of(name)
        return {value.item: value.number for value in values if value.number is not None}

    def of_item(self, item: str) -> Mapping[str, Value]:
        return self._by_item.get(item, {})

    @property
    def names(self) -> list[str]:
        """The names of values, in the order the metrics declare them."""
        return list(self.outputs)

    def traits_of(self, name: str) -> Traits:
        """Return the facts of one value for the comparison of models, else the usual ones."""
        return self.traits.get(name, Traits())

    def group(self, item: str, by: str) -> str:
        """Return the group an item is in; empty where it is in none of that kind."""
        listed = self.items.get(item)
        if listed is None:
            return ""
        return listed.groups.get(by, "") or (listed.video.parent.name if by == FOLDER else "")

    @cached_property
    def models_by(self) -> str:
        """By what there is something to compare: ``model``, or the folders that were given.

        Folders count where their videos have neither groups nor prompts of their own, and names
        that come in both. Empty where there is one side only.
        """
        if len({item.groups.get("model", "") for item in self.items.values()} - {""}) > 1:
            return "model"
        return FOLDER if self._paired_by_name else ""

    @cached_property
    def _paired_by_name(self) -> frozenset[str]:
        """File names that several folders or models share, where nothing else pairs them."""
        groups = [item.groups for item in self.items.values()]
        models = all(own_groups.get("model") for own_groups in groups)
        if any("case" in own_groups for own_groups in groups) or (any(groups) and not models):
            return frozenset()
        folders: dict[str, set[str]] = {}
        for item in self.items.values():
            side = item.groups["model"] if models else str(item.video.parent)
            folders.setdefault(side, set()).add(item.video.name)
        # A folder for each video is no folder for each model.
        if len(folders) < 2 or max(map(len, folders.values())) < 2:
            return frozenset()
        names = Counter(name for held in folders.values() for name in held)
        return frozenset(name for name, count in names.items() if count > 1)

    def case(self, item: str) -> str:
        """Return the prompt, or what stands for it: items with the same case are compared.

        A benchmark's cases are named by the group ``case``, since what a model was given is not
        always text; otherwise it is the prompt. Without one, files of one name in several folders
        belong together, and any other item stands for itself.
        """
        listed = self.items.get(item)
        if listed is None:
            return item
        asked = listed.groups.get("case") or listed.text
        if asked:
            return asked
        return listed.video.name if listed.video.name in self._paired_by_name else item

    def by_file_name(self, items: Collection[str]) -> bool:
        """Return True where these items belong together by the names of their files alone."""
        listed = [self.items[item] for item in items]
        if any(item_.text for item_ in listed):
            return False
        # Runs that are put side by side have called the case of each by its name.
        cases = [item_.groups.get("case") for item_ in listed]
        if any(cases):
            return all(
                case in (item_.video.name, item_.id.partition(": ")[2])
                for item_, case in zip(listed, cases, strict=True)
            )
        return any(item_.video.name in self._paired_by_name for item_ in listed)

    def unit(self, item: str) -> str:
        """Return the witness that an item belongs to: what is counted, and what tests are over.

        That is its case, and all cases that are the same but for spaces and capitals, or that have
        a video in common: one video under twenty prompts says as much as under one. The unit has
        the name of its first case.
        """
        return self._units.get(item, item)

    @cached_property
    def _units(self) -> Mapping[str, str]:
        asked = [self.case(item) for item in self.items]
        seen = [self.contents.get(item, "") for item in self.items]
        sides = [self._side(item) for item in self.items]
        return dict(zip(self.items, joined_units(asked, seen, sides), strict=True))

    def _side(self, item: str) -> str:
        """Return the maker of a video, as far as it is known."""
        by = self.models_by
        return "/".join(self.group(item, name) for name in (RUN, STEP, by) if name)

    def merged(self, items: Collection[str]) -> tuple[int, int, int]:
        """Of some items: how many cases there are as they are written, how many without those
        that differ in spaces and capitals only, and how many units."""
        cases = {self.case(item) for item in items}
        units = {self.unit(item) for item in items}
        return len(cases), len({plain_text(case) for case in cases}), len(units)

    def by_group(self, by: str) -> dict[str, Results]:
        """Return the results of each group of items; those of items in no group by ``""``."""
        group = {item: self.group(item, by) for item in self.items}
        items = grouped((group[name], (name, item)) for name, item in self.items.items())
        values = grouped((group.get(value.item, ""), value) for value in self.values)
        pending = grouped((group.get(place[0], ""), place) for place in self.pending)
        return {
            name: replace(
                self,
                items=dict(items.get(name, ())),
                values=tuple(values.get(name, ())),
                pending=tuple(pending.get(name, ())),
            )
            for name in sorted(values.keys() | pending.keys())
        }

    @classmethod
    def join(cls, parts: Iterable[Results]) -> Results:
        """Several as one; a later value of the same item and name takes the place of the first."""
        given = list(parts)
        items: dict[str, Item] = {}
        outputs: dict[str, OutputInfo] = {}
        traits: dict[str, Traits] = {}
        contents: dict[str, str] = {}
        values: dict[tuple[str, str], Value] = {}
        pending: dict[tuple[str, str], None] = {}
        suites: dict[str, None] = {}
        margins: dict[tuple[str, Pool], Margin] = {}
        for part in given:
            items |= part.items
            outputs |= part.outputs
            traits |= part.traits
            contents |= part.contents
            values |= {(value.item, value.name): value for value in part.values}
            pending |= dict.fromkeys(part.pending)
            suites |= dict.fromkeys(part.suites)
            for key, margin in part.margins.items():
                margins[key] = max(margin, margins.get(key, margin), key=lambda one: one.value)
        waiting = tuple(place for place in pending if place not in values)
        return cls(
            items,
            tuple(values.values()),
            outputs,
            waiting,
            tuple(suites),
            contents,
            traits,
            margins,
            tuple(dict.fromkeys(folder for part in given for folder in part.certified)),
        )

    def as_run(self, name: str) -> Results:
        """Return the same as one side of a comparison of runs, with ids of its own."""
        items = [
            replace(
                item,
                id=f"{name}: {item.id}",
                groups={**item.groups, "case": self.case(item.id), RUN: name},
            )
            for item in self.items.values()
        ]
        return replace(
            self,
            items={item.id: item for item in items},
            values=tuple(replace(value, item=f"{name}: {value.item}") for value in self.values),
            pending=tuple((f"{name}: {item}", value) for item, value in self.pending),
            contents={f"{name}: {item}": content for item, content in self.contents.items()},
        )

    def only(self, items: Collection[str], metrics: Collection[str]) -> Results:
        kept = {name for name in self.outputs if split_value_name(name)[0] in metrics}
        return replace(
            self,
            items={name: item for name, item in self.items.items() if name in items},
            values=tuple(
                value for value in self.values if value.item in items and value.metric in metrics
            ),
            outputs={name: info for name, info in self.outputs.items() if name in kept},
            pending=tuple(
                (item, name) for item, name in self.pending if item in items and name in kept
            ),
        )

    def without(self, items: Collection[str]) -> Results:
        return replace(
            self, values=tuple(value for value in self.values if value.item not in items)
        )

    def pooled(self, pool: Pool) -> Results:
        """Return the same with every video by its mean, or by its worst tenth, as it was measured.

        What is descriptive has no worst part: it is always by the mean.
        """
        if pool not in POOLS:
            raise BadOption.of("pool", pool, "worst or mean")
        means = {name for name, info in self.outputs.items() if info.descriptive}
        values = tuple(
            value.pooled("mean" if value.name in means else pool) for value in self.values
        )
        return replace(self, values=values)

    def lacks_model(self, value: Value) -> bool:
        """Return True where a model was missing that would have read the prompt."""
        failure = value.outcome.failure
        lacking = failure is not None and failure.reason is Reason.MISSING_MODEL
        return lacking and self.traits_of(value.name).group == "prompt"

    def totals(self) -> list[Total]:
        waiting = Counter(name for _, name in self.pending)
        names = dict.fromkeys([*self.outputs, *self._by_name])
        return [
            total(name, self.of(name), self.outputs[name], pending=waiting[name], case=self.unit)
            for name in names
            if self.of(name) or waiting[name]
        ]

    @cached_property
    def short_names(self) -> Mapping[str, str]:
        """Names of values where they are shown.

        Its name without options that change no number, and in brackets what stands in for the
        model that papers take: ``clipscore[label_text]``. Two that would be called alike keep their
        full names.
        """
        short = {name: plain_name(name) for name in self.outputs}
        count = Counter(short.values())
        names = {}
        for name, brief in short.items():
            used = self.stand_ins_of(name)
            beside = f"[{'+'.join(used)}]" if used else ""
            names[name] = f"{brief if count[brief] == 1 else name}{beside}"
        return names

    def stand_ins_of(self, name: str) -> tuple[str, ...]:
        """Return the heuristics that stood in for the model of a paper, in one value."""
        return self._stand_ins.get(name, ())

    @cached_property
    def _stand_ins(self) -> Mapping[str, tuple[str, ...]]:
        signatures = grouped((value.name, value.signature) for value in self.values)
        return {
            name: tuple(
                dict.fromkeys(
                    backend
                    for signature in dict.fromkeys(given)
                    for role, backend in backends_in(signature).items()
                    if is_stand_in(role.partition(".")[0], backend)
                )
            )
            for name, given in signatures.items()
        }


def plain_text(text: str) -> str:
    """Return a prompt without what makes no other prompt of it: spaces, and capitals.

    >>> plain_text("  A dog\\n runs "), plain_text("a dog runs")
    ('a dog runs', 'a dog runs')
    """
    return " ".join(text.split()).casefold()


def joined_units(
    asked: Sequence[str], seen: Sequence[str], sides: Sequence[str] | None = None
) -> list[str]:
    """For each of some videos, the first of all prompts that are joined with its own.

    Prompts are joined where they are the same text, and where videos of theirs are the same file,
    on every side: a model that gives one video for all prompts joins none of the others'.

    >>> joined_units(["a", "A ", "b", "c"], ["1", "2", "3", "3"])
    ['a', 'a', 'b', 'b']
    >>> joined_units(["a", "b", "a", "b"], ["1", "1", "2", "3"], ["x", "x", "y", "y"])
    ['a', 'b', 'a', 'b']
    """
    keys = [("prompt", plain_text(text) or text) for text in asked]
    files = [("file", content) if content else key for key, content in zip(keys, seen, strict=True)]
    makers = list(sides or [""] * len(keys))
    edges = grouped(zip(makers, zip(keys, files, strict=True), strict=True))
    units = [clustered(listed) for listed in edges.values()]
    joined = {key: tuple(unit.get(key) for unit in units) for key in keys}
    first: dict[tuple[object, ...], str] = {}
    for key, text in zip(keys, asked, strict=True):
        first.setdefault(joined[key], text)
    return [first[joined[key]] for key in keys]


def plain_name(name: str) -> str:
    """Return the name of a value without the options that change no number, such as a file's place.

    >>> plain_name("gone.exposure:x=1")
    'gone.exposure:x=1'
    """
    spec, output = split_value_name(name)
    metric, options = parse(spec)
    try:
        neutral = registry.entry("metric", metric).info.get("neutral", ())
    except UserError:  # a run may hold metrics of a plugin that is not installed here
        return name
    given = write_options({key: value for key, value in options.items() if key not in neutral})
    return value_name(f"{metric}:{given}" if given else metric, output)


def total(
    name: str,
    values: Sequence[Value],
    info: OutputInfo,
    *,
    pending: int = 0,
    case: Callable[[str], str] | None = None,
) -> Total:
    """Return the mean of one output with its interval, and why values are missing.

    ``case`` says which items are of one prompt: they are not independent of each other.
    """
    failures = Counter(
        value.outcome.failure.reason for value in values if value.outcome.failure is not None
    )
    signature = values[0].signature if values else ""
    planned = len(values) + pending
    summary = summarise(
        [value.outcome.map(lambda score: score.value) for value in values],
        signature=signature,
        total=planned,
        bounds=(info.low, info.high),
        sources=None if case is None else [case(value.item) for value in values],
    )
    return Total(name, info, planned, summary.value, dict(sorted(failures.items())), signature)
