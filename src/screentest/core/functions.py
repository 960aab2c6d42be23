"""Plain functions in the registry: positional parameters are inputs, keyword-only ones options.

``@screentest.metric``, ``judge``, ``degradation`` and ``placebo`` take a factory (a class, or a
function without positional parameters, as ``register`` does) or a plain function. What a plain
function is handed depends on the names of its positional parameters; an annotation decides where
a name says nothing. Options are recorded in the spec and in the signature.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial, wraps
from types import UnionType
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar, overload, runtime_checkable

from screentest.core.registry import register

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
Maker: TypeAlias = Callable[[Callable[..., Any], Mapping[str, Any]], Any]
"""(the function with its options bound, the options of the frames) → the implementation."""


@dataclass(frozen=True, slots=True)
class Setting:
    """An option that the machine behind a function has: how many frames, how large."""

    type: Any
    default: Any


@runtime_checkable
class Asks(Protocol):
    """A question to a model, such as a ``Query``: its role and template are in signatures."""

    @property
    def role(self) -> str: ...

    @property
    def template(self) -> str: ...


class UnknownForm(TypeError):
    """A function with parameters that no form has."""


class Decorator(Protocol[P]):
    """A decorator that is written bare, or with options."""

    @overload
    def __call__(self, function: F, /) -> F: ...

    @overload
    def __call__(self, *args: P.args, **options: P.kwargs) -> Callable[[F], F]: ...


def decorator(make: Callable[P, Callable[[Any], Any]]) -> Decorator[P]:
    """Let a decorator be written bare (``@metric``), and check the types of its options.

    Args:
        make: Takes the options, all by name, and returns the decorator.
    """
    name = make.__name__

    @wraps(make)
    def apply(*given: Any, **options: Any) -> Any:
        if len(given) == 1 and callable(given[0]) and not options:
            return make()(given[0])  # type: ignore[call-arg]
        if given:
            raise TypeError(f"@{name} takes options by name, as in @{name}(name={given[0]!r})")
        for key, hint in _hints(make).items():
            if key in options and not _fits(options[key], hint):
                wanted = make.__annotations__[key]
                raise TypeError(f"@{name}: invalid {key} {options[key]!r}: must be {wanted}")
        return make(**options)  # type: ignore[call-arg]

    return apply


_hints = cache(typing.get_type_hints)


def _fits(value: Any, hint: Any) -> bool:
    """Test a value against an annotation, as far as decorators have them.

    >>> _fits(2, float | None), _fits("chat", Sequence[str]), _fits(["a"], Mapping[str, int])
    (True, False, False)
    """
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, UnionType):
        return any(_fits(value, choice) for choice in inner)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(
            _fits(entry, inner[1]) for entry in value.values()
        )
    if origin is Sequence:
        listed = isinstance(value, Sequence) and not isinstance(value, str)
        return listed and all(_fits(entry, inner[0]) for entry in value)
    if origin is Callable:
        return callable(value)
    if hint in (int, float):
        numbers = (int, float) if hint is float else int
        return isinstance(value, numbers) and not isinstance(value, bool)
    return not isinstance(hint, type) or isinstance(value, hint)


def is_factory(thing: Callable[..., Any]) -> bool:
    """Tell what makes the implementation from what is one.

    >>> is_factory(lambda *, rate=2.0: None), is_factory(lambda image: 0.5)
    (True, False)
    """
    return inspect.isclass(thing) or not inputs_of(thing)


def inputs_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """List the positional parameters."""
    return {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    }


def options_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """List the keyword-only parameters; each needs a default."""
    options = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise UnknownForm(f"{function.__name__}: *{name} is neither an input nor an option")
        if parameter.kind is parameter.KEYWORD_ONLY:
            if parameter.default is parameter.empty:
                raise UnknownForm(
                    f"{function.__name__}: option {name!r} needs a default,"
                    f" as in {name}: float = 1.0"
                )
            options[name] = parameter
    return options


def form_of(
    kind: str,
    function: Callable[..., Any],
    forms: Sequence[tuple[str, ...]],
    besides: Sequence[str],
    by_annotation: Mapping[str, str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Find the form of a function, and the names of ``besides`` that it takes.

    ``by_annotation`` gives the name of a parameter from the last word of its annotation.
    """
    named, more = [], []
    names = {name for form in forms for name in form}
    for name, parameter in inputs_of(function).items():
        if name in besides:
            more.append(name)
        elif name in names:
            named.append(name)
        else:
            named.append(by_annotation.get(_last_word(parameter.annotation), name))
    # Two parameters of one kind, as (a: Image, b: Image), are the form of two names.
    form = ("before", "after") if named == ["image", "image"] else tuple(named)
    if form in forms:
        return form, tuple(more)
    listed = "\n".join(f"  def {function.__name__}({', '.join(form)}, …)" for form in forms)
    raise UnknownForm(
        f"{kind} {function.__name__}({', '.join(inputs_of(function))}) is not of a known form."
        f" The forms are:\n{listed}\nEach may also take {' and '.join(besides)}, and"
        " keyword-only options with defaults."
    )


