"""Building testbeds of films, and of prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from screentest.api.options import (
    Videos,
    WorkOptions,
    engine_of,
    items_of,
    limits_of,
    progress_of,
    refuse_unknown,
    retry_of,
)
from screentest.core.errors import BadOption, Stopped
from screentest.core.signature import write_options
from screentest.present.results import BuiltTestbed
from screentest.run.session import File, ModelOptions, Settings, cap_of, settings_of
from screentest.video.limits import Limits

if TYPE_CHECKING:
    from fractions import Fraction

    from screentest.testbeds.options import BuildOptions


def build(
    films: Videos,
    *,
    out: File = "testbed",
    kind: str = "films",
    operators: str | Sequence[str] = "paper",
    aspects: str | Sequence[str] = "all",
    placebos: str | Sequence[str] = (),
    seed: int = 7,
    clips: int | Sequence[int] = 5,
    min_clips: int | None = None,
    severities: Sequence[float] = (1.0,),
    backgrounds: File | None = None,
    long_side: int | None = 512,
    fps: str | int | float | Fraction | None = None,
    extract: str | None = None,
    preset: str | None = None,
    categories: Sequence[str] = (),
    join: int = 1,
    form: str | None = None,
    timeout: float = 14400,
    max_file_size: float = 100.0,
    **work: Unpack[WorkOptions],
) -> BuiltTestbed:
    """Build a testbed of captioned films: pairs of an intact and a harmed video.

    With ``kind="prompts"`` no video is made: the pairs are the same video under its own prompt and
    under one that is false of it. ``films`` are then all videos that have prompts, ``operators``
    the changes (swapped, object, color, number, place, action, order; all of them by default),
    and of the other options only ``seed`` and ``form`` mean anything.

    ``films`` are items, a manifest, or the folder of a download (``form`` says which).
    ``operators`` are the paper's ten, ``family``, ``all`` or names; ``aspects`` narrows them
    down; ``placebos`` may be ``all``. A film with fewer eligible clips than ``clips`` is skipped
    with the reason, or harmed in those it has where they are ``min_clips``. ``join`` makes one
    source of so many videos; ``extract`` says who reads the captions: rules, or chat, which also
    sorts sources into ``categories``. ``preset="paper"`` fixes all this, and the models, as the
    paper has it. Films above ``max_file_size`` GB, 100 at most, are skipped unread.
    """
    from screentest.testbeds.builder import build_testbed
    from screentest.testbeds.catalogue import choose_operators
    from screentest.testbeds.options import BuildOptions, frame_rate, placebo_specs
    from screentest.testbeds.preset import preset_named
    from screentest.testbeds.sources import check_models

    refuse_unknown(build, work)
    if kind == "prompts":
        usual = {
            "aspects": (aspects, "all"),
            "placebos": (tuple(placebos), (), tuple("none")),
            "clips": (clips, 5, (5,)),
            "severities": (tuple(severities), (1.0,)),
            "long-side": (long_side, 512),
            "min-clips": (min_clips, None),
            "backgrounds": (backgrounds, None),
            "fps": (fps, None),
            "extract": (extract, None),
            "preset": (preset, None),
            "categories": (tuple(categories), ()),
            "join": (join, 1),
        }
        given = [name for name, (value, *without) in usual.items() if value not in without]
        if given:
            raise BadOption(f"--{given[0]} says how films are harmed, and prompts harm none")
        return _build_prompts(films, Path(out), operators, seed, form, work)
    if kind != "films":
        raise BadOption(f"invalid kind of testbed {kind!r}: must be films or prompts")
    settings, chat = _build_settings(work)
    fixed = preset_named(preset) if preset else None
    if fixed is not None:
        fixed.takes(
            operators=operators if isinstance(operators, str) else ",".join(operators),
            clips=(clips,) if isinstance(clips, int) else tuple(clips),
            severity=tuple(severities),
            min_clips=min_clips,
            long_side=long_side or 0,
            fps=frame_rate(fps),
            extract=extract,
        )
        operators, fps, extract = fixed.operators, fixed.options.rate, fixed.options.extract
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
        models=tuple(choice for choice in settings.models if choice.role != "chat"),
        device=settings.device,
    )
    if fixed is not None:
        options = fixed.applied(options)
        fixed.must_be_here(options, chat=chat is not None, backgrounds=backgrounds is not None)
    if not 1 <= timeout <= 10**7:  # NaN is neither
        raise BadOption(f"invalid timeout {timeout:g}: must be 1 second or more")
    if not 0 < max_file_size <= 100:
        raise BadOption(f"invalid file size {max_file_size:g} GB: must be in (0, 100]")
    limits = replace(limits_of(max_file_size), wall_seconds=timeout)
    check_models(options)
    cap = cap_of(work, settings)
    folder, progress = Path(out), progress_of(work.get("progress"))
    sources = _Sources(films, form, join, folder, options, work, limits)
    with engine_of(work, settings, timeout=timeout) as (engine, _):
        done = build_testbed(
            sources.joined.items,
            folder,
            options,
            chat=chat,
            categories=categories,
            max_cost=cap,
            engine=engine,
            progress=progress,
            lost=sources.joined.failed,
            limits=limits,
            retry=retry_of(work),
        )
    remarks = [*sources.remarks, *done.remarks]
    if done.changed:
        remarks.append(f"{done.changed} results thrown away: their source changed meanwhile")
    made = BuiltTestbed(
        folder, done.testbed, tuple(remarks), done.made, done.reused, changed=done.changed
    )
    return Stopped.unless_done(made, done.exit_code)


def _build_prompts(
    videos: Videos,
    out: Path,
    operators: str | Sequence[str],
    seed: int,
    form: str | None,
    work: WorkOptions,
) -> BuiltTestbed:
    from screentest.inputs.importers import read_corpus
    from screentest.testbeds.prompts import build_prompts, change_names

    changes = change_names("all" if operators in ("paper", ["paper"]) else operators)
    if form is not None and isinstance(videos, str | PathLike):
        items = list(read_corpus(Path(videos), form).items)
    else:
        items = items_of(videos)
    done = build_prompts(items, out, changes, seed=seed, progress=progress_of(work.get("progress")))
    return BuiltTestbed(out, done.testbed, done.remarks, done.made, done.reused)


class _Sources:
    """The films of a corpus in one file each, and what there is to know of them."""

    def __init__(
        self,
        films: Videos,
        form: str | None,
        join: int,
        out: Path,
        options: BuildOptions,
        work: WorkOptions,
        limits: Limits,
    ) -> None:
        from screentest.inputs.importers import Corpus, read_corpus
        from screentest.inputs.parted import in_groups_of
        from screentest.testbeds.join import Joined, join_sources

        if isinstance(films, str | PathLike):
            corpus = read_corpus(Path(films), form)
        else:
            corpus = Corpus("manifest", tuple(items_of(films)))
        if join != 1 and corpus.parted:
            raise BadOption("the films of a Vript download are joined anyway: no --join")
        parted = corpus.parted if join == 1 else tuple(in_groups_of(corpus.items, join))
        whole = corpus.items if join == 1 else ()
        self.joined = Joined(whole)
        if parted:
            made = join_sources(
                parted,
                out.absolute(),
                long_side=options.long_side,
                gaps=bool(corpus.parted),
                workers=work.get("workers"),
                limits=limits,
                progress=progress_of(work.get("progress")),
            )
            self.joined = replace(made, items=(*whole, *made.items))
        self.remarks = [*map(str, corpus.problems), *self.joined.faults]
        rest = len(corpus.items) % join
        if rest:
            left = ", ".join(item.id for item in corpus.items[-rest:])
            self.remarks.append(f"left out, too few to join: {left}")


def _with_backgrounds(specs: tuple[str, ...], folder: File | None) -> tuple[str, ...]:
    """The degradations, with the folder of backgrounds."""
    if folder is None:
        return specs
    name = "background_consistency"
    if name not in specs:
        raise BadOption(
            f"--backgrounds is for {name}, which is not asked for",
            advice="Add it to --operators, or leave --backgrounds out.",
        )
    given = write_options({"folder": str(Path(folder).absolute())})
    return tuple(f"{name}:{given}" if spec == name else spec for spec in specs)


def _build_settings(work: ModelOptions) -> tuple[Settings, Settings | None]:
    """The settings, and those of the chat models where any was chosen."""
    from screentest.models.templates import Prompts

    chosen = settings_of({**work, "prompts": None, "prices": None}).models
    chats = tuple(choice for choice in chosen if choice.role == "chat")
    if not chats and (work.get("prompts") is not None or work.get("prices") is not None):
        raise BadOption(
            "--prompts and --prices are for a chat model, and there is none",
            advice="Add --model chat=openai:NAME.",
        )
    settings = settings_of(work)
    if not chats:
        return settings, None
    Prompts(settings.prompts)  # a folder that replaces nothing is refused now
    return settings, replace(settings, models=chats)
