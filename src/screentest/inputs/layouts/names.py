"""Importers of videos that names or lists give their prompts: VBench's names, numbers, two lists.

The index of the seed is kept. Seeds of one prompt have one prompt, so that they count as one in
every interval.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from screentest._util.collect import grouped
from screentest._util.text import plural
from screentest.core import BadOption, Item, ManifestError, register
from screentest.inputs.fields import Problem, ProblemKind, quoted
from screentest.inputs.layouts.contents import (
    BY_PROMPT,
    PROMPT_LISTS,
    ListedPrompt,
    Listing,
    left_out,
    missing,
    most_match,
    name_key,
    read_prompts,
    shown_name,
    sorted_seeds,
    surplus,
    too_few,
    without_doubles,
)
from screentest.inputs.layouts.tables import names_videos
from screentest.inputs.layouts.vript import CLIP
from screentest.inputs.parted import Corpus

NUMBERED = re.compile(r"(?:[A-Za-z]+[-_ ]?)?(?P<number>\d{1,9})(?:[-_](?:seed)?(?P<seed>\d{1,6}))?")
K = TypeVar("K", str, int)
_CUT = 60
"""Characters from which on a name may be the beginning of a prompt only."""


@register(
    "importer", "prompt_names", summary="videos named PROMPT-SEED.mp4, as VBench has them", last=-1
)
class PromptNames:
    """``{prompt}-{i}.mp4``; with a list of prompts beside them, or without."""

    for_films, for_videos = False, True

    def __init__(self, *, prompts: str = "") -> None:
        self._prompts = Path(prompts) if prompts else None

    def accepts(self, path: Path) -> bool:
        """Take a folder of videos whose names are words and a number, most of them several words.

        Some prompts are one word; but where all names are, they are names: ``render-1.mp4``.
        """
        videos = Listing(path).videos if path.is_dir() else ()
        stems = [video.stem for video in videos]
        if not most_match(BY_PROMPT, videos) or any(map(CLIP.fullmatch, stems)):
            return False
        named = [match["prompt"] for stem in stems if (match := BY_PROMPT.fullmatch(stem))]
        words = [len(name_key(prompt).split()) for prompt in set(named)]
        return 2 * sum(count > 1 for count in words) >= len(words)

    def read(self, path: Path) -> Corpus:
        """Return the videos by prompt and seed."""
        listing = Listing(path)
        if not listing.videos:
            raise ManifestError(f"{path} has no videos", advice="Give their folder.")
        source = self._prompts or listing.first(PROMPT_LISTS)
        listed = [prompt.text for prompt in read_prompts(source)] if source is not None else None
        problems: list[Problem] = []
        taken: dict[tuple[str, str], Item] = {}
        for video in listing.videos:
            match = BY_PROMPT.fullmatch(video.stem)
            prompt = match["prompt"] if match else ""
            if listed is not None and prompt:
                prompt = _listed_as(prompt, listed)
            if shown_name(video.name) != video.name:
                problems.append(left_out(video, "has a name that is not UTF-8"))
                continue
            if match is None or not prompt:
                named = "is named by no prompt of the list" if match else "is not named PROMPT-SEED"
                problems.append(left_out(video, named))
                continue
            problems += _take(video, (prompt, str(int(match["seed"]))), prompt, taken)
        seeds = grouped(taken)
        problems += too_few(seeds, lambda prompt: f"the prompt {quoted(prompt)}")
        if listed is not None:
            lost = [prompt for prompt in dict.fromkeys(listed) if prompt not in seeds]
            problems += [missing(f"no video of the prompt {quoted(prompt)}") for prompt in lost]
        if not taken:
            raise ManifestError(f"no video in {path} is named PROMPT-SEED", advice=_HOW)
        counts = {len(numbers) for numbers in seeds.values()}
        each = " to ".join(map(str, sorted({min(counts), max(counts)})))
        numbers = sorted_seeds(seed for present in seeds.values() for seed in present)
        shown = ", ".join(numbers[:8]) + (", …" if len(numbers) > 8 else "")
        words = f"{plural(len(seeds), 'prompt')}, {each} video{'s' * (counts != {1})} of each"
        words += f", seeds {shown}, prompts by {'names' if source is None else source.name}"
        return Corpus("prompt_names", tuple(taken.values()), (), tuple(problems), words)


_HOW = "Names look like 'A cat sleeps-0.mp4'."


def _take(
    video: Path, key: tuple[K, str], prompt: str, taken: dict[tuple[K, str], Item]
) -> Iterator[Problem]:
    """Take a video for its prompt and seed; of two with the same, the first."""
    item = Item(video.name, video, prompt, groups={"seed": key[1]})
    earlier = taken.setdefault(key, item)
    if earlier is not item:
        words, advice = f"the same prompt and seed as {earlier.video.name}", "The first is taken."
        yield Problem(ProblemKind.DUPLICATE_VIDEO, words, advice, id=item.id, path=video)


def _listed_as(name: str, known: Sequence[str]) -> str:
    """Return the prompt of a list that a name stands for: the same, or the only one it begins."""
    if name in known:  # two prompts of VBench differ by a capital letter
        return name
    key = name_key(name)
    same = [prompt for prompt in known if name_key(prompt) == key]
    if not same and len(key) >= _CUT:
        same = list(dict.fromkeys(prompt for prompt in known if name_key(prompt).startswith(key)))
    return same[0] if same and (len(same) == 1 or len(set(same)) == 1) else ""


@register("importer", "lists", summary="prompts.txt and videos.txt, line by line", last=-2)
class Lists:
    """Two files of equally many lines."""

    for_films, for_videos = True, True
    PROMPTS = ("prompts.txt", "prompt.txt")
    VIDEOS = ("videos.txt", "video.txt")

    def accepts(self, path: Path) -> bool:
        listing = Listing(path)
        return listing.first(self.PROMPTS) is not None and listing.first(self.VIDEOS) is not None

    def read(self, path: Path) -> Corpus:
        """Return an item for each line."""
        listing = Listing(path)
        texts, files = listing.first(self.PROMPTS), listing.first(self.VIDEOS)
        if texts is None or files is None:
            raise ManifestError(f"{path} has no prompts.txt with videos.txt")
        prompts = [prompt.text for prompt in read_prompts(texts)]
        videos = [prompt.text for prompt in read_prompts(files)]
        if len(prompts) != len(videos):
            raise ManifestError(
                f"{texts.name} has {len(prompts)} lines and {files.name} {len(videos)}",
                advice="Line by line they belong together; which one is missing cannot be known.",
            )
        both = zip(videos, prompts, strict=True)
        single, doubled = without_doubles(Item(name, path / name, text) for name, text in both)
        problems = (*doubled, *surplus(path, single))
        return Corpus("lists", single, (), problems, f"{len(single)} lines")


@register(
    "importer",
    "numbered",
    summary="numbered videos (0001.mp4, 0001-2.mp4) in the order of a list of prompts",
    last=-1,
)
class Numbered:
    """The number of a video is the place of its prompt in a list.

    ``prompts`` is the list (.txt or a table), ``first`` the number that it begins with.
    """

    for_films, for_videos = False, True

    def __init__(self, *, prompts: str = "", first: int = -1) -> None:
        self._prompts = Path(prompts) if prompts else None
        self._first = first

    def accepts(self, path: Path) -> bool:
        """Take a folder of numbered videos with a list of prompts that names no videos."""
        listing = Listing(path)
        source = listing.first(PROMPT_LISTS)
        if source is None or not most_match(NUMBERED, listing.videos):
            return False
        return not names_videos(source)

    def read(self, path: Path) -> Corpus:
        """Return the videos with their prompts."""
        listing = Listing(path)
        source = self._prompts or listing.first(PROMPT_LISTS)
        if source is None:
            raise ManifestError(
                f"{path} has no list of prompts",
                advice="Put prompts.txt into it, or give `layout=numbered:prompts=FILE`.",
            )
        prompts = read_prompts(source)
        problems: list[Problem] = []
        videos: list[tuple[int, str, Path]] = []
        for video in listing.videos:
            if match := NUMBERED.fullmatch(video.stem):
                videos.append((int(match["number"]), str(int(match["seed"] or 0)), video))
            else:
                problems.append(left_out(video, "has no number"))
        if not videos:
            raise ManifestError(f"no video in {path} has a number")
        first = self._begins([number for number, _, _ in videos], prompts, source)
        taken: dict[tuple[int, str], Item] = {}
        for number, seed, video in videos:
            if not 0 <= number - first < len(prompts):
                problems.append(left_out(video, f"is of no prompt: {source.name} has no {number}"))
                continue
            problems += _take(video, (number, seed), prompts[number - first].text, taken)
        problems += self._lost(prompts, first, taken)
        if not taken:
            raise ManifestError(f"no video in {path} has the number of a prompt in {source.name}")
        words = f"{source.name}: {len(prompts)} prompts, counted from {first}"
        return Corpus("numbered", tuple(taken.values()), (), tuple(problems), words)

    def _begins(self, numbers: list[int], prompts: Sequence[ListedPrompt], source: Path) -> int:
        """Return the number of the first prompt, where it is said or follows from the names."""
        if self._first >= 0:
            return self._first
        if min(numbers) == 0:
            return 0
        if max(numbers) == len(prompts):
            return 1
        raise BadOption(
            f"numbers go from {min(numbers)} to {max(numbers)}, and {source.name} has"
            f" {len(prompts)} prompts: whether it is counted from 0 or 1 cannot be seen",
            advice="Give `layout=numbered:first=0`, or first=1.",
        )

    @staticmethod
    def _lost(
        prompts: Sequence[ListedPrompt], first: int, taken: Mapping[tuple[int, str], Item]
    ) -> Iterator[Problem]:
        texts = {f"{place}": prompt.text for place, prompt in enumerate(prompts, start=first)}
        seeds = grouped((str(number), seed) for number, seed in sorted(taken))
        for place in texts:
            if place not in seeds:
                yield missing(f"no video of prompt {place}: {quoted(texts[place])}")
        yield from too_few(seeds, lambda place: f"prompt {place} ({quoted(texts[place])})")
