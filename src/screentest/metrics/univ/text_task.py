"""V2T: how much of what a video holds does a model's caption say?

The item's text is the caption under test. The ground truth is a file or folder of checklists;
a judge says of each entry whether the caption has it: 1, 0.5 or 0, with a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from screentest.core import (
    BadOption,
    Consumer,
    Item,
    MetricInfo,
    NoValue,
    Outcomes,
    OutputInfo,
    Reason,
    Resources,
    register,
)
from screentest.corpus.univ import Truth, read_truth
from screentest.metrics.univ.asking import JUDGE, ask, request
from screentest.metrics.univ.checklist import Entry, read_checklist
from screentest.metrics.univ.dimensions import (
    ALL_SUBDIMENSIONS,
    ATMOSPHERE,
    OWNER,
    TITLES,
    Dimension,
)
from screentest.metrics.univ.forms import Match, match_form
from screentest.metrics.univ.matching import AVERAGE, outcomes_of
from screentest.metrics.univ.tasks import Task
from screentest.models.chat.messages import ChatRequest
from screentest.prompts.values import Slot, Trusted

TEMPLATE = "univ/match"
OUTPUTS = {
    AVERAGE: OutputInfo("the mean of the dimensions that have items"),
    **{dimension.value: OutputInfo(TITLES[dimension]) for dimension in Dimension},
    **{
        name: OutputInfo(f"{TITLES[OWNER[name]]}: {name.partition('_')[2].replace('_', ' ')}")
        for name in ALL_SUBDIMENSIONS
    },
    ATMOSPHERE: OutputInfo("Atmosphere; beside the 21, and in no average"),
}


@register(
    "metric",
    "univ_v2t",
    version=1,
    summary="how much of the video does the caption say?",
    neutral=("truth",),  # its content is in the signature, not where it lies
)
def univ_v2t(*, truth: str, batch: int = 60) -> TextTask:
    """``truth`` is a benchmark folder, a checklist, or a file of `screentest caption`.

    So many items are asked about at once as ``batch`` says.
    """
    if batch < 1:
        raise BadOption("univ_v2t: batch is at least 1")
    return TextTask(_read(truth, _changed(truth)), batch)


@dataclass(frozen=True)
class TextTask:
    """Shares of the checklist, at three levels."""

    truth: Truth
    batch: int

    info = MetricInfo(outputs=OUTPUTS, roles=(JUDGE,), needs=Task.V2T.needs, prompts=(TEMPLATE,))

    @property
    def signature_parts(self) -> dict[str, str]:
        """What the ground truth holds, wherever it lies."""
        return {"truth": self.truth.digest}

    def start(self, item: Item, resources: Resources) -> Comparing:
        """Looks the checklist up; the video itself is not looked at."""
        document = self.truth.of(item)
        if document is None:
            raise NoValue(
                Reason.NOT_APPLICABLE,
                f"the ground truth has nothing on {item.id}",
                advice="Items are found by the group `case`, their id, or the video's name.",
            )
        entries = read_checklist(document)
        if not entries:
            raise NoValue(Reason.NOT_APPLICABLE, f"the checklist of {item.id} is empty")
        return Comparing(item.text, entries, resources, self.batch)


@dataclass(frozen=True)
class Comparing:
    """One caption beside its checklist."""

    caption: str
    entries: tuple[Entry, ...]
    resources: Resources
    batch: int
    consumers: Sequence[Consumer] = ()

    def finish(self) -> Outcomes:
        """Ask about every entry; one that has no answer leaves the caption without a score."""
        answers = ask(self.resources, JUDGE, self.requests())
        matches: list[Match] = []
        for answer in answers:
            form = answer.unwrap()
            matches += [getattr(form, name) for name in type(form).model_fields]
        return outcomes_of(self.entries, matches)

    def requests(self) -> list[ChatRequest]:
        """One question per batch."""
        found = []
        for first in range(0, len(self.entries), self.batch):
            some = self.entries[first : first + self.batch]
            items: list[Slot] = [
                {"number": number, "about": Trusted(entry.about), "text": entry.text}
                for number, entry in enumerate(some, start=1)
            ]
            slots: dict[str, Slot] = {"caption": self.caption, "items": items}
            use, form = Task.V2T.use("match"), match_form(len(some))
            found.append(request(self.resources, TEMPLATE, slots, form, use))
        return found


@lru_cache(4)
def _read(path: str, changed: int) -> Truth:
    return read_truth(Path(path))


def _changed(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0
