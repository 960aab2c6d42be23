"""The pairs of testbeds as cases for judges.

A judge gets what it would get of a generated video: the file, the prompt, and the captions in
their order. It does not say when a clip should be on the screen: that would say where to look.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from screentest._util.collect import clustered
from screentest.analysis.judges.certificate import Remark, RemarkKind
from screentest.core import Aspect, BadOption, Clip, Item, PairKind, Script, all_aspects, attempt
from screentest.core.metric import Judge, RatingJudge
from screentest.core.outcome import Failure, Reason
from screentest.judges.cases import Case
from screentest.testbeds.files import video_in
from screentest.testbeds.testbed import (
    Pair,
    SourceFilm,
    Testbed,
    VideoFile,
    of_prompts,
    read_testbed,
)


def read_cases(
    folders: Sequence[Path],
    *,
    aspects: Iterable[Aspect] | None = None,
    placebos: bool = True,
    kept: Sequence[Path] = (),
) -> list[Case]:
    """Return the cases of some testbeds, in the order of their lists.

    A placebo belongs to no aspect: it is put in every aspect that its testbed has. ``kept`` are
    the testbeds that people's filter left of these; a case is kept when it is in one of them.
    """
    wanted = set(aspects) if aspects is not None else set(all_aspects())
    cases: list[Case] = []
    names = _names(folders)
    confirmed = {_key(pair) for folder in kept for pair in read_testbed(folder).pairs}
    testbeds = {folder: read_testbed(folder) for folder in folders}
    films = _films({names[folder]: testbed for folder, testbed in testbeds.items()})
    for folder, testbed in testbeds.items():
        sources = {source.id: source for source in testbed.sources}
        present = [aspect for aspect in all_aspects() if aspect in wanted & _aspects(testbed)]
        for pair in testbed.pairs:
            source = sources[pair.source]
            selected = [pair.aspect] if pair.aspect in wanted else []
            for aspect in selected if pair.kind.has_answer else present * placebos:
                if aspect is not None:
                    case = _case(folder.absolute(), names[folder], source, pair, aspect)
                    case = replace(case, film=films[case.testbed, case.source])
                    if kept and pair.kind is PairKind.DEGRADATION:
                        case = replace(case, kept=_key(pair) in confirmed)
                    cases.append(case)
    if not cases:
        raise BadOption(
            "there are no pairs to judge",
            advice="See what the testbed has: screentest testbed show DIR.",
        )
    return cases


def _key(pair: Pair) -> tuple[str, str]:
    """Return the identity of a pair in every testbed that has it: its bytes, not its place."""
    return (pair.changed.sha256, str(pair.aspect))


def _aspects(testbed: Testbed) -> set[Aspect]:
    return {pair.aspect for pair in testbed.pairs if pair.aspect is not None}


def _names(folders: Sequence[Path]) -> dict[Path, str]:
    """Testbeds by the name of their folder; where two are called alike, by their place."""
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise BadOption("a testbed is given twice", advice="Give each folder once.")
    names = [folder.absolute().name for folder in folders]
    if len(set(names)) == len(names):
        return dict(zip(folders, names, strict=True))
    return {folder: f"{number}.{folder.absolute().name}" for number, folder in enumerate(folders)}


def _case(folder: Path, name: str, source: SourceFilm, pair: Pair, aspect: Aspect) -> Case:
    """Return the original and the changed video; of prompts, the true one and the false one."""
    if pair.prompts is None:
        captions = tuple(clip.caption for clip in source.clips)
        intact = next(video for video in source.intact if video.path == pair.intact)
        sides = [(intact, captions), (pair.changed, captions)]
    else:
        sides = [(pair.changed, captions) for captions in (pair.prompts.true, pair.prompts.false)]
    places = [attempt(partial(video_in, folder, file)) for file, _ in sides]
    # What is not a file of the testbed is never opened: the folder stands in for it.
    first, second = (
        _item(name, file, place.value or folder, captions, two_texts=pair.prompts is not None)
        for (file, captions), place in zip(sides, places, strict=True)
    )
    rung = "" if pair.severity is None else f"@{pair.severity:g}x{pair.clips}"
    return Case(
        id=f"{name}/{source.id}/{pair.name}{rung}",
        aspect=aspect,
        prompt=first.prompt,
        first=first,
        second=second,
        testbed=name,
        source=source.id,
        kind=pair.kind,
        name=pair.name,
        duration=float(sides[0][0].duration),
        severity=pair.severity,
        clips=pair.clips,
        category=source.groups.get("category", ""),
        failure=next((place.failure for place in places if place.failure is not None), None),
        harmed=tuple((item.intact, item.degraded) for item in pair.touched),
    )


def _item(
    name: str, file: VideoFile, video: Path, captions: Sequence[str], *, two_texts: bool
) -> Item:
    script = Script(tuple(map(Clip, captions)))
    return Item(
        id=f"{name}/{file.path}" + (f"#{_digest(captions)}" if two_texts else ""),
        video=video,
        prompt=script.text,
        # A film always has its script; a prompt has one where it is several captions.
        script=None if two_texts and len(captions) == 1 else script,
        sha256=file.sha256,
    )


def _digest(captions: Sequence[str]) -> str:
    """Return a digest of the captions, the same for true and false ones."""
    return hashlib.sha256("\0".join(captions).encode("utf-8", "surrogatepass")).hexdigest()[:12]


WORK = "work"
"""The group of a manifest's row that says which film it is an excerpt of."""


def _films(testbeds: Mapping[str, Testbed]) -> dict[tuple[str, str], str]:
    """By testbed and source: the film, called like the first source that is of it.

    A film is identified by its content, whatever it is called: the bytes of the source, those of an
    intact video, the group ``work``, and where prompts are tested their words. Two copies of
    one film are one witness, and so are ten videos of one prompt.
    """
    every = [(name, item) for name, testbed in testbeds.items() for item in testbed.sources]
    names: dict[Hashable, str] = {
        (name, source.id): f"{name}/{source.id}" for name, source in every
    }
    links = [
        ((name, source.id), *_keys(source, words=of_prompts(testbeds[name])))
        for name, source in every
    ]
    first = clustered([*((key,) for key in names), *links])
    return {(name, source.id): names[first[name, source.id]] for name, source in every}


def _keys(source: SourceFilm, *, words: bool) -> Iterator[Hashable]:
    """Keys that two sources do not share if they are two films."""
    yield from filter(None, (source.sha256, *(video.sha256 for video in source.intact)))
    if source.groups.get(WORK):
        yield (WORK, source.groups[WORK])
    if words:
        yield tuple(clip.caption for clip in source.clips)


def same_films(cases: Iterable[Case]) -> list[Remark]:
    """Return a remark on sources that are the same film; none where there are none."""
    films = Counter({(case.testbed, case.source): case.cluster for case in cases}.values())
    copies = [count for count in films.values() if count > 1]
    return [Remark(RemarkKind.SAME_FILM, sum(copies), len(copies))] if copies else []


def answerable(case: Case, judge: Judge | RatingJudge) -> Case:
    """Return the case; of two prompts it has a failure where the judge cannot compare them."""
    prompts = case.kind is PairKind.PROMPT or bool(case.control_of)
    if case.failure is not None or not prompts:
        return case
    if not isinstance(judge, RatingJudge):
        why = "it compares two videos under one prompt, not two prompts of one video"
    elif not judge.info.reads_text:
        why = "it does not read the prompt"
    else:
        return case
    return replace(case, failure=Failure(Reason.NOT_APPLICABLE, why))
