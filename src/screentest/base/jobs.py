"""Packages that are also jobs: ``screentest.report`` holds modules, and can be called."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class Job(ModuleType):
    """A package that does what the function of its name in ``screentest.api`` does.

    The job and the package share a name, and whoever imports a module of the package puts it
    in the function's place. So the package itself takes the call.
    """

    @property
    def _job(self) -> Callable[..., Any]:
        from screentest import api

        found: Callable[..., Any] = getattr(api, self.__name__.rpartition(".")[2])
        return found

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Do the job."""
        return self._job(*arguments, **options)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._job)


def is_also_a_job(package: str) -> None:
    """Let the package be called."""
    sys.modules[package].__class__ = Job
