"""Options of commands: those that several share, and those of a job of the Python API.

A command is decorated with sets of options, and gets them as keywords with the names that the
Python API has. The type, default and help of a job's options are read from its signature and its
docstring:

    @shares(MODELS, ENGINE, job=screentest.score)
    def score(videos: list[Path], **options: Any) -> None:
        screentest.score(videos, **options)

Help and flags of a command's own parameters, and the names of the job's options that it has, are in
``options.toml`` beside its module; options that few need are listed there as ``seldom``. The help
of the command below its first line is in ``help.toml``.
"""

from __future__ import annotations

import inspect
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache, wraps
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, cast, get_args, get_origin

import typer
from typer.models import ArgumentInfo

from screentest.core.registry import PLUGIN_FILES, registry

ModelOption = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="ROLE=BACKEND:MODEL", help="The model for a role."),
]
ModelsOption = Annotated[
    str,
    typer.Option(
        "--models",
        metavar="PROFILE",
        help="Models for all roles: builtin, light, paper, or a .toml file.",
    ),
]
PromptsOption = Annotated[
    Path | None,
    typer.Option("--prompts", metavar="DIR", help="Templates that replace the built-in ones."),
]
PricesOption = Annotated[
    Path | None, typer.Option("--prices", metavar="FILE", help="A price list in TOML.")
]
MaxCostOption = Annotated[
    str, typer.Option("--max-cost", metavar="AMOUNT", help="Never spend more than this.")
]


def _load_plugins(files: list[Path]) -> None:
    """Import files of plugins here; worker processes find them in the environment."""
    for file in files:
        registry.load_file(file)
    if files:
        os.environ[PLUGIN_FILES] = os.pathsep.join(str(file.absolute()) for file in files)


