"""What is refused: foreign hosts and origins, forged forms, other people's work, long bodies."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import select, update

from screentest.annotate.people import invite
from screentest.annotate.schema import links, sessions, texts, votes, workers
from screentest.annotate.server import check_address
from screentest.annotate.web.guard import BODY_LIMIT
from screentest.core import BadOption
from tests.annotate.stand import OPERATOR, ORIGIN, Person, Stand, served

BODY = {"vote": "v" * 32, "sitting": "x", "step": "choice", "answer": {"choice": "left"}}


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost.evil.example:8765",
        "127.0.0.1:8765.evil.example",
        "",
    ],
)
def test_a_foreign_host_is_refused(stand: Stand, host: str) -> None:
    assert stand.client().get("/join", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765", "[::1]:8765"]
)
def test_our_own_names_are_not(stand: Stand, host: str) -> None:
    assert stand.client().get("/join", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "https://127.0.0.1:8765"},
        {"Origin": "http://127.0.0.1:8766"},
        {"Origin": f"{ORIGIN}, http://evil.example"},
        {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"},
        {"Origin": ORIGIN, "Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_foreign_origin_is_refused(stand: Stand, headers: dict[str, str]) -> None:
    person = stand.worker()
    csrf = person.csrf
    for path in ("/api/vote", "/api/view", "/join", "/next", "/consent", "/operator/worker"):
        answer = person.client.post(path, json=BODY, headers={"X-CSRF-Token": csrf, **headers})
        assert answer.status_code == 403, path


def test_no_origin_and_two_origins_are_refused(stand: Stand) -> None:
    with served(stand) as address:
        host = address.removeprefix("http://")
        for origins in ("", f"Origin: {address}\r\nOrigin: {address}\r\n"):
            request = f"POST /next HTTP/1.1\r\nHost: {host}\r\n{origins}Content-Length: 0\r\n\r\n"
            assert raw(address, request).startswith(b"HTTP/1.1 403")
        two = f"GET /join HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\n\r\n"
        assert raw(address, two).split(b" ")[1] in (b"400", b"421")


def raw(address: str, request: str) -> bytes:
    host, _, port = address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(request.encode())
        return connection.recv(4096)


def test_a_form_without_our_token_is_refused(stand: Stand) -> None:
    person, other = stand.worker(), stand.worker()
    page = person.begin()
    for token in ("", "0" * 64, other.csrf):
        assert person.client.post("/next", data={"csrf": token}).status_code in (403, 422)
        body = {**BODY, "sitting": page.sitting}
        assert person.post("/api/vote", body, csrf=token or "x").status_code == 403
    assert person.client.post("/api/vote", json=BODY).status_code == 403
    assert person.client.post("/next").status_code == 422


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""],
)
def test_a_body_that_a_form_of_another_site_could_send_is_refused(stand: Stand, kind: str) -> None:
    person = stand.worker()
    page = person.begin()
    body = json.dumps({**BODY, "sitting": page.sitting})
    headers = {"Content-Type": kind, "X-CSRF-Token": person.csrf}
    assert person.client.post("/api/vote", content=body, headers=headers).status_code == 422


def test_reading_changes_nothing(stand: Stand) -> None:
    person = stand.worker()
    person.begin()
    before = dump(stand)
    for path in ("/", "/work", "/join", "/next", "/consent", "/api/vote", "/operator", "/leave"):
        person.client.get(path)
        person.client.head(path)
    assert dump(stand) == before


def dump(stand: Stand) -> list[Any]:
    from screentest.annotate.schema import metadata

    with stand.database.read() as connection:
        return [connection.execute(select(table)).all() for table in metadata.sorted_tables]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(stand: Stand, method: str) -> None:
    assert stand.client().request(method, "/work").status_code == 405


def test_long_bodies_are_refused_however_they_come(stand: Stand) -> None:
    person = stand.worker()
    headers = {"X-CSRF-Token": person.csrf, "Content-Type": "application/json"}
    long = b'{"vote": "' + b"x" * BODY_LIMIT + b'"}'
    assert person.client.post("/api/vote", content=long, headers=headers).status_code == 413
    pieces = (long[place : place + 65_536] for place in range(0, len(long), 65_536))
    with served(stand) as address:
        port = address.rpartition(":")[2]
        (session,) = person.client.cookies.values()
        more = {"Origin": address, "Cookie": f"screentest-{port}={session}"}
        answer = httpx2.post(f"{address}/api/vote", content=pieces, headers=headers | more)
        assert answer.status_code == 413


def test_without_a_session_there_is_nothing(stand: Stand) -> None:
    client = stand.client()
    for path in ("/work", "/operator", "/operator/worker/x"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, "/join")
    for path in ("/api/vote", "/api/view"):
        assert client.post(path, json=BODY).status_code == 401
    client.cookies.set(stand.site.cookie, "guess")
    assert client.get("/work").status_code == 303


def test_links_that_are_wrong_or_old(stand: Stand) -> None:
    client = stand.client()
    for token in ("", "x", "é", "0" * 10_000):
        assert client.post("/join", json={"token": token}).status_code == 403
    (invitation,) = invite(stand.database, 1)
    with stand.database.write() as connection:
        connection.execute(update(links).values(expires_at=time.time() - 1))
    assert client.post("/join", json={"token": invitation.token}).status_code == 403


def test_guessing_is_slowed_down(stand: Stand) -> None:
    client = stand.client()
    answers = [client.post("/join", json={"token": f"guess {n}"}).status_code for n in range(25)]
    assert answers == [403] * 20 + [429] * 5


def test_a_session_ends(stand: Stand) -> None:
    person = stand.worker()
    with stand.database.write() as connection:
        connection.execute(update(sessions).values(expires_at=time.time() - 1))
    assert person.client.get("/work").status_code == 303
    again = stand.worker()
    csrf = again.csrf
    kept = dict(again.client.cookies)
    again.client.post("/leave", data={"csrf": csrf})
    again.client.cookies.update(kept)
    assert again.client.get("/work").status_code == 303


def test_a_clock_put_forward_for_a_moment_ends_no_session(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, now = stand.worker(), time.time()
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: now + 10 * 365 * 86_400)
        (later,) = invite(stand.database, 1)
        Person(stand.client(), later.label).join(later.token)
    assert person.client.get("/work").status_code == 200


def test_nothing_secret_is_stored(stand: Stand, tmp_path: Path) -> None:
    (invitation,) = invite(stand.database, 1)
    person = Person(stand.client())
    person.join(invitation.token)
    (session,) = person.client.cookies.values()
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("votes.sqlite*"))
    for secret in (invitation.token, session, person.csrf, OPERATOR):
        assert secret.encode() not in stored
    with stand.database.read() as connection:
        row = connection.execute(select(workers)).one()
    # A random label, moments, a language: nothing about the person.
    assert set(row._mapping) == {
        "id",
        "label",
        "created_at",
        "consented_at",
        "language",
        "excluded",
    }


def test_the_cookie_is_for_the_browser_alone(stand: Stand) -> None:
    (invitation,) = invite(stand.database, 1)
    cookie = stand.client().post("/join", json={"token": invitation.token}).headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}


def test_one_worker_cannot_vote_or_look_for_another(stand: Stand) -> None:
    page = stand.worker().begin()
    other = stand.worker()
    stolen = {**BODY, "sitting": page.sitting}
    assert other.post("/api/vote", stolen).status_code == 404
    views = {"sitting": page.sitting, "step": "choice", "left": [{"at": 1, "rest": 0.1}]}
    assert other.post("/api/view", views).status_code == 404
    # The same words as for a sitting that does not exist: nothing to find out.
    assert other.post("/api/vote", stolen).json() == other.post("/api/vote", BODY).json()


def test_a_worker_is_no_operator_and_an_operator_no_worker(stand: Stand) -> None:
    assert stand.worker().client.get("/operator").status_code == 303
    operator = Person(stand.client())
    operator.join(OPERATOR)
    assert operator.client.get("/operator").status_code == 200
    assert operator.client.get("/work").status_code == 303


def test_every_answer_carries_the_headers(stand: Stand) -> None:
    person = stand.worker()
    page = person.begin()
    for path in ("/work", "/join", "/static/work.js", "/nothing", page.videos[0]):
        headers = person.client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers
    assert person.client.get("/work").headers["cache-control"] == "no-store"
    for path in ("/work", "/join"):
        html = person.client.get(path).text
        assert "<script>" not in html
        assert "style=" not in html
        assert "onclick" not in html


def test_a_crash_tells_nothing(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    person = stand.worker()

    def crash(*_: object) -> None:
        raise RuntimeError("the secret of the house")

    monkeypatch.setattr("screentest.annotate.web.pages.current_sitting", crash)
    person.client._transport.raise_server_exceptions = False  # type: ignore[attr-defined]
    answer = person.client.get("/work")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


NASTY = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>\"'</textarea></script>&amp;{{7*7}}\u2028"
)


def test_markup_in_texts_is_text(stand: Stand) -> None:
    with stand.database.write() as connection:
        connection.execute(update(texts).values(prompt=NASTY, clips=[[NASTY, 0.0, 5.0]]))
    person = stand.worker()
    page = person.begin()
    assert "<script>alert" not in page.html
    assert "<img src=x" not in page.html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.html
    assert "{{7*7}}" in page.html
    page.vote({"choice": "left"}, comment=NASTY)
    operator = Person(stand.client())
    operator.join(OPERATOR)
    shown = operator.client.get(f"/operator/worker/{person.label}").text
    assert "<script>alert" not in shown
    assert "&lt;script&gt;" in shown
    with stand.database.read() as connection:
        assert connection.execute(select(votes.c.comment)).scalar_one() == NASTY


def test_an_address_open_to_others_needs_a_token() -> None:
    check_address("127.0.0.1", 8765, None, None)
    check_address("0.0.0.0", 8765, "https://judge.example.org", "a long enough token")
    for host, url, token in (
        ("0.0.0.0", "http://10.0.0.5:8765", None),
        ("10.0.0.5", None, None),
        ("127.0.0.1", "https://judge.example.org", None),
        ("0.0.0.0", None, "a long enough token"),
        ("10.0.0.5", None, "short"),
        ("10.0.0.5", "ftp://x", "a long enough token"),
        ("10.0.0.5", "https://user@judge.example.org", "a long enough token"),
    ):
        with pytest.raises(BadOption):
            check_address(host, 8765, url, token)


def connected(address: str) -> socket.socket:
    host, _, port = address.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=30)


def drip(connection: socket.socket, request: bytes) -> bytes:
    """Send a request a byte at a time until the other side has closed; gives its last words.

    Bounded by the length of what is sent: 1,000 bytes, ten of them a second.
    """
    words = b""
    connection.settimeout(0.1)
    for place in range(1000):
        try:
            connection.sendall(request[place : place + 1] or b"x")
            part = connection.recv(4096)
        except TimeoutError:
            continue
        except OSError:
            return words
        if not part:
            return words
        words += part
    raise AssertionError("it is still open")


def test_a_head_that_comes_in_drops_is_not_waited_for(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("screentest.annotate.server.HEAD_SECONDS", 0.5, raising=False)
    with served(stand) as address:
        host = address.removeprefix("http://")
        silent, after = connected(address), connected(address)
        with silent, after, connected(address) as dripping:
            head = f"GET /join HTTP/1.1\r\nHost: {host}\r\nX: "
            assert drip(dripping, head.encode()) == b""
            assert silent.recv(1) == b""
            # As patient with a second request as with the first.
            after = connected(address)
            with after:
                after.sendall(f"GET /static/form.js HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
                assert after.recv(12) == b"HTTP/1.1 200"
                drip(after, b"GET /join HTTP/1.1\r\nX: ")
        assert httpx2.get(f"{address}/join").status_code == 200


def test_a_body_that_comes_in_drops_is_not_waited_for(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("screentest.annotate.web.guard.BODY_SECONDS", 0.5, raising=False)
    with served(stand) as address, connected(address) as connection:
        host = address.removeprefix("http://")
        lines = ["POST /join HTTP/1.1", f"Host: {host}", f"Origin: {address}"]
        lines += ["Content-Type: application/json", "Content-Length: 2000", "", '{"token": "']
        connection.sendall("\r\n".join(lines).encode())
        assert drip(connection, b"").startswith(b"HTTP/1.1 408")
        assert httpx2.get(f"{address}/join").status_code == 200


def test_a_head_without_end_takes_no_memory(stand: Stand) -> None:
    with served(stand) as address, connected(address) as connection:
        host = address.removeprefix("http://")
        connection.sendall(f"GET /join HTTP/1.1\r\nHost: {host}\r\nX: ".encode())
        sent = 0
        with pytest.raises(OSError):  # noqa: PT012
            while sent < 100 * 2**20:
                connection.sendall(b"x" * 2**16)
                sent += 2**16
        assert sent < 16 * 2**20  # what two sockets keep; 64 KiB are read


def test_a_crowd_is_told_to_come_again(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Full of silent connections, the app answers 503; when they are gone, it answers."""
    monkeypatch.setattr("screentest.annotate.server.HEAD_SECONDS", 2.0, raising=False)
    monkeypatch.setattr("screentest.annotate.server.MOST_CONNECTIONS", 20, raising=False)
    with served(stand) as address:
        crowd = [connected(address) for _ in range(20)]
        assert httpx2.get(f"{address}/join").status_code == 503
        for one in crowd:
            assert one.recv(1) == b""
            one.close()
        assert httpx2.get(f"{address}/join").status_code == 200
