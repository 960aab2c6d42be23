"""The importer of a folder of folders: one for each model or checkpoint."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from screentest.core import Item, ManifestError, register
from screentest.inputs.fields import Problem, quoted
from screentest.inputs.importers import Corpus, Importer, importer_of
from screentest.inputs.layouts.archives import webdataset
from screentest.inputs.layouts.contents import BY_PROMPT, PROMPT_LISTS, Listing, missing, most_match
from screentest.inputs.layouts.names import NUMBERED, Numbered, PromptNames
from screentest.inputs.layouts.tables import metadata, videos2caption


@register(
    "importer",
    "models",
    version=1,
    summary="a folder of folders: one for each model, each in a layout of its own",
    last=-1,
)
def models() -> Models:
    """The name of a folder is the group ``model``."""
    return Models()


class Models:
    """Folders beside each other. A list of prompts above them is for all."""

    for_films, for_videos = False, True

    def accepts(self, path: Path) -> bool:
        """Return a folder without videos of its own, of at least two that a layout fits."""
        if not path.is_dir():
            return False
        listing = Listing(path)
        return not listing.videos and len(self._folders(listing)) > 1

    @staticmethod
    def _folders(listing: Listing) -> list[Path]:
        return [folder for folder in listing.folders if Listing(folder).videos or _is_other(folder)]

    def read(self, path: Path) -> Corpus:
        """Return the videos of all."""
        listing = Listing(path)
        prompts = listing.first(PROMPT_LISTS)
        items: list[Item] = []
        problems: list[Problem] = []
        layouts: dict[str, str] = {}
        for folder in self._folders(listing):
            part = self._importer(folder, prompts).read(folder)
            layouts[folder.name] = part.format
            for item in part.items:
                groups = {"model": folder.name, **item.groups}
                items.append(replace(item, id=f"{folder.name}/{item.id}", groups=groups))
            problems += [
                replace(problem, message=f"{folder.name}: {problem.message}")
                for problem in part.problems
            ]
        if not items:
            raise ManifestError(f"{path} has no folders of videos")
        problems += _not_shared(items)
        words = ", ".join(f"{name} ({layout})" for name, layout in layouts.items())
        return Corpus("models", tuple(items), (), tuple(problems), words)

    @staticmethod
    def _importer(folder: Path, prompts: Path | None) -> Importer:
        if prompts is not None and not _is_other(folder):
            videos = Listing(folder).videos
            if most_match(NUMBERED, videos):
                return Numbered(prompts)
            if most_match(BY_PROMPT, videos):
                return PromptNames(prompts)
        return importer_of(folder)


def _is_other(folder: Path) -> bool:
    """Return True if it has a table or archive."""
    return any(kind.accepts(folder) for kind in (metadata(), videos2caption(), webdataset()))


def _not_shared(items: Sequence[Item]) -> Iterator[Problem]:
    """Prompts that some of the models have and others lack."""
    have: dict[str, set[str]] = defaultdict(set)
    for item in items:
        if item.prompt:
            have[item.groups["model"]].add(item.prompt)
    every = dict.fromkeys(item.prompt for item in items if item.prompt)
    for model, ids in have.items():
        for prompt in every:
            if prompt not in ids:
                yield missing(
                    f"{model}: no video of the prompt {quoted(prompt)}, which others have"
                )
