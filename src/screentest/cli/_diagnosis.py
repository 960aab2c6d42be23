"""Everything the doctor looks at, and what is at fault."""

from __future__ import annotations

from dataclasses import dataclass, field

from screentest.cli import _parts
from screentest.cli._machine import Machine, survey_machine
from screentest.cli._registered import Registered, survey_registry
from screentest.core import Registry


@dataclass(frozen=True, slots=True)
class Fault:
    """Something broken that should work, and the command that mends it."""

    what: str
    fix: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The state of an installation."""

    screentest: str
    machine: Machine
    required: list[_parts.Part]
    optional: list[_parts.Part]
    registered: list[Registered]
    ffmpeg: dict[str, str] = field(default_factory=dict)
    codecs: dict[str, bool] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)


def diagnose(registry: Registry) -> Diagnosis:
    """Look at the machine, the parts, and all that is registered."""
    from screentest import __version__

    required = _parts.required_parts()
    registered, broken_kinds = survey_registry(registry)
    engine_works = any(part.name == "av" and part.ok for part in required)
    result = Diagnosis(
        __version__,
        survey_machine(),
        required,
        _parts.optional_parts(),
        registered,
        _parts.ffmpeg_libraries() if engine_works else {},
        _parts.codecs() if engine_works else {},
    )
    result.faults.extend(
        Fault(f"{part.name}: {part.problem}", part.fix) for part in required if part.problem
    )
    if clash := _parts.opencv_clash():
        result.faults.append(Fault(clash.problem, clash.fix))
    for name, there in result.codecs.items():
        if not there:
            result.faults.append(
                Fault(f"this PyAV lacks {name}", "pip install --force-reinstall av")
            )
    for kind, why in broken_kinds.items():
        result.faults.append(
            Fault(f"{kind}: does not load: {why}", "pip install --force-reinstall screentest")
        )
    for name, why in registry.broken_plugins.items():
        result.faults.append(
            Fault(f"plugin {name}: does not load: {why}", f"pip install -U {name}, or uninstall it")
        )
    return result
