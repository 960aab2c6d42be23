"""Tools: what metrics and judges draw on, made once per process and settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from screentest.core import (
    Frame,
    FrameRequest,
    LedgerClient,
    Shot,
    Time,
    VideoInfo,
    to_json,
)
from screentest.evaluate.settings import Settings
from screentest.models import Models
from screentest.prompts import Prompts
from screentest.run import Stamp
from screentest.video import find_shots, probe, sample_frames
from screentest.video.survey import Survey, survey

_REMEMBERED = 64
"""Videos whose shots are kept; a judge comes back to the same few."""


class Tools:
    """Implements ``Resources`` for any video: probes, shots and tables are made once each."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.models = Models(settings.models, device=settings.device)
        self._prompts = Prompts(settings.prompts)
        self._info = lru_cache(_REMEMBERED)(self._probe)
        self._shots = lru_cache(_REMEMBERED)(self._find_shots)
        self._table = lru_cache(2)(self._survey)

    def attach(self, ledger: LedgerClient) -> None:
        """Write paid calls into ``ledger`` from now on."""
        self.models.attach(ledger, self.settings.prices)

    @property
    def prompts(self) -> Prompts:
        """The templates."""
        return self._prompts

    def role(self, name: str) -> Any:
        """The backend chosen for a role."""
        return self.models.role(name)

    def info(self, video: Path) -> VideoInfo:
        """A video's probe."""
        return self._info(video, Stamp.of(video))

    def shots(self, video: Path, detector: str = "") -> Sequence[Shot]:
        """A video's shots."""
        return self._shots(video, Stamp.of(video), detector or self.settings.detector)

    def frames(
        self, video: Path, moments: Sequence[Time], request: FrameRequest
    ) -> Iterator[Frame]:
        """The frames on the screen at some moments."""
        return sample_frames(
            video,
            moments,
            size=request.size,
            layout=request.layout,
            filter=request.filter,
            limits=self.settings.limits,
            table=self._table(video, Stamp.of(video)),
        )

    # A file that was replaced has another stamp, and nothing old is told of it.

    def _probe(self, video: Path, stamp: Stamp | None) -> VideoInfo:
        return probe(video, self.settings.limits)

    def _find_shots(self, video: Path, stamp: Stamp | None, detector: str) -> tuple[Shot, ...]:
        limits, info = self.settings.limits, self.info(video)
        return tuple(find_shots(video, detector, limits=limits, info=info))

    def _survey(self, video: Path, stamp: Stamp | None) -> Survey:
        return survey(video, self.settings.limits)


_open: dict[str, Tools] = {}


def open_tools(settings: Settings) -> Tools:
    """The tools for these settings: models are loaded once per process."""
    key = to_json(settings)
    if key not in _open:
        close_tools()  # one set of models at a time
        _open[key] = Tools(settings)
    return _open[key]


def close_tools() -> None:
    """Let go of what this process has open. A worker need not: it ends with its connections."""
    for tools in _open.values():
        tools.models.close()
    _open.clear()
