"""The operators there are, and which of them a build takes.

An operator harms one aspect. The paper has one for each of its ten aspects, of the aspect's own
name; the other built-in ones of an aspect are its family, so that a meter made for one operator
does not pass for a judge of the aspect. Plugins bring more.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from screentest.core import BUILTIN_ASPECTS, Aspect, BadOption, PairKind, all_aspects, build
from screentest.core.aspects import aspects_of
from screentest.core.registry import BUILTIN, Entry, registry
from screentest.core.signature import parse
from screentest.core.table import Column, Table


class OperatorSet(StrEnum):
    """Whose an operator is: the paper's, of the built-in family of its aspect, or a plugin's."""

    PAPER = "paper"
    FAMILY = "family"
    PLUGIN = "plugin"


ALL, NONE = "all", "none"
"""All built-in operators; none at all."""
DEGRADATION = PairKind.DEGRADATION.value


@dataclass(frozen=True, slots=True)
class Operator:
    """A registered degradation."""

    name: str
    aspect: Aspect
    set: OperatorSet
    summary: str


def operator_set(name: str) -> OperatorSet:
    """Return whose the operator of that name is."""
    return _set_of(registry.entry(DEGRADATION, name))


def _set_of(entry: Entry) -> OperatorSet:
    if entry.origin != BUILTIN:
        return OperatorSet.PLUGIN
    return OperatorSet.PAPER if entry.name in BUILTIN_ASPECTS else OperatorSet.FAMILY


def aspect_of(spec: str) -> Aspect:
    """Return the aspect that an operator harms."""
    aspect: Aspect = build(DEGRADATION, spec).thing.info.aspect
    return aspect


def operators() -> list[Operator]:
    """Return all that are registered, by aspect as in the paper's tables, the paper's first."""
    order = {aspect: place for place, aspect in enumerate(all_aspects())}
    rank = {member: place for place, member in enumerate(OperatorSet)}
    infos = [
        Operator(
            entry.name, aspect_of(entry.name), _set_of(entry), str(entry.info.get("summary", ""))
        )
        for entry in registry.entries(DEGRADATION)
    ]
    return sorted(infos, key=lambda info: (order[info.aspect], rank[info.set], info.name))


def operators_table(aspects: str | Sequence[str] = ALL) -> Table:
    """Return the operators, of all aspects or of some."""
    wanted = _aspects(aspects)
    columns = (
        Column("aspect", "Aspect", show=lambda name: name.replace("_", " ")),
        Column("operator", "Operator"),
        Column("set", "Of"),
        Column("summary", "What it does"),
    )
    rows = [
        (operator.aspect.value, operator.name, operator.set.value, operator.summary)
        for operator in operators()
        if wanted is None or operator.aspect in wanted
    ]
    return Table("operators", "Operators", columns, rows)


def choose_operators(
    given: str | Sequence[str] = OperatorSet.PAPER.value, aspects: str | Sequence[str] = ALL
) -> tuple[str, ...]:
    """Return the specs of the operators that a build takes.

    ``given`` are ``paper``, ``family``, ``all``, ``none`` and names, with commas or one by one,
    or one with options. ``all`` are the built-in ones; those of plugins are named, so that no
    testbed changes because a package was installed. One that is named replaces the same one of a
    set. ``aspects`` narrows them down.

    >>> choose_operators("paper", "color,aesthetics")
    ('aesthetics', 'color')
    """
    sets, named = _split(given)
    names = {spec.partition(":")[0] for spec in named}
    of_sets = [operator for operator in operators() if operator.set in sets] if sets else []
    specs = [*(operator.name for operator in of_sets if operator.name not in names), *named]
    wanted = _aspects(aspects)
    if wanted is None:
        return tuple(specs)
    by_aspect = {spec: aspect_of(spec) for spec in specs}
    for aspect in wanted:
        if specs and aspect not in by_aspect.values():
            available = [operator.name for operator in operators() if operator.aspect is aspect]
            raise BadOption(
                f"none of the operators asked for degrades {aspect.value}",
                advice=f"Give `operators={','.join(available)}`."
                if available
                else "No operator degrades it.",
            )
    return tuple(spec for spec, aspect in by_aspect.items() if aspect in wanted)


def _split(given: str | Sequence[str]) -> tuple[set[OperatorSet], list[str]]:
    """Return the sets that are asked for, and the specs of single operators."""
    builtin = {OperatorSet.PAPER, OperatorSet.FAMILY}
    sets: set[OperatorSet] = set()
    named: list[str] = []
    nothing = False
    for text in [given] if isinstance(given, str) else given:
        parts = [text] if ":" in text else [part.strip() for part in text.split(",")]
        for part in parts:
            if part == ALL:
                sets |= builtin
            elif part in builtin:
                sets.add(OperatorSet(part))
            elif part == NONE:
                nothing = True
            elif part:
                _must_be_known(part.partition(":")[0])
                named.append(part)
    if nothing and (sets or named):
        raise BadOption(
            "`operators` has none beside others", advice="Leave out none, or the others."
        )
    return sets, named


def _must_be_known(name: str) -> None:
    """Refuse a misspelt operator; a misspelt set is taken for one."""
    names = registry.names(DEGRADATION)
    if name not in names:
        words = [*names, OperatorSet.PAPER.value, OperatorSet.FAMILY.value, ALL, NONE]
        near = difflib.get_close_matches(name.lower(), words, n=3, cutoff=0.6)
        hint = f"Did you mean {' or '.join(near)}? " if near else ""
        advice = f"{hint}`screentest testbed operators` lists them."
        raise BadOption(f"there is no operator {name!r}", advice=advice)


def _aspects(given: str | Sequence[str]) -> set[Aspect] | None:
    """Return the aspects that are named; None for all."""
    texts = [given] if isinstance(given, str) else given
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    if not names or names == [ALL]:
        return None
    return set(aspects_of(names) or ())


def left_out(specs: Sequence[str]) -> list[str]:
    """Operators of plugins that a build of all built-in ones does not take: they are named."""
    asked = {parse(spec)[0] for spec in specs}
    listed = operators()
    paper = {operator.name for operator in listed if operator.set is OperatorSet.PAPER}
    if not asked >= paper:
        return []
    return [
        operator.name
        for operator in listed
        if operator.set is OperatorSet.PLUGIN and operator.name not in asked
    ]
