"""A look at the clips of a film before it is settled what to do to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from screentest.degrade.contract import Film, FilmClip
from screentest.models import Models
from screentest.video import evenly, sample_frames, survey

if TYPE_CHECKING:
    from screentest.core.frames import Image

PICTURES = 3
"""How many pictures of a clip are looked at."""


class FilmLook:
    """Looks at the intact film. The pictures of the last clip are kept, no others."""

    def __init__(self, film: Film, models: Models) -> None:
        self.models = models
        self._film = film
        self._table = survey(film.video.path)
        self._last: tuple[int, list[Image]] = (-1, [])

    def pictures(self, clip: FilmClip) -> Sequence[Image]:
        """A few pictures of the clip, evenly spread, RGB."""
        if self._last[0] != clip.number:
            moments = evenly(clip.span, PICTURES)
            frames = sample_frames(self._film.video.path, moments, table=self._table)
            self._last = clip.number, [frame.image for frame in frames]
        return self._last[1]
