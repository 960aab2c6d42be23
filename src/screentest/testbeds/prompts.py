"""Testbeds of prompts: the same video with its own prompt and with one that is false of it.

No video is harmed or encoded, so that anything with prompts is a testbed: videos are linked into
its folder, or copied, and known by their hash like all others. Whatever claims to read the prompt
must prefer the true one.

A text may be preferred for its own sake, whatever the video shows: the longer one, or the one that
reads better. Therefore each pair has a control, the placebo ``NAME_elsewhere``: the same two
prompts beside a video that neither was written for.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

from screentest._util import VERSION
from screentest._util.atomic import write_whole
from screentest.core.aspects import Aspect, PairKind
from screentest.core.calls import Progress, Silent
from screentest.core.codec import DecodeError
from screentest.core.errors import BadOption, NoValue, UserError
from screentest.core.item import Clip, Item
from screentest.core.outcome import Failure, Outcome, Reason, attempt
from screentest.core.signature import Signature
from screentest.english import alterations
from screentest.english.alterations import Alteration, WordChange, alter, earlier_and_later
from screentest.english.lexicon import Tag, lexicon
from screentest.english.tagging import tag_words
from screentest.judges.cases import ELSEWHERE
from screentest.testbeds.builder import BuildResult
from screentest.testbeds.contract import Rng
from screentest.testbeds.faults import Fault
from screentest.testbeds.intact import PROMPT, VIDEOS, folder_name, video_file
from screentest.testbeds.subset import finish_folder, hidden_folder, take_file
from screentest.testbeds.testbed import (
    CHANGES,
    ORDER,
    PROMPTS,
    SCHEMA,
    SWAPPED,
    Pair,
    PromptPair,
    Skip,
    SourceFilm,
    Testbed,
    VideoFile,
    load_testbed,
)
from screentest.video.sandbox import supervised

RULES_VERSION = 1
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,8}")
_ALIKE = 0.5
"""Prompts that share more of their nouns, verbs and colours may both be true of one video."""


def change_names(given: str | Sequence[str]) -> tuple[str, ...]:
    """Read changes by name: ``all``, or some, with commas."""
    texts = [given] if isinstance(given, str) else list(given)
    names = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    if names == ["all"]:
        return tuple(CHANGES)
    unknown = [name for name in names if name not in CHANGES]
    if unknown or not names:
        what = f"unknown change of prompts {unknown[0]!r}" if unknown else "no change is named"
        raise BadOption(what, advice=f"Changes: {', '.join(CHANGES)}, or all.")
    return tuple(dict.fromkeys(names))


def captions_of(item: Item) -> tuple[str, ...]:
    """Return the words of an item: its captions where it has several, else its prompt."""
    clips = item.script.clips if item.script is not None else ()
    captions = tuple(clip.caption.strip() for clip in clips if clip.caption.strip())
    if len(captions) > 1:
        return captions
    text = item.text.strip()
    return (text,) if text else ()


def build_prompts(
    items: Sequence[Item],
    out: Path,
    changes: Sequence[str] = tuple(CHANGES),
    *,
    seed: int = 7,
    progress: Progress | None = None,
) -> BuildResult:
    """Make a testbed of prompts in the new folder ``out``.

    Where it is there already, from the same videos and prompts, it stays as it is.
    """
    out = out.absolute()
    before = _before(out)
    with hidden_folder(out) as hidden:
        sources, lost = _sources(items, hidden, progress or Silent())
        testbed = _testbed(sources, lost, tuple(changes), seed)
        if before is not None:
            if before != testbed:
                raise BadOption(
                    f"{out} holds another testbed of prompts", advice="Give a new folder."
                )
            return BuildResult(testbed, reused=len(testbed.pairs), made=0)
        finish_folder(hidden, out, testbed)
    return BuildResult(testbed, reused=0, made=len(testbed.pairs))


def _before(out: Path) -> Testbed | None:
    """Return the testbed that is there already; raises BadOption where anything else is."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return None
    try:
        earlier = load_testbed(out)
    except (UserError, DecodeError):
        earlier = None
    if earlier is None or earlier.recipe.get("kind") != PROMPTS:
        raise BadOption(f"{out} exists and is not empty", advice="Give a new folder.")
    return earlier


# Sources: videos in the folder, known by their hash.


