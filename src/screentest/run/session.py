"""Settings: what an evaluation works with, as plain data that travels to workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property, lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, TypedDict

from av.video.frame import VideoFrame

from screentest._util.machine import processors
from screentest._util.workers import when_back
from screentest.core.calls import LedgerClient, Progress, Silent
from screentest.core.codec import to_json
from screentest.core.errors import BadOption
from screentest.core.frames import Borders, Frame, FrameRequest, VideoInfo
from screentest.core.item import File, Shot, Time
from screentest.core.registry import build, registry
from screentest.core.signature import Signature
from screentest.models import ModelChoice, Models, read_models
from screentest.models.ask.templates import Prompts
from screentest.models.chat.costs import Prices, read_prices
from screentest.models.choice import DETECTORS, packages_of
from screentest.models.roles import CHAT
from screentest.run.engine import LocalEngine, cards_here
from screentest.run.inputs import Stamp
from screentest.run.store import RunStore
from screentest.run.tasks import Engine
from screentest.video.limits import DEFAULT_LIMITS, Limits
from screentest.video.probe import examine
from screentest.video.samples import sample_frames
from screentest.video.scan import scan
from screentest.video.shots import find_shots
from screentest.video.survey import Survey

Money: TypeAlias = str | float | Decimal


DETECTOR = "default"


@dataclass(frozen=True, slots=True)
class Settings:
    """Which models, templates, detector and limits. Equal settings give equal numbers."""

    models: tuple[ModelChoice, ...] = ()
    device: str = "auto"
    prompts: Path | None = None
    """A folder of templates that replace ours."""
    detector: str = DETECTOR
    """Who finds the shots."""
    limits: Limits = DEFAULT_LIMITS
    prices: Prices = field(default_factory=Prices)
    allow_damaged: bool = False
    """Score what can be decoded of a damaged film; else it has no score."""


class WorkOptions(TypedDict, total=False):
    """Which models answer, what they may cost, and who does the work."""

    models: str | Sequence[str]
    """A profile (builtin, light, paper, or a TOML file), choices as on the command line
    (``chat=openai:NAME``, ``flow=raft``), or a list of both: choices come before the profile."""
    model: str | Sequence[str] | None
    """More choices."""
    prompts: File | None
    """A folder of templates that replace the built-in ones."""
    prices: File | None
    """A price list in TOML."""
    max_cost: Money | None
    """Never spend more than this; needs a price for each chat model."""
    device: str
    """Where models run: auto, cpu, cuda, cuda:1."""
    settings: Settings | None
    """All of the above but ``max_cost``, and more, at once."""
    workers: int | None
    """Processes; one per processor where not given."""
    engine: Engine | str
    """``local``, ``ray``, or an engine that is open already."""
    address: str
    """The Ray cluster."""
    gpus: float
    """GPUs, or the part of one, for each worker with models, and on Ray for each host of them."""
    progress: Progress | bool | None
    """Who shows how far it is; False: nobody. Without one, a terminal or notebook shows it."""
    retry: str
    """Which failures of earlier starts are tried again: transient, all or none."""


def settings_of(
    options: WorkOptions | dict[str, Any],
    *,
    detector: str = DETECTOR,
    allow_damaged: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Settings:
    """Read settings from the options of a job or of a command.

    A profile has a detector of its own where none is named.
    """
    prompts, prices = options.get("prompts"), options.get("prices")
    given = [options.get("models") or (), options.get("model") or ()]
    models = [name for names in given for name in ([names] if isinstance(names, str) else names)]
    if not all(isinstance(name, str) for name in models):
        raise BadOption.of("models", given, "texts")
    chosen = read_models(models)
    if detector == DETECTOR:
        profiles = {choice.profile for choice in chosen}
        detector = next((DETECTORS[name] for name in DETECTORS if name in profiles), detector)
    return options.get("settings") or Settings(
        models=chosen,
        device=options.get("device", "auto"),
        prompts=None if prompts is None else Path(prompts).absolute(),
        detector=detector,
        prices=Prices() if prices is None else read_prices(Path(prices)),
        allow_damaged=allow_damaged,
        limits=limits,
    )


def cap_of(options: WorkOptions | dict[str, Any], settings: Settings) -> Decimal | None:
    """Return the most that may be spent; a cap that cannot be kept, for want of a price, is
    refused."""
    most = options.get("max_cost")
    if most is None or most == "":
        return None
    try:
        cap = Decimal(str(most))
    except InvalidOperation:
        raise BadOption(f"invalid cost cap {most!r}: must be a number of 0 or more") from None
    for choice in settings.models:
        if choice.role == CHAT and choice.backend == "openai":
            settings.prices.require(choice.model)
    return cap


@dataclass(frozen=True)
class Session:
    """A run that is open for writing, and who works for it."""

    store: RunStore
    settings: Settings = field(default_factory=Settings)
    engine: Engine = field(default_factory=LocalEngine)
    progress: Progress = field(default_factory=Silent)


# Tools: what metrics and judges draw on, made once per process and settings.

_REMEMBERED = 64
"""Videos whose shots are kept; a judge comes back to the same few."""


class Tools:
    """Implements ``Resources`` for any video: probes, shots and tables are made once each."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.models = Models(settings.models, device=settings.device)
        self.prompts = Prompts(settings.prompts)
        self._info = lru_cache(_REMEMBERED)(self._probe)
        self._shots = lru_cache(_REMEMBERED)(self._find_shots)
        self._borders = lru_cache(_REMEMBERED)(self._find_borders)
        self._examined = lru_cache(2)(self._examine)

    @cached_property
    def detector_signature(self) -> Signature:
        """The signature of the shot detector."""
        return build("detector", self.settings.detector).spec.signature

    def attach(self, ledger: LedgerClient) -> None:
        """Write paid calls into ``ledger`` from now on, also after another task had its turn."""
        attach = partial(self.models.attach, ledger, self.settings.prices)
        attach()
        when_back(attach)

    def role(self, name: str) -> Any:
        """Return the backend chosen for a role."""
        return self.models.role(name)

    def info(self, video: Path) -> VideoInfo:
        return self._info(video, Stamp.of(video))

    def shots(self, video: Path, detector: str = "") -> Sequence[Shot]:
        return self._shots(video, Stamp.of(video), detector or self.settings.detector)

    def borders(self, video: Path) -> Borders | None:
        return self._borders(video, Stamp.of(video))

    def frames(
        self, video: Path, moments: Sequence[Time], request: FrameRequest
    ) -> Iterator[Frame]:
        """Sample the frames on the screen at some moments."""
        return self.cut_frames(
            video, moments, request, self.borders(video) if request.inside else None
        )

    def cut_frames(
        self,
        video: Path,
        moments: Sequence[Time],
        request: FrameRequest,
        cut: Borders | None,
        kept: Mapping[Time, VideoFrame] = MappingProxyType({}),
    ) -> Iterator[Frame]:
        """Sample frames without the borders ``cut``; with None there are none to leave out.

        ``kept`` are frames that a scan has decoded already.
        """
        return sample_frames(
            video,
            moments,
            size=request.size,
            layout=request.layout,
            filter=request.filter,
            limits=self.settings.limits,
            table=self._examined(video, Stamp.of(video))[1],
            cut=cut,
            kept=kept,
        )

    # A file that was replaced has another stamp: nothing remembered is used for it.

    def _examine(self, video: Path, stamp: Stamp | None) -> tuple[VideoInfo, Survey]:
        return examine(video, self.settings.limits)

    def _probe(self, video: Path, stamp: Stamp | None) -> VideoInfo:
        return self._examined(video, stamp)[0]

    def _find_shots(self, video: Path, stamp: Stamp | None, detector: str) -> tuple[Shot, ...]:
        limits, info = self.settings.limits, self.info(video)
        return tuple(find_shots(video, detector, limits=limits, info=info))

    def _find_borders(self, video: Path, stamp: Stamp | None) -> Borders | None:
        report = scan(video, (), limits=self.settings.limits, info=self.info(video), borders=True)
        return report.borders


