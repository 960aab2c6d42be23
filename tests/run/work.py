"""Task functions for tests: they run in worker processes, which import them by name."""

from __future__ import annotations

import os
import signal
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

from screentest.core import (
    CallIntent,
    CallReceipt,
    CallStatus,
    Item,
    NoValue,
    Outcome,
    Reason,
    Score,
    ServiceError,
    registry,
)
from screentest.run.records import RecordKey
from screentest.run.tasks import Job, Task, TaskResults


def key(item: object, evaluator: str = "brightness", **parts: Any) -> RecordKey:
    return RecordKey(f"film-{item}", evaluator, **({"signature": f"{evaluator}|v:1"} | parts))


def task(item: object, function: str = "measure", payload: Any = None, **parts: Any) -> Task:
    return Task((key(item),), globals()[function], payload, **parts)


def item(number: object, **parts: Any) -> Item:
    """The item that ``key`` names."""
    video = Path("/films") / f"film-{number}.mp4"
    return Item(f"film-{number}", video, **({"prompt": f"prompt {number}"} | parts))


def note(log: str, line: str) -> None:
    """A line in a file that several processes write: whole lines, in any order."""
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)


def every(job: Job, outcome: Outcome[Any]) -> TaskResults:
    return {key: {key.evaluator: outcome} for key in job.keys}


def measure(job: Job) -> TaskResults:
    """A value that depends on the key alone; says that it was here, and takes a moment.

    With a gate, all but the first few items wait until that file is there.
    """
    payload = job.payload or {}
    if "log" in payload:
        note(payload["log"], job.keys[0].item)
    time.sleep(payload.get("seconds", 0.0))
    if "gate" in payload and int(job.keys[0].item.removeprefix("film-")) >= payload["free"]:
        while not Path(payload["gate"]).exists():
            time.sleep(0.01)
    size = payload.get("bytes", 0)
    return {
        key: {key.evaluator: Outcome.of(Score(value_of(key), details={"note": "x" * size}))}
        for key in job.keys
    }


def value_of(key: RecordKey) -> float:
    return sum(map(ord, key.item + key.evaluator)) / 7


def no_value(job: Job) -> TaskResults:
    raise NoValue(Reason(job.payload), "as asked", advice="Ask for something else.")


def outputs(job: Job) -> TaskResults:
    """Several values; the payload has the reason of each that is missing, "" for others."""
    found: dict[str, Outcome[Any]] = {
        name: Outcome.failed(Reason(why)) if why else Outcome.of(Score(0.5))
        for name, why in job.payload.items()
    }
    return dict.fromkeys(job.keys, found)


def raises(job: Job) -> TaskResults:
    raise ZeroDivisionError("a fault of the metric")


def leaves(job: Job) -> TaskResults:
    raise SystemExit(3)


def wrong_type(job: Job) -> TaskResults:
    return every(job, Outcome.of("not a score"))


def forgets(job: Job) -> TaskResults:
    return {}


def not_finite(job: Job) -> TaskResults:
    return every(job, Outcome.of({"value": float("nan")}))


def turned_away(job: Job) -> TaskResults:
    raise ServiceError("the key is not valid", advice="Set another key.")


def dies(job: Job) -> TaskResults:
    """Die of a signal the first so many times; the file counts over processes."""
    number, times, log = job.payload
    note(log, job.keys[0].item)
    if Path(log).read_text("utf-8").split().count(job.keys[0].item) <= times:
        os.kill(os.getpid(), number)
        time.sleep(60)
    return measure(Job(job.keys, None, job.ledger))


def forks_and_dies(job: Job) -> TaskResults:
    """Killed while a child lives on that has all of its files open."""
    import warnings

    with warnings.catch_warnings(action="ignore"):  # the child does nothing that could hang
        if os.fork() == 0:
            time.sleep(600)
    return dies(job)


def forks_and_goes_on(job: Job) -> TaskResults:
    """Two processes come back from here; only one of them is the worker."""
    import warnings

    with warnings.catch_warnings(action="ignore"):
        child = os.fork()
    if child == 0:
        return every(job, Outcome.of(Score(-1.0)))
    os.waitpid(child, 0)
    return measure(Job(job.keys, None, job.ledger))


def closes_everything(job: Job) -> TaskResults:
    """Also the pipe to whoever asked."""
    os.closerange(0, 256)
    return measure(Job(job.keys, None, job.ledger))


