"""What all tests share: real videos where they are, Debian's ffmpeg where it is."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from subprocess import CompletedProcess
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

# Before anything is imported that could look: no test reads what its user has in a cache.
CACHES = Path(tempfile.mkdtemp(prefix="screentest-caches-"))
atexit.register(shutil.rmtree, CACHES, ignore_errors=True)
for _name in ("SCREENTEST_CACHE", "XDG_CACHE_HOME", "HF_HOME", "TORCH_HOME", "U2NET_HOME"):
    os.environ[_name] = str(CACHES / _name.lower())

# Two tests run at once: threads of both would wait for each other. Libraries look when imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from screentest._util.workers import ProcessPool  # noqa: E402
from screentest.core import LedgerClient  # noqa: E402
from screentest.run import session  # noqa: E402
from screentest.run.engine import InlineEngine, LocalEngine  # noqa: E402
from screentest.run.tasks import Finished, Stop, Task  # noqa: E402
from tests.terminal import CLEAN, Screentest, invoke  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# A shell hands an ignored SIGINT down to what it starts in the background, and nohup an ignored
# SIGHUP; tests of signals need the ordinary ones, here and in the processes that they start.
for _signal, _ordinary in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, _ordinary)

# No timed assertions: a busy machine is not a failure. The slow tier looks for new examples; an
# ordinary run has the same ones each time, and fails only by what was changed.
SLOW = bool(os.environ.get("SCREENTEST_SLOW"))
settings.register_profile(
    "screentest",
    deadline=None,
    derandomize=not SLOW,
    max_examples=200 if SLOW else 50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("screentest")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real videos, ratings and reference values that cannot ship with the package."""
    folder = Path(os.environ.get("SCREENTEST_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no test data at {folder}: set SCREENTEST_DATA to its folder")
    return folder


@pytest.fixture(scope="session")
def sample() -> Path:
    """The packaged sample videos."""
    return Path(str(files("screentest") / "sample"))


@pytest.fixture(scope="session")
def ffmpeg() -> str:
    """The ffmpeg of the system: an encoder and decoder that is not ours."""
    return _program("ffmpeg")


@pytest.fixture(scope="session")
def ffprobe() -> str:
    """The ffprobe of the system: says what a file holds, independently of us."""
    return _program("ffprobe")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium.

    One for each module, not for the whole session: as long as its driver lives, it holds this
    thread's event loop, and other modules' tests run loops of their own.
    """
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed (Debian: apt-get install chromium)")
    with driver.sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        yield opened
        opened.close()


WORK = LocalEngine.run


def _work_here(
    engine: LocalEngine, tasks: Sequence[Task], ledger: LedgerClient, stop: Stop
) -> Iterator[Sequence[Finished]]:
    """Start processes only for those who ask for a number of them, or for limits they can keep."""
    if engine == LocalEngine():
        return InlineEngine().run(tasks, ledger, stop)
    return WORK(engine, tasks, ledger, stop)


# For all scopes of fixtures. Commands that tests start as processes have workers as users do.
LocalEngine.run = _work_here  # type: ignore[method-assign]


@pytest.fixture
def worker_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have runs start processes, as they do for users."""
    monkeypatch.setattr(LocalEngine, "run", WORK)


PRELOADED = [
    *("cv2", "openai", "pydantic", "scipy.stats"),
    *("screentest.measure.items", "screentest.testbeds.builder"),
]
"""What workers import in nearly every test; the server imports it once, from which they fork."""
SET_UP = ProcessPool.__init__


def _set_up_forked(
    pool: ProcessPool[Any], *target: Any, preload: Sequence[str] = (), **options: Any
) -> None:
    """Fork workers, those too that users get as processes started from scratch."""
    SET_UP(pool, *target, preload=[*preload, *PRELOADED], **options)


ProcessPool.__init__ = _set_up_forked  # type: ignore[method-assign]


@pytest.fixture
def workers_from_scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have those who supervise start processes as they do for users."""
    monkeypatch.setattr(ProcessPool, "__init__", SET_UP)


@pytest.fixture(autouse=True)
def closed_models() -> Iterator[None]:
    """Leave no model open for the test after this one, as a worker would not."""
    yield
    session.close_tools()


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed (Debian: apt-get install ffmpeg)")
    return path


LONGEST = (
    "docs/test_examples.py",
    "annotate/test_browser.py",
    "docs/test_wheel.py",
    "analysis/judges/test_certify.py",
    "examples/test_plugin.py",
    "video/test_normalize.py",
    "annotate/test_stores.py",
    "models/test_role_inpainting.py",
    "video/test_sandbox.py",
    "models/test_role_image_text.py",
    "cli/test_demo.py",
    "analysis/test_versions.py",
    "testing/test_checks.py",
    "present/test_page.py",
    "annotate/test_media.py",
    "cli/test_killed.py",
    "models/test_role_matting.py",
    "measure/test_deadly_metrics.py",
    "analysis/judges/test_vlm.py",
    "run/test_ray.py",
    "run/test_engine.py",
    "run/test_soak.py",
    "analysis/test_own_margins.py",
    "models/test_hostile_servers.py",
    "models/chat/test_real_server.py",
    "video/test_scenedetect_parity.py",
    "testbeds/test_ladders.py",
    "suites/locot2v/test_streaming.py",
    "test_architecture.py",
    "test_frames.py",
    "test_loading.py",
    "test_api.py",
    "video/test_splice.py",
)
"""They begin first: a file is the work of one process, and one that begins last is waited for."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the longest files first; leave out the slow tier unless it is asked for."""
    places = {ROOT / "tests" / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))
    if SLOW:
        return
    skip = pytest.mark.skip(reason="slow: set SCREENTEST_SLOW=1 to run it")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture
def screentest(tmp_path: Path, process: Screentest) -> Screentest:
    """Run ``screentest`` in an empty folder, inside this process where Python is told nothing."""

    def run(*arguments: str | Path, **variables: str) -> CompletedProcess[str]:
        if any(name.startswith("PYTHON") for name in variables):
            return process(*arguments, **variables)
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("default")  # they are printed, as they are for users
            patch.chdir(tmp_path)
            for name in os.environ.keys() - CLEAN.keys():
                patch.delenv(name)
            for name, value in (CLEAN | variables).items():
                patch.setenv(name, value)
            done = invoke(*arguments)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return _without_traceback(
            CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr), variables
        )

    return run


@pytest.fixture
def process(tmp_path: Path) -> Screentest:
    """Run ``screentest`` as a process, in an empty folder; nothing it prints is a traceback."""

    def run(*arguments: str | Path, **variables: str) -> CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "screentest", *map(str, arguments)],
            cwd=tmp_path,
            env=CLEAN | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,  # ends what hangs; a busy machine is not a failure
        )
        return _without_traceback(done, variables)

    return run


def _without_traceback(
    done: CompletedProcess[str], variables: Mapping[str, str]
) -> CompletedProcess[str]:
    if "SCREENTEST_DEBUG" not in variables:
        assert "Traceback" not in done.stderr
    return done