PluginOption = Annotated[
    list[Path],
    typer.Option(
        "--plugin",
        metavar="FILE",
        help="A Python file with metrics or judges of yours.",
        callback=_load_plugins,
        show_default=False,
    ),
]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", help="Processes; one per processor if not given.")
]
DeviceOption = Annotated[str, typer.Option("--device", help="Where models run.")]
DamagedOption = Annotated[
    bool, typer.Option("--allow-damaged", help="Score what can be decoded of a damaged film.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
PoolOption = Annotated[
    Literal["worst", "mean"],
    typer.Option("--pool", help="A video counts by the worst tenth of its time, or by its mean."),
]


AllOption = Annotated[
    bool, typer.Option("--all", help="Print all that was measured, with whole signatures.")
]

OptionSet: TypeAlias = Mapping[str, tuple[Any, Any]]
"""Options by the keyword of the Python API: annotation and default."""

BACKENDS: OptionSet = {
    "models": (ModelsOption, "builtin"),
    "model": (ModelOption, None),
    "plugin": (PluginOption, []),
    "device": (DeviceOption, "auto"),
}
MODELS: OptionSet = {
    **BACKENDS,
    "prompts": (PromptsOption, None),
    "prices": (PricesOption, None),
    "max_cost": (MaxCostOption, ""),
}
WORKERS: OptionSet = {"workers": (WorkersOption, None)}


def option(kind: Any, default: Any, help_: str, *flags: str, **more: Any) -> tuple[Any, Any]:
    """Make an option of a set: its annotation and its default."""
    return Annotated[kind, typer.Option(*flags, help=help_, **more)], default


ENGINE: OptionSet = {
    "engine": option(str, "local", "Who works: local, or ray (a cluster).", metavar="NAME"),
    "address": option(str, "", "The Ray cluster; else this machine's.", metavar="HOST:PORT"),
    "gpus": option(
        float, 1.0, "GPUs, or the part of one, for each worker with models, or host on Ray."
    ),
}
RETRY: OptionSet = {
    "retry": option(
        str, "transient", "Failures to try again: transient, all, none.", metavar="WHICH"
    )
}
_TITLES: Mapping[str, str] = {
    **dict.fromkeys(MODELS, "Models"),
    **dict.fromkeys([*WORKERS, *ENGINE, *RETRY], "Processes and machines"),
}
"""Headings of options in the help, by the keyword of the option."""

F = TypeVar("F", bound=Callable[..., None])
N = TypeVar("N", int, float)
_TYPES: Mapping[str, Any] = {
    "bool": bool,
    "int": int,
    "float": float,
    "str": str,
    "int | None": int | None,
    "str | None": str | None,
    "File": Path,
    "File | None": Path | None,
    "Sequence[File]": list[Path],
    "Sequence[str]": list[str],
    "str | Sequence[str]": list[str],
    "list[str] | None": list[str] | None,
}
"""Types of options by the annotations of the API."""


def options_of(job: Callable[..., Any], **written: str | tuple[Any, Any]) -> OptionSet:
    """Options for parameters of a job, in this order.

    Args:
        job: A function of the API; its docstring has the help.
        **written: By parameter the metavar, where wanted after a flag of its own (``--videos
            DIR``); or annotation and default in place of the job's.
    """
    flags = {
        name: words.split()[0]
        if isinstance(words, str) and words.startswith("--")
        else f"--{name.replace('_', '-')}"
        for name, words in written.items()
    }
    parameters, texts = inspect.signature(job).parameters, _help_of(job, flags)
    options: dict[str, tuple[Any, Any]] = {}
    for name, words in written.items():
        if not isinstance(words, str):
            options[name] = words
            continue
        parameter, flag, metavar = parameters[name], flags[name], words.rpartition(" ")[2]
        kind, default = _TYPES[parameter.annotation], parameter.default
        if kind is bool:
            flag = f"{flag}/--no-{flag[2:]}" if default else flag
        elif kind is Path:
            default = Path(default)
        more: dict[str, Any] = {"metavar": metavar} if metavar else {}
        if get_origin(kind) is list:
            default, more["show_default"] = list(default), False
        options[name] = option(kind, default, texts[name], flag, **more)
    return options


def _help_of(job: Callable[..., Any], flags: Mapping[str, str]) -> dict[str, str]:
    """Read the help of parameters from the section Args of a docstring, with their flags."""
    section = (inspect.getdoc(job) or "").partition("\nArgs:\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^    \**(\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE)
    return {
        name: re.sub("``([^`]+)``", lambda at: flags.get(at[1], at[1]), " ".join(text.split()))
        for name, text in rows
    }


def accepted(job: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Leave only the options that a job takes, and those of work."""
    names = {*inspect.signature(job).parameters, *MODELS, *WORKERS, *ENGINE, *RETRY}
    return {name: value for name, value in options.items() if name in names}


@cache
def _tables(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}


def _table_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Read what ``options.toml`` beside its module says of a command."""
    tables = _tables(Path(inspect.getfile(function)).with_name("options.toml"))
    return {**tables.get("common", {}), **tables.get(function.__name__, {})}


def described(function: F) -> F:
    """Give a command its help, and its parameters their help and flags, of the files beside it.

    Every command is: where it is loaded, or by ``shares``.
    """
    first = (function.__doc__ or "").partition("\n")[0]
    rest = _tables(Path(inspect.getfile(function)).with_name("help.toml")).get(function.__name__)
    function.__doc__ = f"{first}\n\n{rest}" if rest else function.__doc__
    table = _table_of(function)
    signature = inspect.signature(function, eval_str=True)
    parameters = []
    for parameter in signature.parameters.values():
        # A command may be loaded twice in a process, and is described once.
        if parameter.name in table and get_origin(parameter.annotation) is not Annotated:
            options = dict(table[parameter.name])
            make = typer.Argument if options.pop("argument", False) else typer.Option
            # Without a flag of its own, a yes would have a no beside it: --once/--no-once.
            own = [f"--{parameter.name.replace('_', '-')}"] if parameter.annotation is bool else []
            declared = make(*options.pop("flags", own), **options)
            parameter = parameter.replace(annotation=Annotated[parameter.annotation, declared])
        parameters.append(parameter)
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return function


def shares(*sets: OptionSet, job: Callable[..., Any] | None = None, **own: Any) -> Callable[[F], F]:
    """Give a command the options of a job before its own, and of these sets; it gets keywords.

    Args:
        *sets: Options that several commands have.
        job: A function of the API; its options are the texts in ``options.toml``, and tables
            with a ``type`` there where the command's differ.
        **own: Annotation and default in place of the job's, or the callback of such a table.
    """

    def decorate(function: F) -> F:
        table = _table_of(function)
        written: dict[str, Any] = {}
        for key, entry in table.items():
            if isinstance(entry, str):
                written[key] = entry
            elif "type" in entry:
                given, more = own.pop(key, None), dict(entry)
                kind, default = _TYPES[more.pop("type")], more.pop("default", None)
                more |= {} if given is None else {"callback": given}
                written[key] = option(
                    kind, default, more.pop("help"), *more.pop("flags", ()), **more
                )
        written |= own
        first = {} if job is None else options_of(job, **written)
        given = inspect.signature(described(function), eval_str=True).parameters.values()
        mine = [one.replace(kind=one.KEYWORD_ONLY) for one in given if one.kind != one.VAR_KEYWORD]
        # Arguments and what is required come first, then the options of the job.
        begin = [
            parameter
            for parameter in mine
            if parameter.default is parameter.empty
            or ArgumentInfo in map(type, get_args(parameter.annotation))
        ]
        rest = [parameter for parameter in mine if parameter not in begin]
        trailing = [parameter for options in sets for parameter in _parameters(options)]
        parameters = [*begin, *_parameters(first), *rest, *trailing]
        seldom = dict.fromkeys(table.get("seldom", ()), "Seldom needed")
        for parameter in parameters:
            if title := {**_TITLES, **seldom}.get(parameter.name):
                get_args(parameter.annotation)[1].rich_help_panel = title

        @wraps(function)
        def command(**given: Any) -> None:
            given.pop("plugin", None)  # imported by its callback
            function(**given)

        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return cast(F, command)

    return decorate


def _parameters(options: OptionSet) -> list[inspect.Parameter]:
    return [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )
        for name, (annotation, default) in options.items()
    ]


def numbers(kind: Callable[[str], N], example: str) -> Callable[[str], tuple[N, ...]]:
    """Make a callback that reads numbers with commas.

    >>> numbers(int, "5 or 1,3,5")("1,3")
    (1, 3)
    """

    def read(text: str) -> tuple[N, ...]:
        try:
            return tuple(kind(part) for part in text.split(","))
        except ValueError:
            raise typer.BadParameter(f"{text!r} is not {example}") from None

    return read


def names(default: str, help_: str) -> tuple[Any, Any]:
    """Make an option for names with commas; its default, such as all, stands for no name."""

    def read(text: str) -> tuple[str, ...]:
        parts = tuple(name.strip() for name in text.split(",") if name.strip())
        return () if parts == (default,) else parts

    return option(str, default, help_, metavar="NAMES", callback=read)


ASPECTS = names("all", "all, or some, with commas.")
