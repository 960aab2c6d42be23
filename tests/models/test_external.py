"""External workers: a sound one fills its roles; whatever another does is a typed reason."""

from __future__ import annotations

import gc
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil
import pytest

from screentest.core import BadOption, NoValue, Outcome, Reason, attempt, registry
from screentest.models import ModelChoice, Models
from screentest.models.external import ExternalWorker, WorkerTerms, split_command
from screentest.models.external.roles import External
from screentest.models.roles import role_names

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "external_worker" / "worker.py"
MISBEHAVING = Path(__file__).with_name("misbehaving_worker.py")
FRAMES = list(np.random.default_rng(0).integers(0, 256, (3, 40, 60, 3), np.uint8))


@pytest.fixture
def worker() -> Iterator[ExternalWorker]:
    """The example."""
    made = ExternalWorker(WorkerTerms((sys.executable, str(EXAMPLE)), timeout=60, start_timeout=60))
    yield made
    made.close()


@pytest.fixture
def misbehave(tmp_path: Path) -> Iterator[object]:
    """Starts a worker that goes wrong in the named way."""
    made: list[ExternalWorker] = []

    def start(way: str, **terms: float) -> External:
        command = (sys.executable, str(MISBEHAVING), way, str(tmp_path / "note"))
        told = {"timeout": 120.0, "start_timeout": 120.0, **terms}
        made.append(ExternalWorker(WorkerTerms(command, **told)))
        return External("technical", made[-1])

    yield start
    for one in made:
        one.close()


def outcome(technical: External) -> Outcome[float]:
    return attempt(lambda: technical.score(FRAMES))


