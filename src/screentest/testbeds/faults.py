"""Faults of testbeds and of pairs: each a kind with values, and the wording of every kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, unique
from typing import Any


@unique
class FaultKind(Enum):
    """What is wrong; the value of a kind is its wording, which the values of a fault fill in."""

    def of(self, **values: Any) -> Fault:
        """Return a fault of this kind."""
        return Fault(self, values)

    # A finished pair: the clips that were touched, and where they are.
    NONE_TOUCHED = "no clip was touched"
    FEW_TOUCHED = "{count} of {chosen} clips were touched"
    GONE = "it is gone, which this operator does not do"
    SAME_PLACE = "it is where it was"
    ALTERED = "it was moved, and is not as it was"
    PLACE_ALIKE = "what is shown in its new place looks as it did"
    REPEAT_ALIKE = "what is shown again beside it looks like it"
    REVERSE_ALIKE = "it looks backwards as it did, and is where it was"
    NOT_REVERSED = "its frames do not come in reverse"
    SAME_LENGTH = "it is as long as it was"
    REST_DIFFERS = "what is left of it looks different"
    FRAME_COUNT = "{before} frames have become {after}"
    EARLY = "it is as it was, {frames} frame(s) early"
    LATE = "it is as it was, {frames} frame(s) late"
    # Its frames.
    STANDS_STILL = "hardly anything moves in it"
    NOTHING_SHOWN = "there is nothing to see in it"
    INVISIBLE = "no change can be seen in any frame"
    SOME_INVISIBLE = "in {count} of {total} frames no change can be seen"
    SOME_UNCHANGED = "{count} of {total} frames are as they were"
    FALLING_LADDER = "more severity harms less: distance {distances}"
    # What models see in it.
    THING_UNSEEN = "{thing} is in none of the pictures that were looked at"
    THING_UNCHANGED = "in {count} of {total} pictures that show it, {thing} is as it was"
    BESIDE_THING = "{share:.0%} of what was changed lies beside {thing}"
    WITHOUT_THING = "{count} pictures that do not show {thing} were changed"
    REST_CHANGED = "{share:.0%} of the {part} was changed too"
    STILL_FOUND = "{thing!r} is still found in {count} of {total} pictures"
    NOT_RECOLOURED = "nothing was recoloured"
    NEW_COLOUR = "{share:.0%} of what was recoloured is {colour}"
    OLD_COLOUR = "{share:.0%} of what was recoloured was {colour}"
    RECTANGLE = "a rectangle was recoloured, and not a thing"
    FOREGROUND_SIZE = "{share:.0%} of the picture was kept as the foreground"
    FOREGROUND_PIECES = "what was kept as the foreground is in pieces"
    FOREGROUND_LOST = "in some pictures the foreground is lost"
    FRONT_LOST = "what stands in front is lost in {count} of {total} pictures"
    SUBJECT_LOST = "{thing!r} is found again in {count} of {total} pictures"
    SAME_BACKGROUND = "only {share:.0%} of the picture is another"
    # Its packets.
    HEADERS = "the encoder settings in the headers differ"
    TIME_BASES = "one counts in steps of {intact} s, the other of {changed} s"
    PACKETS = (
        "{count} of {total} packets outside the touched clips differ, the first at "
        "{intact} (intact) and {changed} (changed)"
    )
    PACKET_COUNT = (
        "outside the touched clips the intact video has {intact} packets, the changed one {changed}"
    )
    TOUCH_UNCHANGED = "clip {number} at {span} is listed as touched, and is as it was"
    # testbed.json, by the place in it.
    TWO_SOURCES = "{count} sources have the id {name}"
    TWO_PAIRS = "{count} pairs are {name}"
    TWO_PATHS = "{count} entries have the path {name}"
    NUMBER = "{where}: invalid number {number}"
    TIMES = "{where}: invalid times {span.start} to {span.end} s"
    DURATION = "{where}.duration: invalid duration {duration}"
    SEVERITY = "{where}.severity: invalid severity {severity}: must be in [0, 1]"
    NO_FILE = "{where}.path: names no file"
    NO_SOURCE = "{where}.source: there is no source {name!r}"
    NOT_INTACT = "{where}.intact: {name!r} is not an intact video of its source"
    NOT_A_VIDEO = "{where}.changed: {name!r} is not a video of the testbed"
    NO_PROMPTS = "{where}.prompts: there are none"
    NEEDLESS_PROMPTS = "{where}.prompts: a {kind} has none"
    NO_ASPECT = "{where}.aspect: a degradation needs one"
    VOTES = "{where}.kind: votes of people are for `screentest certify-votes`"
    # Two prompts.
    OWN_VIDEO = "the video is its own"
    ANOTHER_VIDEO = "the video is that of another source"
    TRUE_PROMPT = "the true prompt is not that of its source"
    FALSE_PROMPT = "the false prompt is not what the rules make of the true one"
    SAME_PROMPTS = "both prompts are the same"
    NO_SUCH_CHANGE = "there is no change of prompts called {name}"
    # A source and its pairs, by what testbed.json says of them.
    OUTSIDE = "the path leads out of the testbed"
    PENDING = "{count} pairs are still to be made: build on"
    NO_TIMES = "its clips have no times"
    NO_INTACT = "it has no intact video"
    LOST_CLIP = "clip {number} is listed as lost, and the script has {total}"
    TOUCHED_PLACEBO = "a placebo has touched clips"
    SIZES = "its two videos differ in size"
    INCOMPLETE = "aspect, severity or number of clips is missing"
    MANY_TOUCHED = "{count} clips were touched, {chosen} were chosen"
    TOUCHED_ORDER = "touched clips are not in the order of the script"
    NO_SUCH_CLIP = "clip {number} is touched; the script has {total}"
    NO_FRAME = "clip {number} is touched; the film has no frame of it"
    LASTS = "it lasts {duration:.3f} s; by its touched clips it should last {expected:.3f} s"
    OUTSIDE_VIDEO = "clip {number} at {span} is outside the {part} video, {duration:.3f} s long"
    MISPLACED = "clip {number} is listed at {span}; by the script at {place}"
    # Files.
    UNLISTED = "not listed in testbed.json"
    UNREADABLE = "cannot be read: {error}"
    UNCHECKED = "cannot be checked: {error}"
    CAPTIONS = "not the captions of the script, joined"
    FIGURE = "{name} {value}, listed with {listed}"
    RECORD = "frames or duration are not those of the intact video beside it"
    ERROR = "{error}"
    # A build.
    PLUGINS = "operators of plugins that are used only when they are named: {names}"
    NO_CAPTIONS = "without captions, so that only aspects that need none are served: {names}"
    OF_SOURCE = "{name}: {error}"


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as it should be; ``str`` words it."""

    kind: FaultKind
    values: Mapping[str, Any] = field(default_factory=dict)
    clip: int | None = None
    """Its number; None where it concerns the whole video."""
    unchanged: bool = False
    """It is that nothing was changed."""

    def __str__(self) -> str:
        words = self.kind.value.format(**{name: _text(at) for name, at in self.values.items()})
        return words if self.clip is None else f"clip {self.clip + 1}: {words}"


def _text(value: Any) -> Any:
    """Return what stands for a value in a sentence; distances by severity, and names, are listed.

    >>> _text({0.5: 2.0, 1.0: 1.0})
    '2 at 0.5, 1 at 1'
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{number:.3g} at {key:g}" for key, number in value.items())
    return ", ".join(value) if isinstance(value, tuple) else value
