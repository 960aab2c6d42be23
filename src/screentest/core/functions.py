"""Plain functions in the registry: positional parameters are inputs, keyword-only ones options.

``@screentest.metric``, ``judge``, ``degradation`` and ``placebo`` take a factory (a class, or a
function without positional parameters, as ``register`` does) or a plain function. What a plain
function is handed depends on the names of its positional parameters; an annotation decides where
a name says nothing. Options are recorded in the spec and in the signature.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

from screentest.core.registry import register

F = TypeVar("F", bound=Callable[..., Any])
Maker: TypeAlias = Callable[[Callable[..., Any], Mapping[str, Any]], Any]
"""(the function with its options bound, the options of the frames) → the implementation."""


@dataclass(frozen=True, slots=True)
class Setting:
    """An option that the machine behind a function has: how many frames, how large."""

    type: Any
    default: Any


class UnknownForm(TypeError):
    """A function with parameters that no form has."""


def is_factory(thing: Callable[..., Any]) -> bool:
    """Whether it makes the implementation, instead of being one.

    >>> is_factory(lambda *, rate=2.0: None), is_factory(lambda image: 0.5)
    (True, False)
    """
    return inspect.isclass(thing) or not inputs_of(thing)


def inputs_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The positional parameters."""
    return {
        name: one
        for name, one in inspect.signature(function).parameters.items()
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    }


def options_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The keyword-only parameters; each needs a default."""
    found = {}
    for name, one in inspect.signature(function).parameters.items():
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise UnknownForm(f"{function.__name__}: *{name} is neither an input nor an option")
        if one.kind is one.KEYWORD_ONLY:
            if one.default is one.empty:
                raise UnknownForm(
                    f"{function.__name__}: option {name!r} needs a default,"
                    f" as in {name}: float = 1.0"
                )
            found[name] = one
    return found


def form_of(
    kind: str,
    function: Callable[..., Any],
    forms: Sequence[tuple[str, ...]],
    besides: Sequence[str],
    by_annotation: Mapping[str, str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which of the forms a function has, and which of the names ``besides`` it takes.

    ``by_annotation`` gives the name of a parameter from the last word of its annotation.
    """
    named, more = [], []
    known = {name for form in forms for name in form}
    for name, one in inputs_of(function).items():
        if name in besides:
            more.append(name)
        elif name in known:
            named.append(name)
        else:
            named.append(by_annotation.get(_last_word(one.annotation), name))
    # Two parameters of one kind, as (one: Image, two: Image), are the form of two names.
    form = ("before", "after") if named == ["image", "image"] else tuple(named)
    if form in forms:
        return form, tuple(more)
    listed = "\n".join(f"  def {function.__name__}({', '.join(one)}, …)" for one in forms)
    raise UnknownForm(
        f"{kind} {function.__name__}({', '.join(inputs_of(function))}) is not of a known form."
        f" The forms are:\n{listed}\nEach may also take {' and '.join(besides)}, and"
        " keyword-only options with defaults."
    )


def _last_word(annotation: Any) -> str:
    """The name of a type, however it is written.

    >>> _last_word("np.ndarray"), _last_word(int), _last_word("NDArray[np.uint8]")
    ('ndarray', 'int', 'NDArray')
    """
    written = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return str(written).partition("[")[0].rpartition(".")[2].strip()


def summary_of(function: Callable[..., Any], given: str) -> str:
    """What is said of a function in lists: as given, or the first line of its docstring."""
    first = (inspect.getdoc(function) or "").partition("\n")[0].rstrip(".")
    return given or first or function.__name__.replace("_", " ")


def register_function(
    kind: str,
    function: Callable[..., Any],
    make: Maker,
    settings: Mapping[str, Setting],
    *,
    name: str,
    version: int,
    summary: str,
) -> None:
    """Register a factory that takes the function's options and the machine's ``settings``.

    A setting that the function has among its options, as ``rate``, is handed to both.
    """
    own = options_of(function)
    parameters = {
        key: inspect.Parameter(
            key, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.type
        )
        for key, one in settings.items()
    } | own

    def factory(**options: Any) -> Any:
        call = partial(function, **{key: options[key] for key in own})
        return make(call, {key: options[key] for key in settings})

    factory.__name__ = factory.__qualname__ = function.__name__
    factory.__module__ = function.__module__
    factory.__doc__ = function.__doc__
    # Annotations written as text are looked up where the function is.
    factory.__wrapped__ = function  # type: ignore[attr-defined]
    factory.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    factory.__annotations__ = {
        key: one.annotation for key, one in parameters.items() if one.annotation is not one.empty
    }
    register(kind, name, version=version, summary=summary)(factory)


def backend(
    role: str, *, name: str = "", version: int = 1, summary: str = "", **info: Any
) -> Callable[[F], F]:
    """Register a backend of a model role: a class, or a factory with keyword-only options.

    What it makes has the methods of the role's protocol, and ``identity``: what its numbers
    depend on beyond its options, such as the hash of its weights.
    """
    return _registering(role, name, version, summary, info)


def suite(*, name: str = "", version: int = 1, summary: str = "") -> Callable[[F], F]:
    """Register a suite: a function without positional parameters that returns a Suite."""
    return _registering("suite", name, version, summary, {})


def _registering(
    kind: str, name: str, version: int, summary: str, info: Mapping[str, Any]
) -> Callable[[F], F]:
    def keep(factory: F) -> F:
        if not is_factory(factory):
            raise UnknownForm(
                f"{kind} {factory.__name__} must be a class, or a function whose parameters are"
                " all keyword-only options with defaults"
            )
        said = summary_of(factory, summary)
        called = name or factory.__name__
        return register(kind, called, version=version, summary=said, **info)(factory)

    return keep
