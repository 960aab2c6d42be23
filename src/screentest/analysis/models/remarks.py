"""What must be known to read the results of a run: what reads prompts, what is unseen; borders."""

from __future__ import annotations

from collections.abc import Mapping

from screentest.analysis.models.text import listed
from screentest.analysis.results import Results
from screentest.core.frames import Borders
from screentest.core.outcome import BORDERS, Reason
from screentest.metrics import CORE, UNSEEN

HOW = "--model image_text=hf:openai/clip-vit-base-patch32"
"""What reads a prompt best of all that needs no chat model."""
SMALL = "screentest models pull light, then --models light"
FAIR_SHARE = 0.25
"""Of the prompts: what reads fewer of them does not read the prompts of a run."""
UNREADABLE = "What reads the prompt has no value here"


def prompt_readers(results: Results) -> list[str]:
    """The values that read the prompt or script, and have a number on a fair share of prompts.

    What only counts shots, or sets them in order, does not read.
    """
    asked = _asked(results)
    found = []
    for name in results.names:
        info = results.outputs[name]
        if info.group == "prompt" and info.reads and not info.descriptive:
            read = {results.unit(value.item) for value in results.of(name) if value.outcome.ok}
            if read and len(read) >= FAIR_SHARE * len(asked):
                found.append(name)
    return found


def _asked(results: Results) -> set[str]:
    """The prompts there are."""
    return {results.unit(name) for name, item in results.items.items() if item.text.strip()}


def prompt_unread(results: Results) -> str:
    """That nothing in the run reads the prompts, or failed to; empty where something does.

    Empty, too, where no video has a prompt.
    """
    if not _asked(results) or prompt_readers(results):
        return ""
    tried = [
        name
        for name in results.names
        if results.outputs[name].group == "prompt" and results.outputs[name].reads
    ]
    if not tried:
        return f"Nothing here reads the prompt: add --suite core, or --metrics clipscore {HOW}."
    reasons = {
        value.outcome.failure.reason
        for name in tried
        for value in results.of(name)
        if value.outcome.failure is not None
    }
    lacking = Reason.MISSING_MODEL in reasons
    failed = sorted(reasons - {Reason.NOT_APPLICABLE, Reason.LOW_COVERAGE})
    if failed and not lacking:
        # Other models are no remedy: something here reads prompts, and failed.
        return f"{UNREADABLE} ({', '.join(failed)})."
    why = "the models for it are not chosen" if lacking else "it names nothing that these know"
    return f"Nothing here reads the prompt ({why}): {SMALL}; or {HOW}."


def prompt_partly(results: Results) -> str:
    """What of the prompts nothing reads though something reads them; empty where all are read.

    Stand-ins look for colours or labels, not for what a prompt asks.
    """
    readers = prompt_readers(results)
    if not readers:
        return ""
    asked = _asked(results)
    read = {
        results.unit(value.item)
        for name in readers
        for value in results.of(name)
        if value.outcome.ok
    }
    of = f"on {len(read & asked):,} of {len(asked):,} prompts"
    used = dict.fromkeys(one for name in readers for one in results.stand_ins_of(name))
    if used and all(results.stand_ins_of(name) for name in readers):
        words = ", ".join(one.replace("_", " ") for one in used)
        where = "" if asked <= read else f", {of}"
        return f"Most of what the prompts ask for: only a stand-in reads it ({words}){where}."
    return "" if asked <= read else f"What every prompt asks for: it is read {of}."


def unseen(results: Results) -> str:
    """The faults that no number of the run sees; empty where something is in it that might."""
    measured = {value.metric.partition(":")[0] for value in results.values if value.outcome.ok}
    if not measured or not measured <= {*CORE, *UNSEEN.values()}:
        return ""
    words = listed([fault for fault, metric in UNSEEN.items() if metric not in measured])
    return f"{words[0].upper()}{words[1:]}: look at the videos."


def bordered(results: Results) -> Mapping[str, Borders]:
    """The videos of the run that have borders, by item."""
    found: dict[str, Borders] = {}
    for value in results.values:
        score = value.outcome.value
        sides = score.details.get(BORDERS) if score is not None else None
        if value.item not in found and isinstance(sides, list) and len(sides) == 6:
            found[value.item] = Borders(*(int(str(one)) for one in sides))
    return found


def borders_remark(results: Results) -> str:
    """How many videos have borders and how large they are; empty where none has.

    >>> borders_remark(Results({}, (), {}))
    ''
    """
    found = bordered(results)
    if not found:
        return ""
    shares = sorted(one.share for one in found.values())
    least, most = (f"{share:.0%}" for share in (shares[0], shares[-1]))
    much = most if least == most else f"{least} to {most}"
    of = f"{len(found):,} of {len(results.items):,} videos"
    verb = "has" if len(found) == 1 else "have"
    return f"{of} {verb} borders ({much} of the frame): pictures are measured inside them."
