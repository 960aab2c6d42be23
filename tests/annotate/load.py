"""Simulated workers over loopback: they join, watch, and vote, as fast as the server lets them.

Used by the tests for seconds and by the benchmark for minutes.
"""

from __future__ import annotations

import json
import random
import secrets
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

import httpx2

from screentest.annotate.people import invite
from screentest.annotate.store import Database


@dataclass
class Load:
    """What many workers saw."""

    acknowledged: Counter[str] = field(default_factory=Counter)
    """By vote id: how often the server said that it has it."""
    times: list[float] = field(default_factory=list)
    """Seconds from sending a vote to its acknowledgement."""
    troubles: list[str] = field(default_factory=list)
    late: int = 0
    """Votes refused since somebody else had been given the unit meanwhile."""

    def percentile(self, share: float) -> float:
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def hammer(
    database: Database,
    address: str,
    *,
    count: int,
    seconds: float | None = None,
    votes: int | None = None,
    watching: int = 1,
) -> Load:
    """``count`` workers at once, until the time or their votes are up, or the work is done.

    They watch before one vote in ``watching``.
    """
    load = Load()
    until = time.monotonic() + seconds if seconds is not None else None
    threads = [
        threading.Thread(
            target=_work, args=(address, one.token, load, until, votes, watching), daemon=True
        )
        for one in invite(database, count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return load


def _work(
    address: str, token: str, load: Load, until: float | None, votes: int | None, watching: int
) -> None:
    try:
        with httpx2.Client(
            base_url=address,
            headers={"Origin": address},
            timeout=120,
            verify=False,  # not https: reading the trusted certificates takes longer than a vote
        ) as client:
            worker = _Worker(client, load)
            worker.join(token)
            done = 0
            while (votes is None or done < votes) and (until is None or time.monotonic() < until):
                taken = worker.one_task(watches=done % watching == 0)
                if taken is None:
                    return
                done += taken
    except (httpx2.HTTPError, AssertionError) as error:
        load.troubles.append(repr(error))


class _Worker:
    def __init__(self, client: httpx2.Client, load: Load) -> None:
        self._client = client
        self._load = load
        self._csrf = ""

    def join(self, token: str) -> None:
        answer = self._client.post("/join", json={"token": token})
        assert answer.status_code == 200, answer.text
        self._csrf = _between(self._client.get("/work").text, 'name="csrf" content="', '"')
        for path in ("/consent", "/next"):
            assert self._client.post(path, data={"csrf": self._csrf}).status_code == 303

    def one_task(self, *, watches: bool = True) -> bool | None:
        """Whether a vote was taken; None where there is nothing left to do."""
        page = self._client.get("/work").text
        if 'id="answer"' not in page:  # none was left, or its time ran out on the way
            assert self._client.post("/next", data={"csrf": self._csrf}).status_code == 303
            page = self._client.get("/work").text
        if 'id="answer"' not in page:
            return None
        sitting = _between(page, 'data-sitting="', '"')
        if watches:
            video = _between(page, '<video src="', '"')
            part = self._client.get(video, headers={"Range": "bytes=0-65535"})
            assert part.status_code == 206, part.status_code
            report = {"sitting": sitting, "step": "choice", "left": [{"at": 0.5, "rest": 0.01}]}
            seen = self._post("/api/view", report)
            if self._came_late(seen):
                return False
            assert seen.status_code == 200, seen.text
        choice = random.choice(["left", "right"])
        vote = secrets.token_hex(16)
        body = {"vote": vote, "sitting": sitting, "step": "choice", "answer": {"choice": choice}}
        for _ in range(random.choice([1, 1, 1, 2])):  # a click is sometimes sent twice
            began = time.perf_counter()
            answer = self._post("/api/vote", body)
            if self._came_late(answer):
                assert vote not in self._load.acknowledged, "taken, and then refused"
                return False
            assert answer.status_code == 200, answer.text
            self._load.times.append(time.perf_counter() - began)
            self._load.acknowledged[vote] += 1
        return True

    def _came_late(self, answer: httpx2.Response) -> bool:
        """Whether the place was given to somebody else; then the next one is asked for."""
        if answer.status_code != 409 or answer.json()["error"] != "expired":
            return False
        self._load.late += 1
        assert self._client.post("/next", data={"csrf": self._csrf}).status_code == 303
        return True

    def _post(self, path: str, body: object) -> httpx2.Response:
        headers = {"X-CSRF-Token": self._csrf, "Content-Type": "application/json"}
        return self._client.post(path, content=json.dumps(body), headers=headers)


def _between(text: str, before: str, after: str) -> str:
    begin = text.index(before) + len(before)
    return text[begin : text.index(after, begin)]
