"""What the tests of the app share: a site on a store, and people who use it."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx2
from starlette.testclient import TestClient

from screentest.annotate.assignment import Rules
from screentest.annotate.flashes import flashes_in
from screentest.annotate.language import read_language
from screentest.annotate.people import hashed, invite
from screentest.annotate.server import bind, create_app, open_project, server_of
from screentest.annotate.store import Database, open_database
from screentest.annotate.web.visitor import Site, allowed_origins
from screentest.judges.votes import VoteTask

OPERATOR = "the operator's long token"
ORIGIN = "http://127.0.0.1:8765"
EVERY_PAIR = 1000
"""Pairs of a source for each worker: the testbed has two films only."""


def database_at(store: str) -> Database:
    return open_database(store, create=True)


@dataclass
class Stand:
    """A site, and ways to it."""

    site: Site
    origin: str = ORIGIN

    @property
    def database(self) -> Database:
        return self.site.database

    def client(self) -> httpx2.Client:
        """A browser without a session, straight to the app."""
        client = TestClient(
            create_app(self.site), base_url=self.origin, headers={"Origin": self.origin}
        )
        client.follow_redirects = False
        return client

    def worker(self, *, consented: bool = True) -> Person:
        """Somebody who has opened a link of their own."""
        (invitation,) = invite(self.database, 1)
        person = Person(self.client(), invitation.label)
        person.join(invitation.token)
        if consented:
            person.form("/consent")
        return person

    def with_rules(self, **changes: Any) -> Stand:
        return Stand(replace(self.site, rules=replace(self.site.rules, **changes)), self.origin)


@dataclass
class Person:
    """A worker at a browser, without the scripts: sends what they would send."""

    client: httpx2.Client
    label: str = ""

    def join(self, token: str) -> None:
        answer = self.client.post("/join", json={"token": token})
        assert answer.status_code == 200, answer.text

    @property
    def csrf(self) -> str:
        found = re.search(r'name="csrf" content="(\w*)"', self.client.get("/work").text)
        assert found is not None
        return found.group(1)

    def form(self, path: str, **fields: str) -> httpx2.Response:
        return self.client.post(path, data={"csrf": self.csrf, **fields})

    def begin(self) -> Page:
        """Take the next piece of work and open it."""
        self.form("/next")
        return self.page()

    def page(self) -> Page:
        answer = self.client.get("/work")
        assert answer.status_code == 200
        return Page(self, answer.text)

    def post(self, path: str, body: Any, csrf: str | None = None) -> httpx2.Response:
        headers = {"X-CSRF-Token": self.csrf if csrf is None else csrf}
        return self.client.post(path, json=body, headers=headers)


@dataclass
class Page:
    """What somebody sees at work."""

    person: Person
    html: str

    @property
    def open(self) -> bool:
        return 'id="answer"' in self.html

    @property
    def sitting(self) -> str:
        return self._first(r'data-sitting="([\w-]+)"')

    @property
    def step(self) -> str:
        return self._first(r'data-step="(\w+)"')

    @property
    def videos(self) -> list[str]:
        return re.findall(r'<video src="(/media/[\w-]+)"', self.html)

    @property
    def parts(self) -> list[tuple[str, float, float]]:
        found = re.findall(
            r'class="part" data-side="(\w+)" data-start="([\d.]+)" data-end="([\d.]+)"', self.html
        )
        return [(side, float(start), float(end)) for side, start, end in found]

    def vote(self, answer: Any, *, vote: str | None = None, **more: Any) -> httpx2.Response:
        body = {
            "vote": vote or secrets.token_hex(16),
            "sitting": self.sitting,
            "step": self.step,
            "answer": answer,
        }
        return self.person.post("/api/vote", body | more, self._csrf)

    def view(self, **reports: Any) -> httpx2.Response:
        body = {"sitting": self.sitting, "step": self.step, **reports}
        return self.person.post("/api/view", body, self._csrf)

    @property
    def _csrf(self) -> str:
        return self._first(r'name="csrf" content="(\w*)"')

    def _first(self, pattern: str) -> str:
        found = re.search(pattern, self.html)
        assert found is not None, self.html
        return found.group(1)


@cache
def _filled(place: Path, task: str) -> Path:
    """A store with the task's units in it, made once: looking at the videos takes a while."""
    store = place.parent / f"{task}-{os.getpid()}.sqlite"
    database, _ = open_project(place, store, VoteTask(task))
    database.close()  # the last one to leave brings everything into the one file
    return store


def _measured(paths: Iterable[Path], *, progress: object) -> Iterator[tuple[Path, int]]:
    """Flashes, looked for once in each file, and in this process."""
    for path in paths:
        yield path, _flashes(path, path.stat().st_mtime_ns)


@cache
def _flashes(path: Path, changed: int) -> int:
    return flashes_in(path)


@contextmanager
def open_stand(
    place: Path, store: str, task: str, *, rules: dict[str, Any] | None = None, **material: Any
) -> Iterator[Stand]:
    if material or "://" in store:
        with patch("screentest.annotate.server.measure_all", _measured):
            database, _ = open_project(place, store, VoteTask(task), **material)
    else:
        shutil.copyfile(_filled(place, task), store)
        database = open_database(store)
    site = Site(
        database,
        Rules(VoteTask(task), **{"per_source": EVERY_PAIR} | (rules or {})),
        {code: read_language(code) for code in ("en", "ja")},
        allowed_origins("127.0.0.1", 8765, None),
        hashed(OPERATOR),
        cookie="screentest-0",
    )
    try:
        yield Stand(site)
    finally:
        database.close()


@contextmanager
def served(stand: Stand, port: int = 0) -> Iterator[str]:
    """The site on a real port, in a thread; gives its address."""
    listening = bind("127.0.0.1", port)
    number = listening.getsockname()[1]
    site = replace(
        stand.site,
        origins=allowed_origins("127.0.0.1", number, None),
        cookie=f"screentest-{number}",
    )
    server = server_of(site)
    server.config.timeout_graceful_shutdown = 1
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{number}"
    finally:
        server.should_exit = True
        thread.join(timeout=30)
        listening.close()


SERVER = """
import json, sys
from screentest.annotate.assignment import Rules
from screentest.annotate.language import read_language
from screentest.annotate.people import hashed
from screentest.annotate.server import bind, run
from screentest.annotate.store import open_database
from screentest.judges.votes import VoteTask
from screentest.annotate.web.visitor import Site, allowed_origins
store, port, rules = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
listening = bind("127.0.0.1", port)
port = listening.getsockname()[1]
rules = Rules(VoteTask.PAIRS, **rules)
languages = {code: read_language(code) for code in ("en", "ja")}
origins = allowed_origins("127.0.0.1", port, None)
site = Site(open_database(store), rules, languages, origins, hashed("x" * 20), "screentest-0")
run(site, listening, proxied=False, ready=lambda: print(port, flush=True))
"""


def start_process(store: str, port: int = 0, **rules: float) -> tuple[subprocess.Popen[str], int]:
    """The app in a process of its own, on a store that is there; gives its port."""
    given = json.dumps({"per_source": EVERY_PAIR} | rules)
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, store, str(port), given],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def end_process(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()
