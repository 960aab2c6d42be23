"""Videos of a run that could not be read at all: which, why, and what to do."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from screentest.analysis.results import Results
from screentest.core.outcome import Failure


@dataclass(frozen=True, slots=True)
class UnreadVideo:
    """One video of which no value could be had, because of its file."""

    item: str
    video: Path
    failure: Failure

    @property
    def why(self) -> str:
        """The reason and what was seen, without the path before it."""
        lines = self.failure.detail.strip().splitlines()
        detail = lines[-1] if lines else ""
        _, named, rest = detail.partition(f"{self.video.name}' ")
        said = f"the file {rest}" if named else detail
        return f"{self.failure.reason.value}: {said}" if said else self.failure.reason.value

    @property
    def file(self) -> str:
        """Its path, from here where it is below."""
        try:
            return str(self.video.absolute().relative_to(Path.cwd()))
        except ValueError:
            return str(self.video)

    def document(self) -> dict[str, str]:
        """As plain JSON."""
        return {
            "item": self.item,
            "video": str(self.video),
            "reason": self.failure.reason.value,
            "detail": self.failure.detail,
            "advice": self.failure.advice,
        }


def unread_videos(results: Results) -> list[UnreadVideo]:
    """The videos without any value of which the file could not be read, in the run's order."""
    found = []
    for name, item in results.items.items():
        outcomes = [value.outcome for value in results.of_item(name).values()]
        lost = [one.failure for one in outcomes if one.failure and one.failure.reason.of_file]
        if lost and not any(one.ok for one in outcomes):
            found.append(UnreadVideo(name, item.video, lost[0]))
    return found


def unread_remark(results: Results) -> str:
    """How many videos could not be read, and why; empty where all were.

    >>> unread_remark(Results({}, (), {}))
    ''
    """
    found = unread_videos(results)
    if not found:
        return ""
    why = Counter(one.failure.reason.value.replace("_", " ") for one in found)
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in why.most_common())
    of = f"{len(found):,} of {len(results.items):,} videos"
    return f"{of} could not be read ({reasons})."