_open: dict[str, Tools] = {}


def open_tools(settings: Settings) -> Tools:
    """Return the tools for these settings: models are loaded once per process."""
    key = to_json(settings)
    if key not in _open:
        # One set of models at a time. Tasks that ask other servers may be under way beside this.
        if any(_loaded(tools.settings) != _loaded(settings) for tools in _open.values()):
            close_tools()
        _open[key] = Tools(settings)
    return _open[key]


def _loaded(settings: Settings) -> str:
    """Return the settings without the servers that are asked."""
    own = (one for one in settings.models if (one.role, one.backend) != (CHAT, "openai"))
    return to_json(replace(settings, models=tuple(own)))


def close_tools() -> None:
    """Let go of what this process has open. A worker need not: it ends with its connections."""
    for tools in _open.values():
        tools.models.close()
    _open.clear()


# Engines: processes of this machine, or a Ray cluster.


def _loads_on_cards(settings: Settings) -> bool:
    """Return whether workers load models that are put on a GPU where there is one."""
    given = [choice for choice in settings.models if choice.backend and settings.device != "cpu"]
    return any(
        choice.backend == "external"
        or "torch" in packages_of(registry.entry(choice.role, choice.backend))
        for choice in given
    )


@contextmanager
def open_engine(
    options: WorkOptions, settings: Settings, *, timeout: float | None = None
) -> Iterator[tuple[Engine, Settings]]:
    """Open the engine that does the work; gives it with the settings as they are on it.

    A cluster's models are used by this process meanwhile. Where it has no GPU, none is used here
    either: a signature must not name a GPU that only the machine of the driver has.
    """
    engine, address = options.get("engine") or "local", options.get("address", "")
    workers = options.get("workers")
    if not isinstance(engine, str) and hasattr(engine, "run"):
        yield engine, settings
    elif engine == "ray":
        from screentest.run.ray_engine import RayEngine  # needs an extra

        share = 0.0 if settings.device == "cpu" else options.get("gpus", 1.0)
        with RayEngine(address or None, workers=workers, gpus=share) as cluster:
            on_cpu = settings.device == "auto" and not cluster.hosts
            yield cluster, replace(settings, device="cpu") if on_cpu else settings
    elif engine != "local":
        raise BadOption.of("engine", engine, "local or ray")
    elif address:
        raise BadOption("`address` is that of a Ray cluster", advice="Give `engine=ray`.")
    else:
        local = LocalEngine(workers=workers)
        share, cards = options.get("gpus", 1.0), cards_here()
        if share and cards and _loads_on_cards(settings):
            # Each worker has models of its own: no more of them on a card than were asked for.
            if settings.device.startswith("cuda:"):
                cards = cards[:1]
            most = max(1, int(len(cards) / share))
            spread = tuple(cards) if len(cards) > 1 else ()
            local = LocalEngine(min(workers or processors(), most), cards=spread)
        yield local if timeout is None else replace(local, timeout=timeout), settings
