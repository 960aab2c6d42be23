"""What a folder holds already: a run is added to or replaced on purpose, never hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from screentest.core.errors import BadOption
from screentest.core.item import Item
from screentest.run.reader import RunReader


def beside_earlier(
    folder: Path, items: Sequence[Item], metrics: Sequence[str], *, add: bool
) -> list[Item]:
    """Return the items as they go into a run that is there; raises where it would hide what it
    holds.

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