def _last_word(annotation: Any) -> str:
    """Find the name of a type, however it is written.

    >>> _last_word("np.ndarray"), _last_word(int), _last_word("NDArray[np.uint8]")
    ('ndarray', 'int', 'NDArray')
    """
    written = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return str(written).partition("[")[0].rpartition(".")[2].strip()


def summary_of(function: Callable[..., Any], given: str) -> str:
    """Give the summary of a function: as given, or the first line of its docstring."""
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
    options = options_of(function)
    parameters = {
        key: inspect.Parameter(
            key, inspect.Parameter.KEYWORD_ONLY, default=setting.default, annotation=setting.type
        )
        for key, setting in settings.items()
    } | options

    def factory(**given: Any) -> Any:
        call = partial(function, **{key: given[key] for key in options})
        return make(call, {key: given[key] for key in settings})

    factory.__name__ = factory.__qualname__ = function.__name__
    factory.__module__ = function.__module__
    factory.__doc__ = function.__doc__
    # Annotations written as text are looked up where the function is.
    factory.__wrapped__ = function  # type: ignore[attr-defined]
    factory.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    factory.__annotations__ = {
        key: parameter.annotation
        for key, parameter in parameters.items()
        if parameter.annotation is not parameter.empty
    }
    register(kind, name, version=version, summary=summary)(factory)


def backend(
    role: str, *, name: str = "", version: int = 1, summary: str = "", **info: Any
) -> Callable[[F], F]:
    """Register a backend of a model role: a class, or a factory with keyword-only options.

    The backend has the methods of the role's protocol, and ``identity``: what its numbers depend on
    beyond its options, such as the hash of its weights.

    Args:
        role: The role that it fills, such as ``flow``.
        name: The name to choose it by; that of the class where empty.
        version: Raise it whenever the numbers change.
        summary: One line for lists; the first line of the docstring where empty.
        **info: Further facts for the registry.
    """
    if not isinstance(role, str):
        raise TypeError('@backend needs the name of the role, as in @backend("flow")')
    return partial(register_factory, role, name=name, version=version, summary=summary, **info)


@decorator
def suite(*, name: str = "", version: int = 1, summary: str = "") -> Callable[[F], F]:
    """Register a suite: a function without positional parameters that returns a Suite.

    Args:
        name: The name of the suite; that of the function where empty.
        version: Raise it whenever the numbers change.
        summary: One line for lists; the first line of the docstring where empty.
    """
    return partial(register_factory, "suite", name=name, version=version, summary=summary)


def register_factory(
    kind: str, factory: F, *, name: str = "", version: int = 1, summary: str = "", **info: Any
) -> F:
    """Register a class, or a function whose parameters are all options."""
    if not is_factory(factory):
        raise UnknownForm(
            f"{kind} {factory.__name__} must be a class, or a function whose parameters are"
            " all keyword-only options with defaults"
        )
    words, called = summary_of(factory, summary), name or factory.__name__
    return register(kind, called, version=version, summary=words, **info)(factory)