def floods(job: Job) -> TaskResults:
    """More than any pipe holds, past Python's own output too."""
    for _ in range(2000):
        os.write(1, b"x" * 999 + b"\n")
    return measure(Job(job.keys, None, job.ledger))


_kept: list[bytearray] = []


def leaks(job: Job) -> TaskResults:
    """Keep 40 MB of each task."""
    _kept.append(bytearray(os.urandom(1 << 16) * 640))
    time.sleep(0.3)  # so that somebody can look
    return measure(Job(job.keys, None, job.ledger))


def ends(job: Job) -> TaskResults:
    os._exit(7)


def hangs(job: Job) -> TaskResults:
    """Wait for ever, with a child that would too; notes the child's process."""
    import subprocess
    import sys

    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    note(job.payload, str(child.pid))
    signal.pause()
    return {}


def grows(job: Job) -> TaskResults:
    """Take memory until somebody stops it; a payload is where to note that it begins."""
    if job.payload is not None:
        with Path(job.payload).open("a") as log:
            log.write("begun\n")
    held = []
    while True:
        held.append(bytearray(os.urandom(1 << 16) * 64))
        time.sleep(0.01)


def pays(job: Job) -> TaskResults:
    """Ask a model that is not there, with a ledger that is; payload: cost, calls."""
    cost, calls = job.payload
    total = 0.0
    for number in range(calls):
        request = f"{job.keys[0].item}-{number}"
        known = job.ledger.recall(request)
        if known is None:
            intent = CallIntent(request, "fake-1", purpose="test", max_cost=Decimal(cost))
            call = job.ledger.intend(intent)
            known = CallReceipt(CallStatus.ANSWERED, "fake-1", cost=Decimal(cost), answer="0.5")
            job.ledger.settle(call, known)
        assert known.answer is not None
        total += float(known.answer)
    return every(job, Outcome.of(Score(total)))


def pays_for_each(job: Job) -> TaskResults:
    """One call for all records, and one for each of them alone."""

    def ask(request: str) -> None:
        call = job.ledger.intend(CallIntent(request, "fake-1"))
        job.ledger.settle(call, CallReceipt(CallStatus.ANSWERED, answer="yes"))

    ask("shared")
    for one in job.keys:
        with job.noting(one):
            ask(one.evaluator)
    return every(job, Outcome.of(Score(1.0)))


def pays_in_threads(job: Job) -> TaskResults:
    """Many calls at once, as a chat client makes them."""
    from concurrent.futures import ThreadPoolExecutor

    def one(number: int) -> None:
        call = job.ledger.intend(CallIntent(f"{job.keys[0].item}-{number}", "fake-1"))
        job.ledger.settle(call, CallReceipt(CallStatus.ANSWERED, answer=str(number)))

    with ThreadPoolExecutor(job.payload) as threads:
        list(threads.map(one, range(job.payload)))
    return every(job, Outcome.of(Score(1.0)))


def pays_and_dies(job: Job) -> TaskResults:
    """Killed between paying and saying so."""
    job.ledger.intend(CallIntent("lost", "fake-1", max_cost=Decimal("0.25")))
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def spends_twice(job: Job) -> TaskResults:
    """A receipt for a call that nobody intended."""
    job.ledger.settle("nobody", CallReceipt(CallStatus.ANSWERED))
    return {}


def tells_threads(job: Job) -> TaskResults:
    """How many threads libraries may use here, by name and as they themselves have it."""
    import cv2

    from screentest.models.networks.runtimes import threads

    names = ("SCREENTEST_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    told = {name: os.environ[name] for name in names}
    return every(job, Outcome.of(told | {"models": threads(), "opencv": cv2.getNumThreads()}))


def prints(job: Job) -> TaskResults:
    print("untrusted output")  # noqa: T201 - the point of it
    return measure(Job(job.keys, None, job.ledger))


def uses_processes(job: Job) -> TaskResults:
    """A worker may have workers of its own."""
    import multiprocessing

    context = multiprocessing.get_context("forkserver")
    child = context.Process(target=time.sleep, args=(600,))
    child.start()
    return measure(Job(job.keys, None, job.ledger))


class NotThere:
    """A function that this process has and workers do not find."""

    def __call__(self, job: Job) -> TaskResults:
        raise AttributeError("is_not_there")

    def __reduce__(self) -> Any:
        return getattr, (str, "is_not_there")


is_not_there = NotThere()


def known_metrics(job: Job) -> TaskResults:
    """Whether a worker knows the metric that the payload names: 1 or 0."""
    return every(job, Outcome.of(Score(float(job.payload in registry.names("metric")))))