def _sources(
    items: Sequence[Item], folder: Path, progress: Progress
) -> tuple[list[SourceFilm], dict[str, Failure]]:
    placed: dict[str, Path] = {}
    lost: dict[str, Failure] = {}
    for item in items:
        place = attempt(partial(_placed, item, folder))
        if place.failure is not None:
            lost[item.id] = place.failure
        else:
            placed[item.id] = place.unwrap()
    progress.begin("examining", float(len(placed)), "videos")
    videos: dict[str, Outcome[VideoFile]] = {}
    for name, path in placed.items():
        videos[name] = supervised(video_file, path, folder)  # a video may be anybody's
        progress.advance(1)
    sources = []
    for item in items:
        outcome = videos.get(item.id)
        if outcome is None:
            continue
        if outcome.failure is not None:
            lost[item.id] = outcome.failure
            shutil.rmtree(placed[item.id].parent)
            continue
        sources.append(_source(item, outcome.unwrap(), placed[item.id].parent, folder))
    return sources, lost


def _placed(item: Item, folder: Path) -> Path:
    """Put the video of an item into the folder; NoValue where it has none, or no words."""
    if not captions_of(item):
        raise NoValue(Reason.NOT_APPLICABLE, "it has no prompt", advice="Give its row a prompt.")
    if not item.video.is_file():
        raise NoValue(Reason.MISSING_FILE, f"{item.video.name} is not there, or not a plain file")
    suffix = item.video.suffix if _SUFFIX.fullmatch(item.video.suffix) else ""
    target = folder / VIDEOS / folder_name(item.id) / f"video{suffix}"
    take_file(item.video, target)
    return target


def _source(item: Item, file: VideoFile, place: Path, folder: Path) -> SourceFilm:
    captions = captions_of(item)
    write_whole(place / PROMPT, f"{' '.join(captions)}\n")
    return SourceFilm(
        id=item.id,
        video=item.video.name,
        sha256=file.sha256,
        folder=place.relative_to(folder).as_posix(),
        prompt=(place / PROMPT).relative_to(folder).as_posix(),
        clips=tuple(Clip(caption) for caption in captions),
        intact=(file,),
        groups=item.groups,
    )


# Pairs: two prompts for one video, each with its control.


def _testbed(
    sources: Sequence[SourceFilm], lost: Mapping[str, Failure], changes: Sequence[str], seed: int
) -> Testbed:
    texts = _Texts(sources, seed)
    pairs: list[Pair] = []
    skips = [
        Skip(name, PairKind.PROMPT, change, failure, Aspect.TEXT_ALIGNMENT)
        for name, failure in lost.items()
        for change in changes
    ]
    for source in sources:
        for change in changes:
            text = attempt(partial(texts.changed, source, change))
            made = [_pair(source, PairKind.PROMPT, change, source.intact[0], text)]
            if text.ok:
                other = attempt(partial(texts.elsewhere, source, change, text.unwrap()))
                file = other.value.intact[0] if other.value is not None else source.intact[0]
                both = text if other.failure is None else Outcome(failure=other.failure)
                made.append(_pair(source, PairKind.PLACEBO, f"{change}{ELSEWHERE}", file, both))
            pairs += [result for result in made if isinstance(result, Pair)]
            skips += [result for result in made if isinstance(result, Skip)]
    recipe = {"kind": PROMPTS, "operators": " ".join(changes), "captions": str(_signature(""))}
    return Testbed(SCHEMA, VERSION, seed, recipe, tuple(sources), tuple(pairs), tuple(skips))


def _pair(
    source: SourceFilm, kind: PairKind, name: str, file: VideoFile, prompts: Outcome[PromptPair]
) -> Pair | Skip:
    aspect = Aspect.TEXT_ALIGNMENT
    if prompts.failure is not None:
        return Skip(source.id, kind, name, prompts.failure, aspect)
    recipe = str(_signature(name.removesuffix(ELSEWHERE)))
    return Pair(
        source.id, kind, name, file.path, file, recipe, aspect=aspect, prompts=prompts.unwrap()
    )


def _signature(change: str) -> Signature:
    """Return the signature of the words of a pair, the seed apart."""
    name = f"prompt_{change}" if change else "prompts"
    return Signature.of(
        name, version=RULES_VERSION, english=alterations.VERSION, lexicon=lexicon().digest
    )


def _captions(source: SourceFilm) -> tuple[str, ...]:
    return tuple(clip.caption for clip in source.clips)


