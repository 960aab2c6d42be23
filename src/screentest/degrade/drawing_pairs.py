"""Drawing pairs evenly: as many of each aspect as possible, by dice."""

from __future__ import annotations

from collections.abc import Sequence

from screentest.degrade.dice import Dice
from screentest.degrade.pair_names import pair_name
from screentest.degrade.testbed import Pair, Testbed


def kinds_of(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    """Pairs by aspect; a placebo is a kind of its own."""
    found: dict[str, list[Pair]] = {}
    for pair in pairs:
        found.setdefault(pair.name if pair.aspect else f"placebo {pair.name}", []).append(pair)
    return found


def draw_evenly(testbed: Testbed, count: int, seed: int, *, per_aspect: bool = False) -> list[Pair]:
    """``count`` pairs in all, or of each aspect, in the order of the testbed.

    Aspects take turns until there are enough; one that has no more pairs leaves its turn to the
    others. With the same seed a larger sample holds the smaller one.
    """
    dice = Dice.of("sample", seed)
    waiting = []
    for kind, pairs in kinds_of(testbed.pairs).items():
        ordered = sorted(pairs, key=pair_name)
        waiting.append(dice.shuffled(ordered, kind))
    rounds = count if per_aspect else max(map(len, waiting), default=0)
    most = len(testbed.pairs) if per_aspect else count
    turns = [pairs[turn] for turn in range(rounds) for pairs in waiting if turn < len(pairs)]
    drawn = {pair_name(pair) for pair in turns[:most]}
    return [pair for pair in testbed.pairs if pair_name(pair) in drawn]