def still_runs(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def gone(pid: int) -> bool:
    """Whether a process ends soon: killing is not waiting for the end of another's child."""
    for _ in range(2000):
        if not still_runs(pid):
            return True
        time.sleep(0.05)
    return False


class TestTheExample:
    """The worker that users copy works, through the ordinary way of choosing a model."""

    @pytest.fixture
    def command(self) -> str:
        return shlex.join([sys.executable, str(EXAMPLE)])

    def test_it_fills_a_role_by_the_command_line(self, command: str):
        models = Models([ModelChoice.parse(f'technical=external:"{command}"')])
        score = models.role("technical").score(FRAMES)
        # What the example computes, computed here.
        steepness = [np.abs(np.diff(frame.mean(axis=2), axis=1)).mean() for frame in FRAMES]
        assert score == pytest.approx(1 - np.exp(-np.mean(steepness) / 10))

    def test_its_greeting_is_in_the_signature(self, command: str):
        models = Models([ModelChoice.parse(f"technical=external:{command},timeout=7")])
        parts = dict(models.signature("technical").parts)
        assert parts["worker"] == "example"
        assert parts["worker version"] == "1"
        assert parts["weights"] == "none"
        assert parts["numpy"] == np.__version__
        assert "timeout" not in parts

    def test_arrays_go_and_come_back(self, worker: ExternalWorker):
        (middle,) = worker.ask("interpolation", "midpoint", {"pairs": [(FRAMES[0], FRAMES[1])]})
        expected = (FRAMES[0].astype(int) + FRAMES[1] + 1) // 2
        assert middle.dtype == np.uint8
        assert np.array_equal(middle, expected)

    def test_one_process_fills_all_roles_of_one_command(self, command: str):
        models = Models(
            [ModelChoice.parse(f"{role}=external:{command}") for role in ("technical", "aesthetic")]
        )
        technical, aesthetic = models.role("technical"), models.role("aesthetic")
        assert technical._worker is aesthetic._worker
        assert aesthetic.scale == (0, 10)
        assert aesthetic.score(FRAMES).shape == (3,)
        assert aesthetic.score([]).shape == (0,)

    def test_a_role_it_does_not_fill_is_said(self, command: str):
        models = Models([ModelChoice.parse(f"matting=external:{command}")])
        with pytest.raises(NoValue, match="role 'matting'") as caught:
            models.role("matting").matte(FRAMES)
        assert caught.value.reason is Reason.MISSING_MODEL
        assert "technical" in caught.value.advice

    def test_a_mistake_inside_is_reported_with_its_traceback(self, worker: ExternalWorker):
        with pytest.raises(NoValue, match="Traceback") as caught:
            worker.ask("technical", "score", {"wrong": 1})
        assert caught.value.reason is Reason.CRASHED
        # and it goes on
        assert 0 < worker.ask("technical", "score", {"frames": FRAMES}) < 1

    def test_it_prints_without_harm(self, tmp_path: Path):
        """Its stdout is kept for messages, so a library's print cannot spoil them."""
        chatty = tmp_path / "chatty.py"
        chatty.write_text(
            EXAMPLE.read_text().replace(
                "    steepness = [", '    print("{not a message}")\n    steepness = ['
            )
        )
        talker = ExternalWorker(WorkerTerms((sys.executable, str(chatty)), 60, 60))
        assert 0 < talker.ask("technical", "score", {"frames": FRAMES}) < 1
        talker.close()

    def test_it_runs_on_old_pythons(self):
        """Official code lives in old environments: no syntax younger than 3.8."""
        import ast

        ast.parse(EXAMPLE.read_text(), feature_version=(3, 8))


class TestGreeting:
    """A worker that does not come up as it should."""

    @pytest.mark.parametrize(
        ("way", "reason", "said"),
        [
            ("greet_and_die", Reason.CRASHED, "exit code 3"),
            ("greet_with_traceback", Reason.CRASHED, "no such weights"),
            ("greet_garbage", Reason.UNPARSABLE, "this is no JSON"),
            ("greet_as_other", Reason.UNPARSABLE, "did not greet first"),
            ("greet_in_future", Reason.MISSING_MODEL, "protocol 99"),
            ("greet_incomplete", Reason.UNPARSABLE, "version"),
            ("greet_wrong_types", Reason.UNPARSABLE, "roles"),
            ("greet_missing", Reason.MISSING_MODEL, "no weights at w.pth"),
            ("greet_with_list", Reason.MISSING_MODEL, "no reason given"),
        ],
    )
    def test_it_is_a_typed_reason(self, misbehave, way: str, reason: Reason, said: str):
        failure = outcome(misbehave(way)).failure
        assert failure is not None
        assert failure.reason is reason
        assert said in failure.detail

    def test_one_that_never_greets_is_ended(self, misbehave):
        technical = misbehave("greet_never", start_timeout=0.7)
        failure = outcome(technical).failure
        assert failure is not None
        assert failure.reason is Reason.TIMED_OUT
        assert "start_timeout" in failure.advice

    @pytest.mark.parametrize("way", ["greet_late", "greet_after_chatter", "greet_after_flood"])
    def test_patience(self, misbehave, way: str):
        assert outcome(misbehave(way)).value == 0.5

    @pytest.mark.parametrize(
        "command", ["/no/such/program", str(ROOT), "python\0", "no-such-program-anywhere --x"]
    )
    def test_a_command_that_cannot_be_started(self, command: str):
        technical = External("technical", ExternalWorker(WorkerTerms(split_command(command))))
        failure = outcome(technical).failure
        assert failure is not None
        assert failure.reason is Reason.MISSING_MODEL
        assert "Check the command" in failure.advice

    def test_a_worker_that_comes_back_as_another_is_refused(self, misbehave):
        technical = misbehave("greet_changing")
        assert outcome(technical).ok
        technical.close()
        failure = outcome(technical).failure
        assert failure is not None
        assert "another" in failure.detail


class TestRequests:
    """A worker that goes wrong at a request."""

    @pytest.mark.parametrize(
        ("way", "reason", "said"),
        [
            ("crash", Reason.CRASHED, "signal 11"),
            ("exit", Reason.CRASHED, "out of memory"),
            ("half_line_and_die", Reason.CRASHED, '"resu'),
            ("closes_output", Reason.CRASHED, "closed its output"),
            ("dead_with_child", Reason.CRASHED, "exit code 5"),
            ("key_twice", Reason.UNPARSABLE, "twice"),
            ("digits", Reason.UNPARSABLE, "a finite number"),
            ("nested", Reason.UNPARSABLE, "result"),
            ("terabytes", Reason.UNPARSABLE, "a.npy"),
            ("circle", Reason.UNPARSABLE, "a.npy"),
            ("says_list", Reason.CRASHED, "no"),
            ("garbage", Reason.UNPARSABLE, "not a message"),
            ("not_utf8", Reason.UNPARSABLE, "not a message"),
            ("wrong_id", Reason.UNPARSABLE, "answered 8"),
            ("old_id", Reason.UNPARSABLE, "answered 0"),
            ("no_id", Reason.UNPARSABLE, "answered None"),
            ("true_id", Reason.UNPARSABLE, "answered True"),
            ("both", Reason.UNPARSABLE, "result nor error"),
            ("neither", Reason.UNPARSABLE, "result nor error"),
            ("huge_line", Reason.UNPARSABLE, "bytes"),
            ("chatty", Reason.UNPARSABLE, ""),
            ("nan", Reason.UNPARSABLE, "NaN"),
            ("text", Reason.UNPARSABLE, "'0.5'"),
            ("true", Reason.UNPARSABLE, "True"),
            ("null", Reason.UNPARSABLE, "None"),
            ("above", Reason.UNPARSABLE, "from 0 to 1"),
            ("elsewhere", Reason.UNPARSABLE, "folder"),
            ("upwards", Reason.UNPARSABLE, "x.npy"),
            ("absent", Reason.UNPARSABLE, "absent.npy"),
            ("no_array", Reason.UNPARSABLE, "a.npy"),
            ("says_no", Reason.NOT_APPLICABLE, "too short"),
            ("says_odd", Reason.CRASHED, "no"),
            ("says_text", Reason.CRASHED, "just no"),
        ],
    )
    def test_it_is_a_typed_reason(self, misbehave, way: str, reason: Reason, said: str):
        failure = outcome(misbehave(way)).failure
        assert failure is not None
        assert failure.reason is reason
        assert said in failure.detail

    @pytest.mark.parametrize("way", ["hang", "half_line", "deaf"])
    def test_one_that_does_not_answer_is_ended(self, misbehave, way: str):
        technical = misbehave(way, timeout=0.7)
        identity = technical.identity
        assert identity["worker"] == "misbehaving"
        pid = technical._worker._process._process.pid
        failure = outcome(technical).failure
        assert failure is not None
        assert failure.reason is Reason.TIMED_OUT
        assert gone(pid)

    def test_a_deaf_worker_cannot_block_a_long_request(self, misbehave):
        """A prompt larger than any pipe's buffer, to one that never reads."""
        technical = misbehave("deaf", timeout=0.7)
        with pytest.raises(NoValue) as caught:
            technical._worker.ask("technical", "score", {"prompt": "x" * (8 << 20)})
        assert caught.value.reason is Reason.TIMED_OUT

    @pytest.mark.parametrize("way", ["chatter", "flood", "errors", "in_pieces"])
    def test_harmless_ways_are_borne(self, misbehave, way: str):
        technical = misbehave(way)
        expected = 0.25 if way == "in_pieces" else 0.5
        assert [outcome(technical).value for _ in range(3)] == [expected] * 3

    def test_an_answer_too_many_is_found_at_the_next_request(self, misbehave):
        technical = misbehave("twice")
        assert outcome(technical).value == 0.5
        failure = outcome(technical).failure
        assert failure is not None
        assert failure.reason is Reason.UNPARSABLE

    def test_a_worker_that_says_no_is_not_restarted(self, misbehave):
        technical = misbehave("says_no")
        outcome(technical)
        pid = technical._worker._process._process.pid
        outcome(technical)
        assert technical._worker._process._process.pid == pid


class TestRestarts:
    """After a death the next request finds a fresh worker, within bounds."""

    def test_the_next_request_is_served(self, misbehave):
        technical = misbehave("crash_once")
        first, second = outcome(technical), outcome(technical)
        assert first.failure is not None
        assert first.failure.reason is Reason.CRASHED
        assert second.value == 0.5

    def test_it_is_given_up_after_the_stated_number(self, misbehave):
        technical = misbehave("crash", restarts=2)
        for _ in range(3):
            assert "given up" not in outcome(technical).failure.detail
        before = technical._worker._requests
        failure = outcome(technical).failure
        assert failure is not None
        assert "3 deaths" in failure.detail
        assert failure.reason is Reason.CRASHED
        assert technical._worker._requests == before  # nothing was started or asked

    @pytest.mark.parametrize("answers", [1, 2])
    def test_one_that_retires_is_replaced_without_a_word(self, misbehave, answers: int):
        technical = misbehave(f"retire_after_{answers}", restarts=0)
        assert [outcome(technical).value for _ in range(5)] == [0.5] * 5

    def test_one_killed_from_outside_is_replaced(self, misbehave):
        technical = misbehave("fine")
        assert outcome(technical).ok
        os.kill(technical._worker._process._process.pid, signal.SIGKILL)
        technical._worker._process._process.wait()
        assert outcome(technical).ok


class TestLeavings:
    """No process, no thread, no file and no secret is left behind."""

    def test_what_the_worker_started_ends_with_it(self, misbehave, tmp_path: Path):
        note = tmp_path / "note"
        for seconds in (2.0, 10.0, 100.0):  # on a busy machine it takes a while to begin
            assert not outcome(misbehave("hang_with_child", timeout=seconds)).ok
            if note.exists() and note.read_text():
                break
        assert gone(int(note.read_text()))

    def test_closing_ends_process_threads_and_folder(self, misbehave):
        threads = threading.active_count()
        technical = misbehave("fine")
        assert outcome(technical).ok
        worker = technical._worker
        pid, folder = worker._process._process.pid, worker._folder
        assert oct(folder.stat().st_mode & 0o777) == "0o700"
        assert list(folder.iterdir()) == []  # each request's folder goes with it
        technical.close()
        assert gone(pid)
        assert not folder.exists()
        assert threading.active_count() == threads
        assert outcome(technical).ok  # and it starts again when asked

    def test_a_worker_nobody_holds_any_more_is_ended(self, misbehave):
        worker = ExternalWorker(
            WorkerTerms((sys.executable, str(MISBEHAVING), "fine", ""), 120, 120)
        )
        worker.ask("technical", "score", {"frames": FRAMES})
        pid, folder = worker._process._process.pid, worker._folder
        del worker
        gc.collect()
        assert gone(pid)
        assert not folder.exists()

    def test_at_the_end_of_the_program_it_is_ended(self):
        script = (
            "import sys, numpy as np\n"
            "from screentest.models.external import WorkerTerms, ExternalWorker\n"
            "worker = ExternalWorker(WorkerTerms((sys.executable, sys.argv[1]), 60, 60))\n"
            "frames = [np.zeros((40, 40, 3), np.uint8)]\n"
            "worker.ask('technical', 'score', {'frames': frames})\n"
            "print(worker._process._process.pid, worker._folder)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(EXAMPLE)],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        pid, folder = done.stdout.split()
        assert gone(int(pid))
        assert not Path(folder).exists()

    def test_keys_are_not_handed_on(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        seen = tmp_path / "environment"
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "sk-secret")
        monkeypatch.setenv("PGPASSWORD_OF_DB_PASSWORD", "sk-secret")
        monkeypatch.setenv("HARMLESS", "yes")
        script = tmp_path / "worker.py"
        script.write_text(
            f"import os, pathlib\npathlib.Path({str(seen)!r}).write_text(repr(dict(os.environ)))\n"
            + EXAMPLE.read_text()
        )
        worker = ExternalWorker(WorkerTerms((sys.executable, str(script)), 60, 60, device="cuda:1"))
        assert worker.hello.name == "example"
        worker.close()
        environment = seen.read_text()
        assert "sk-secret" not in environment
        assert "'HARMLESS': 'yes'" in environment
        assert "'SCREENTEST_DEVICE': 'cuda:1'" in environment

    def test_the_command_meets_no_shell(self, tmp_path: Path):
        witness = tmp_path / "it ran"
        command = f"{sys.executable} {EXAMPLE} ; touch {shlex.quote(str(witness))} $(touch x) | cat"
        worker = ExternalWorker(WorkerTerms(split_command(command), 60, 60))
        assert worker.hello.name == "example"  # it got odd arguments, and nothing else happened
        worker.close()
        assert not witness.exists()


class TestTurns:
    """One request at a time, whoever asks."""

    def test_threads_get_their_own_answers(self, worker: ExternalWorker):
        pictures = [np.full((20, 20, 3), 10 * n, np.uint8) for n in range(12)]

        def halved(n: int) -> int:
            pair = (pictures[n], np.zeros((20, 20, 3), np.uint8))
            (found,) = worker.ask("interpolation", "midpoint", {"pairs": [pair]})
            return int(found[0, 0, 0])

        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(halved, range(12))) == [5 * n for n in range(12)]

    def test_a_forked_copy_starts_its_own(self, worker: ExternalWorker):
        """Two processes on one pair of pipes would read each other's answers."""
        mine = worker.ask("technical", "score", {"frames": FRAMES})
        pid = worker._process._process.pid
        reader, writer = os.pipe()
        with warnings.catch_warnings():
            # Newer Pythons warn of forks beside threads; that such forks happen is the point.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            try:
                theirs = worker.ask("technical", "score", {"frames": FRAMES})
                other = worker._process._process.pid
                worker.close()
                os.write(writer, f"{theirs} {other}".encode())
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as said:
            theirs, other = said.read().split()
        os.waitpid(child, 0)
        assert float(theirs) == mine
        assert int(other) != pid
        assert worker.ask("technical", "score", {"frames": FRAMES}) == mine
        assert worker._process._process.pid == pid


def test_commands_are_split_like_a_shell_does():
    words = "a 'b c' d\\ e"
    assert split_command(words) == ("a", "b c", "d e")
    assert split_command('["a", "b c", 1]') == ("a", "b c", "1")
    for bad in ("", "   ", "'open", "[]"):
        with pytest.raises(BadOption):
            split_command(bad)


def test_every_role_but_chat_can_be_filled():
    for role in role_names():
        if role != "chat":
            assert "external" in registry.names(role)


def test_a_command_is_needed():
    with pytest.raises(BadOption, match="model"):
        Models([ModelChoice.parse("technical=external")]).role("technical")


class TestTheDocs:
    """docs/external.md says what is so."""

    @pytest.fixture
    def page(self) -> str:
        return (ROOT / "docs" / "external.md").read_text(encoding="utf-8")

    def test_every_role_is_in_its_table(self, page: str):
        for role in role_names():
            assert (f"| `{role}` |" in page) == (role != "chat")

    def test_its_sketches_are_python(self, page: str):
        import ast

        sketches = [part.split("```")[0] for part in page.split("```python\n")[1:]]
        assert len(sketches) == 2
        for sketch in sketches:
            ast.parse(sketch, feature_version=(3, 8))

    def test_its_messages_are_messages(self, page: str):
        import json

        lines = [part.split("```")[0] for part in page.split("```json\n")[1:]]
        decoder = json.JSONDecoder()
        for text in lines:
            rest = text.strip()
            while rest:
                message, end = decoder.raw_decode(rest)
                assert "screentest" in message or "id" in message
                rest = rest[end:].strip()

    def test_its_defaults_are_the_defaults(self, page: str):
        entry = registry.entry("technical", "external")
        for name, parameter in entry.parameters.items():
            (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
            default = row.split("|")[2].strip().strip("`")
            if name != "model":
                written = parameter.default
                assert default == (written if isinstance(written, str) else f"{written:g}")
            assert row.rstrip(" |").endswith("yes") == (name not in entry.info["neutral"])
