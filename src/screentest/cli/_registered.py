"""What is registered, by kind, and whether it would work here."""

from __future__ import annotations

from dataclasses import dataclass

from screentest.core import BadOption, NoValue, Registry
from screentest.core.registry import HOMES, Entry

NOT_READY = "not ready"
_FIRST_CHOICE = {"chat": "openai:NAME"}


@dataclass(frozen=True, slots=True)
class Registered:
    """One detector, metric, judge, degradation, backend or importer."""

    kind: str
    name: str
    summary: str
    works: bool
    problem: str = ""
    fix: str = ""


def survey_registry(registry: Registry) -> tuple[list[Registered], dict[str, str]]:
    """All entries of all kinds, and the kinds whose modules fail to import."""
    found: list[Registered] = []
    broken: dict[str, str] = {}
    for kind in HOMES:
        try:
            entries = list(registry.entries(kind))
        except Exception as error:  # noqa: BLE001 - a missing library must not stop the doctor
            broken[kind] = f"{type(error).__name__}: {error}"
            continue
        found += [_examined(entry) for entry in entries]
    return found, broken


def _examined(entry: Entry) -> Registered:
    """``ready`` in an entry's registration says whether it could load here; without it, it can.

    ``ready`` answers yes or no, or raises NoValue with what is missing and how to get it.
    """
    summary = str(entry.info.get("summary", "")) or _first_line(entry.factory.__doc__)
    problem, fix = "", str(entry.info.get("get", ""))
    ready = entry.info.get("ready")
    if ready is not None:
        try:
            problem = "" if ready() else NOT_READY
        except NoValue as error:
            problem, fix = error.message, error.advice or fix
        except Exception as error:  # noqa: BLE001 - a plugin's own check
            problem = f"{type(error).__name__}: {error}"
    elif entry.kind in ("metric", "judge"):
        try:
            if role := _to_be_chosen(entry):
                problem = NOT_READY
                fix = f"--model {role}={_FIRST_CHOICE.get(role, 'BACKEND:MODEL')}"
        except (BadOption, TypeError):
            pass  # it asks for options first
        except Exception as error:  # noqa: BLE001 - a plugin's own code
            problem = f"{type(error).__name__}: {error}"
    return Registered(entry.kind, entry.name, summary, not problem, problem, fix if problem else "")


def _to_be_chosen(entry: Entry) -> str:
    """The role that this metric or judge asks for and nothing built in fills; empty for none."""
    from screentest.models import Models, Role

    for name in entry.factory().info.roles:
        role = name.partition(".")[0]
        if not Models().pinned([role]):
            return Role(role).value
    return ""


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]
