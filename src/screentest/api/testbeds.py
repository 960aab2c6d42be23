"""Building testbeds of films, and of prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from screentest._util.text import lines
from screentest.api import progress_of
from screentest.api.options import Videos, items_of, limits_of, refuse_unknown, retry_of
from screentest.core.aspects import PairKind
from screentest.core.calls import Progress
from screentest.core.errors import BadOption, Stopped
from screentest.core.item import File
from screentest.core.registry import registry
from screentest.core.signature import write_options
from screentest.inputs.importers import read_corpus
from screentest.inputs.parted import Corpus, chosen, in_groups_of
from screentest.models.ask.templates import Prompts
from screentest.present.results import BuiltTestbed
from screentest.run.session import Settings, WorkOptions, cap_of, open_engine, settings_of
from screentest.video.limits import Limits

if TYPE_CHECKING:
    from screentest.judges.cases import Case
    from screentest.testbeds.join import Joined
    from screentest.testbeds.options import BuildOptions


def build(
    films: Videos,
    *,
    out: File = "testbed",
    operators: str | Sequence[str] = "paper",
    aspects: str | Sequence[str] = "all",
    placebos: str | Sequence[str] | None = None,
    seed: int = 7,
    only: File | None = None,
    limit: int | None = None,
    min_length: float = 0.0,
    clips: int | Sequence[int] = 5,
    min_clips: int | None = None,
    severities: Sequence[float] = (1.0,),
    backgrounds: File | None = None,
    long_side: int | None = 512,
    fps: str | int | float | Fraction | None = None,
    extract: str | None = None,
    preset: str | None = None,
    check: str | None = None,
    categories: Sequence[str] = (),
    join: int = 1,
    form: str | None = None,
    timeout: float = 14400,
    max_file_size: float = 100.0,
    **work: Unpack[WorkOptions],
) -> BuiltTestbed:
    """Build a testbed of captioned films: pairs of an intact and a degraded video.

    Args:
        films: Items, a manifest, the folder of a download, or videos as ``score`` reads them.
        out: The testbed's folder.
        operators: The paper's ten (``paper``), ``family``, ``all``, ``none``, or names.
        aspects: Only operators that degrade these.
        placebos: Names, ``all`` or ``none``. None: ``reencode`` of videos without captions, else
            none.
        seed: Decides every choice.
        only: A file with the ids of the films to take, or their paths, one a line.
        limit: At most so many films, the first ones.
        min_length: Leave out films of fewer seconds.
        clips: How many clips of a film to degrade; several numbers make a ladder.
        min_clips: Take films with fewer eligible clips than ``clips``, but at least so many. None:
            one clip of videos without captions, else as many as ``clips``.
        severities: How strongly to degrade, above 0; several make a ladder.
        backgrounds: Pictures for the operator background_consistency.
        long_side: Pixels of all videos; None keeps the source's.
        fps: Frames a second; None keeps the source's.
        extract: Who reads the captions.
        preset: Everything as the paper has it; missing models are refused.
        check: What becomes of a pair that fails its check: another clip is tried (``require``),
            it is kept with what was found (``report``), or none is checked (``off``). None:
            ``report`` with a preset, else ``require``.
        categories: Names that the chat model sorts sources into.
        join: Make one source of every so many videos.
        form: The format of the input: manifest, vript or another importer.
        timeout: For one film and operator.
        max_file_size: A larger film is skipped unread; 100 at most.
        **work: Models, engine, workers, progress: see ``WorkOptions``.

    Returns:
        The testbed, and remarks on what could not be built.
    """
    from screentest.testbeds.builder import build_testbed
    from screentest.testbeds.catalogue import choose_operators
    from screentest.testbeds.options import BuildOptions, frame_rate, placebo_specs
    from screentest.testbeds.preset import preset_named
    from screentest.testbeds.sources import check_models

    refuse_unknown(build, work)
    settings, chat = _build_settings(work)
    fixed = preset_named(preset) if preset else None
    if fixed is not None:
        fixed.takes(
            operators=operators if isinstance(operators, str) else ",".join(operators),
            clips=(clips,) if isinstance(clips, int) else tuple(clips),
            severities=tuple(severities),
            min_clips=min_clips,
            long_side=long_side or 0,
            fps=frame_rate(fps),
            extract=extract,
        )
        operators, fps, extract = fixed.operators, fixed.options.rate, fixed.options.extract
    corpus = chosen(_corpus(films, form), _names_in(only), limit, min_length)
    if not corpus.format and fixed is None:
        one = isinstance(clips, int) or len(set(clips)) == 1
        min_clips = 1 if min_clips is None and one else min_clips
        placebos = "reencode" if placebos is None else placebos
    options = BuildOptions(
        degradations=_with_backgrounds(choose_operators(operators, aspects), backgrounds),
        placebos=placebo_specs(placebos or "none"),
        seed=seed,
        clips=(clips,) if isinstance(clips, int) else tuple(clips),
        least_clips=min_clips,
        severities=tuple(severities),
        long_side=long_side or None,
        rate=frame_rate(fps),
        extract=extract or "rules",
        check=check or ("require" if fixed is None else "report"),
        models=tuple(choice for choice in settings.models if choice.role != "chat"),
        device=settings.device,
    )
    if fixed is not None:
        options = fixed.applied(options)
        fixed.must_be_here(options, chat=chat is not None, backgrounds=backgrounds is not None)
    if not 1 <= timeout <= 10**7:  # NaN is neither
        raise BadOption.of("timeout", timeout, "1 second or more")
    if not 0 < max_file_size <= 100:
        raise BadOption.of("max_file_size", max_file_size, "above 0, 100 GB at most")
    limits = replace(limits_of(max_file_size), wall_seconds=timeout)
    check_models(options)
    cap = cap_of(work, settings)
    folder, progress = Path(out), progress_of(work.get("progress"))
    joined, remarks = _sources(corpus, join, folder, options, work, limits)
    with open_engine(work, settings, timeout=timeout) as (engine, _):
        done = build_testbed(
            joined.items,
            folder,
            options,
            chat=chat,
            categories=categories,
            max_cost=cap,
            engine=engine,
            progress=progress,
            lost=joined.failed,
            limits=limits,
            retry=retry_of(work),
        )
    remarks += map(str, done.remarks)
    if done.changed:
        remarks.append(f"{done.changed} results thrown away: their source changed meanwhile")
    made = BuiltTestbed(
        folder, done.testbed, tuple(remarks), done.made, done.reused, changed=done.changed
    )
    return Stopped.unless_done(made, done.exit_code)


def build_prompts(
    videos: Videos,
    *,
    out: File = "testbed",
    changes: str | Sequence[str] = "all",
    seed: int = 7,
    form: str | None = None,
    progress: Progress | bool | None = None,
) -> BuiltTestbed:
    """Build a testbed of prompts: pairs of a video under its own prompt and under a false one.

    No video is made.

    Args:
        videos: Items, a manifest, or the folder of a download; those with prompts are used.
        out: The testbed's folder.
        changes: ``all``, or some of swapped, object, color, number, place, action, order.
        seed: Decides every choice.
        form: The format of the input: manifest, vript or another importer.
        progress: Who shows how far it is; False: nobody.

    Returns:
        The testbed, and remarks on prompts that could not be changed.
    """
    from screentest.testbeds.prompts import build_prompts as run_build
    from screentest.testbeds.prompts import change_names

    names = change_names(changes)
    items = list(_corpus(videos, form).items) if form else items_of(videos)
    done = run_build(items, Path(out), names, seed=seed, progress=progress_of(progress))
    remarks = tuple(map(str, done.remarks))
    return BuiltTestbed(Path(out), done.testbed, remarks, done.made, done.reused)


def pairs_at_most(videos: File, aspects: Sequence[str] = ()) -> list[Case]:
    """Return the pairs that ``build`` would try to make of videos, with their placebos."""
    from screentest.judges.cases import Case
    from screentest.testbeds.catalogue import DEGRADATION, choose_operators

    corpus = _corpus(videos, None)
    infos = {
        spec: registry.build(DEGRADATION, spec).thing.info
        for spec in choose_operators(aspects=aspects or "all")
    }
    cases = []
    for item in corpus.items:
        copy = replace(item, id=f"{item.id} changed")
        served = {n: i for n, i in infos.items() if item.text.strip() or not i.mentions}
        about = partial(Case, prompt=item.text, first=item, second=copy, source=item.id)
        cases += [
            about(f"{item.id}/{name}", info.aspect, kind=PairKind.DEGRADATION, name=name)
            for name, info in served.items()
        ]
        cases += [
            about(f"{item.id}/reencode", aspect, kind=PairKind.PLACEBO, name="reencode")
            for aspect in dict.fromkeys(info.aspect for info in served.values())
            if not corpus.format
        ]
    return cases


def _corpus(videos: Videos, form: str | None) -> Corpus:
    """Read a folder or file in its format, or take items as they are."""
    if isinstance(videos, str | PathLike):
        return read_corpus(Path(videos), form)
    return Corpus("manifest", tuple(items_of(videos)))


def _names_in(file: File | None) -> list[str]:
    """Read names, one a line."""
    if file is None:
        return []
    try:
        names = lines(Path(file).read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadOption(f"{file} cannot be read: {error}") from None
    return [name.strip() for name in names if name.strip()]


def _sources(
    corpus: Corpus, join: int, out: Path, options: BuildOptions, work: WorkOptions, limits: Limits
) -> tuple[Joined, list[str]]:
    """Make one file of each film of a corpus; gives them with remarks."""
    from screentest.testbeds.join import Joined, join_sources

    if join != 1 and corpus.parted:
        raise BadOption("`join` cannot be used with a Vript download: its clips are joined anyway")
    parted = corpus.parted if join == 1 else tuple(in_groups_of(corpus.items, join))
    whole = corpus.items if join == 1 else ()
    joined = Joined(whole)
    if parted:
        made = join_sources(
            parted,
            out.absolute(),
            long_side=options.long_side,
            gaps=bool(corpus.parted),
            rate=options.rate,
            workers=work.get("workers"),
            limits=limits,
            progress=progress_of(work.get("progress")),
        )
        joined = replace(made, items=(*whole, *made.items))
    remarks = [*filter(None, [corpus.seen]), *map(str, corpus.problems), *joined.faults]
    rest = len(corpus.items) % join
    if rest:
        left = ", ".join(item.id for item in corpus.items[-rest:])
        remarks.append(f"left out, too few to join: {left}")
    return joined, remarks


def _with_backgrounds(specs: tuple[str, ...], folder: File | None) -> tuple[str, ...]:
    """Give the folder of backgrounds to the degradation that uses it."""
    if folder is None:
        return specs
    name = "background_consistency"
    if name not in specs:
        raise BadOption(
            f"`backgrounds` is for {name}, which is not asked for",
            advice="Add it to `operators`, or leave `backgrounds` out.",
        )
    given = write_options({"folder": str(Path(folder).absolute())})
    return tuple(f"{name}:{given}" if spec == name else spec for spec in specs)


def _build_settings(work: WorkOptions) -> tuple[Settings, Settings | None]:
    """Read the settings, and those of the chat models where any was chosen."""
    chosen = settings_of({**work, "prompts": None, "prices": None}).models
    chats = tuple(choice for choice in chosen if choice.role == "chat")
    if not chats and (work.get("prompts") is not None or work.get("prices") is not None):
        raise BadOption(
            "`prompts` and `prices` are for a chat model, and there is none",
            advice='Add `model="chat=openai:NAME"`.',
        )
    settings = settings_of(work)
    if not chats:
        return settings, None
    Prompts(settings.prompts)  # a folder that replaces nothing is refused now
    return settings, replace(settings, models=chats)