class _Texts:
    """The prompts of a testbed, and which of them have to do with each other."""

    def __init__(self, sources: Sequence[SourceFilm], seed: int) -> None:
        self._sources = sorted(sources, key=lambda source: source.id)
        self._words = {source.id: _content(_captions(source)) for source in sources}
        self._seed = seed

    def changed(self, source: SourceFilm, change: str) -> PromptPair:
        """Return the true and the false prompt; raises NoValue where there is no false one."""
        if change != SWAPPED:
            return changed_prompt(_captions(source), source.id, change, self._seed)
        other = self._other(source, change, ())
        if other is None:
            raise NoValue(Reason.NOT_APPLICABLE, CHANGES[SWAPPED]["missing"])
        return PromptPair(_captions(source), _captions(other))

    def elsewhere(self, source: SourceFilm, change: str, prompts: PromptPair) -> SourceFilm:
        """Return a video that neither prompt was written for."""
        lenders = [source for source in self._sources if _captions(source) == prompts.false]
        other = self._other(source, f"{change}{ELSEWHERE}", lenders)
        if other is None:
            raise NoValue(
                Reason.NOT_APPLICABLE, "no other video is about something else than both prompts"
            )
        return other

    def _other(
        self, source: SourceFilm, purpose: str, besides: Sequence[SourceFilm]
    ) -> SourceFilm | None:
        rng = Rng.of(PROMPTS, self._seed, source.id, purpose)
        for other in rng.shuffled(self._sources):
            if all(self._unlike(used, other) for used in (source, *besides)):
                return other
        return None

    def _unlike(self, source: SourceFilm, other: SourceFilm) -> bool:
        ours, theirs = self._words[source.id], self._words[other.id]
        least = min(len(ours), len(theirs))
        shared = len(ours & theirs)
        return source.sha256 != other.sha256 and least > 0 and shared <= _ALIKE * least


def _content(captions: Sequence[str]) -> frozenset[str]:
    """Return the topics of a text: its nouns, verbs and colours, in one form each."""
    topics = set()
    for caption in captions:
        for word in tag_words(caption):
            if word.tag in (Tag.NOUN, Tag.COLOUR):
                topics.add(lexicon().singular(word.low))
            elif word.tag is Tag.VERB and word.verb is not None:
                topics.add(word.verb.base)
    return frozenset(topics)


def changed_prompt(captions: Sequence[str], source: str, change: str, seed: int) -> PromptPair:
    """Return a prompt and what becomes of it; NoValue where it has no word that could be changed.

    It depends on the words, the id of the source and the seed alone: not on the other sources.
    """
    rng = Rng.of(PROMPTS, seed, source, change)
    if change == ORDER:
        altered = _reordered(captions, rng)
    else:
        altered = alter(captions, WordChange(change), lambda words: rng.pick(words, *words))
    if altered is None:
        raise NoValue(Reason.NOT_APPLICABLE, CHANGES[change]["missing"])
    return PromptPair(tuple(captions), altered.captions, dict(altered.words))


def _reordered(captions: Sequence[str], rng: Rng) -> Alteration | None:
    """No caption where it was, nor after the one it came after; None where that cannot be."""
    if len(captions) == 1:
        return earlier_and_later(captions[0])
    if len(set(captions)) < 2:
        return None
    followed = set(pairwise(captions))
    best: tuple[int, tuple[str, ...]] | None = None
    for turn in range(64):
        order = tuple(rng.shuffled(captions, turn))
        kept = sum(was == two for was, two in zip(captions, order, strict=True))
        kept += sum(both in followed for both in pairwise(order))
        if order != tuple(captions) and (best is None or kept < best[0]):
            best = kept, order
        if best is not None and not best[0]:
            break
    return None if best is None else Alteration(best[1], {})


# Verify: whether the words are what the rules make of them.


def check_prompts(pair: Pair, source: SourceFilm, seed: int) -> Iterator[Fault]:
    """Find what is wrong with the two prompts of a pair."""
    prompts = pair.prompts
    assert prompts is not None
    change = pair.name.removesuffix(ELSEWHERE) if pair.kind is PairKind.PLACEBO else pair.name
    is_intact = pair.intact in {file.path for file in source.intact}
    if is_intact != (pair.kind is PairKind.PROMPT):
        yield Fault.of("own_video" if is_intact else "another_video")
    if prompts.true != _captions(source):
        yield Fault.of("true_prompt")
    if prompts.true == prompts.false:
        yield Fault.of("same_prompts")
    if change not in CHANGES:
        yield Fault.of("no_such_change", name=change)
    elif change != SWAPPED and pair.recipe == str(_signature(change)):
        again = attempt(partial(changed_prompt, _captions(source), source.id, change, seed))
        if again.value != prompts:
            yield Fault.of("false_prompt")
