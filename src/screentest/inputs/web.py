"""One file from an untrusted web server: bounded, never unpacked, and not from an address that
a redirect must not lead to.

What a manifest names, the user has allowed to be fetched; where a server redirects to, nobody has.
So every step of the way is checked by the network address that is then connected to, not by a
name that may stand for another one a moment later:

- link-local addresses, where clouds keep their credentials, and those that stand for no one machine
  are never asked;
- a redirect never leads from the internet into a private network or this machine, nor from
  https to http.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

from screentest.core import NoValue, Reason

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_MOST_REDIRECTS: Final = 5
_REDIRECTS: Final = (301, 302, 303, 307, 308)
_BLOCK: Final = 2**16
_KEPT: Final = "/%:@!$&'()*+,;=~-._"
_PORTS: Final = {"http": 80, "https": 443}
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
# Metadata services of Amazon, Alibaba and Oracle, in ranges that count as private.
_METADATA: Final = frozenset(
    map(ipaddress.ip_address, ("fd00:ec2::254", "100.100.100.200", "192.0.0.192"))
)


class Network(IntEnum):
    """Whose machines an address can reach; a redirect never goes up."""

    INTERNET = 0
    PRIVATE = 1
    THIS_MACHINE = 2
    NOBODY = 3
    """Never asked."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Limits on the time of a server."""

    silence: float = 30.0
    """Seconds without a byte."""
    window: float = 60.0
    """Seconds in each of which ``least`` bytes must come."""
    least: int = 60 * 1024


def network_of(address: Address) -> Network:
    """Return where an address leads, also one that has another inside.

    >>> network_of(ipaddress.ip_address("::ffff:127.0.0.1")).name
    'THIS_MACHINE'
    """
    inner = _inner(address)
    if inner is not None:
        return network_of(inner)
    if address.is_loopback:
        return Network.THIS_MACHINE
    odd = address.is_link_local or address.is_unspecified or address.is_multicast
    if odd or address.is_reserved or address in _METADATA:
        return Network.NOBODY
    return Network.INTERNET if address.is_global else Network.PRIVATE


def _inner(address: Address) -> Address | None:
    if address.version == 4:
        return None
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)


@dataclass(frozen=True, slots=True)
class WebFile:
    """An open response: what the server says of it, and its bytes."""

    headers: Mapping[str, str]
    """Names in lower case."""
    network: Network
    """Where the first machine on the way to it is."""
    _response: http.client.HTTPResponse
    _wire: socket.socket
    _timeouts: Timeouts

    @property
    def size(self) -> int | None:
        """Its bytes, where the server says how many."""
        written = self.headers.get("content-length", "")
        return int(written) if written.isascii() and written.isdigit() else None

    def blocks(self) -> Iterator[bytes]:
        """Its bytes, as they come; NoValue(TIMED_OUT) where they come too slowly."""
        late, ended, seen = threading.Event(), threading.Event(), 0

        def watch() -> None:
            # Beside the reading: the lines between chunks are read whole, and can drip for days.
            before = 0
            while not ended.wait(self._timeouts.window):
                if seen - before < self._timeouts.least:
                    late.set()
                    _cut(self._wire)
                    return
                before = seen

        threading.Thread(target=watch, daemon=True).start()
        try:
            while block := self._response.read1(_BLOCK):
                seen += len(block)
                yield block
        except (OSError, http.client.HTTPException):
            if not late.is_set():
                raise
        finally:
            ended.set()
        if late.is_set():
            few, long = self._timeouts.least, self._timeouts.window
            raise NoValue(Reason.TIMED_OUT, f"fewer than {few:,} bytes in {long:g} s")


@contextmanager
def open_web(
    url: str,
    *,
    method: str = "GET",
    within: Network | None = None,
    timeouts: Timeouts | None = None,
) -> Iterator[WebFile]:
    """Return the response at an address, after redirects.

    ``within`` is the most private network that it may be in: what it was in when it was asked
    about first, so that a name cannot stand for another machine by now. NoValue where a rule
    forbids it; OSError and http.client.HTTPException where the server fails.
    """
    timeouts = timeouts or Timeouts()
    place, most = _split(url), within
    first: Network | None = None
    for _ in range(_MOST_REDIRECTS + 1):
        addresses = _resolve(place)
        # A name may stand for several machines: all of them have to be allowed.
        worst = max(addresses, key=network_of)
        here = network_of(worst)
        if here is Network.NOBODY:
            raise _forbidden(place, f"{worst} is never asked")
        if most is not None and here > most:
            raise _forbidden(place, f"a server may not send us to {worst}, {_SAID[here]}")
        most, first = here, here if first is None else first
        with (
            _connected(place, addresses, timeouts.silence) as connection,
            # Kept, since a connection that ends with its response forgets its socket.
            nullcontext(connection.sock) as wire,
            closing(_asked(connection, place, method, timeouts)) as response,
        ):
            headers = {name.lower(): value for name, value in response.getheaders()}
            if response.status not in _REDIRECTS:
                _must_be_a_file(place, response, headers)
                yield WebFile(headers, first, response, wire, timeouts)
                return
            place = _next(place, headers.get("location", ""))
    raise _forbidden(_split(url), f"it redirects more than {_MOST_REDIRECTS} times")


_SAID: Final = {
    Network.INTERNET: "on the internet",
    Network.PRIVATE: "in a private network",
    Network.THIS_MACHINE: "which is this machine",
}


def _split(url: str) -> SplitResult:
    try:
        place = urlsplit(url)
        place.port  # noqa: B018 - raises where it is none
    except ValueError as error:
        raise NoValue(Reason.UNSAFE, f"{url[:200]!r} is not an address: {error}") from None
    if place.scheme not in _PORTS or not place.hostname:
        raise NoValue(Reason.UNSAFE, f"{url[:200]!r} is not an address of a web server")
    return place


def _next(place: SplitResult, location: str) -> SplitResult:
    following = _split(urljoin(place.geturl(), location))
    if place.scheme == "https" and following.scheme != "https":
        raise _forbidden(place, "it redirects from https to http")
    return following


def _resolve(place: SplitResult) -> list[Address]:
    """Resolve the name; only these addresses are connected to."""
    port = place.port or _PORTS[place.scheme]
    answers = socket.getaddrinfo(place.hostname, port, type=socket.SOCK_STREAM)
    return [ipaddress.ip_address(str(answer[4][0]).partition("%")[0]) for answer in answers]


@contextmanager
def _connected(
    place: SplitResult, addresses: Sequence[Address], silence: float
) -> Iterator[http.client.HTTPConnection]:
    """Return a connection to one of these very addresses, under the name that was asked for."""
    assert place.hostname is not None
    port = place.port or _PORTS[place.scheme]
    with closing(_reached(addresses, port, silence)) as wire:
        connection = http.client.HTTPConnection(place.hostname, port, timeout=silence)
        connection.sock = wire
        if place.scheme == "https":
            context = ssl.create_default_context()
            connection.sock = context.wrap_socket(wire, server_hostname=place.hostname)
        with closing(connection):
            yield connection


def _reached(addresses: Sequence[Address], port: int, silence: float) -> socket.socket:
    for address in addresses[:-1]:
        with suppress(OSError):
            return socket.create_connection((str(address), port), timeout=silence)
    return socket.create_connection((str(addresses[-1]), port), timeout=silence)


def _asked(
    connection: http.client.HTTPConnection, place: SplitResult, method: str, timeouts: Timeouts
) -> http.client.HTTPResponse:
    target = quote(place.path or "/", safe=_KEPT)
    if place.query:
        target += "?" + quote(place.query, safe=_KEPT + "?")
    headers = {
        "Host": place.netloc.rpartition("@")[2],
        "Accept-Encoding": "identity",
        "User-Agent": "screentest",
        "Connection": "close",
    }
    if place.username:
        credentials = f"{unquote(place.username)}:{unquote(place.password or '')}".encode()
        headers["Authorization"] = f"Basic {b64encode(credentials).decode()}"
    with _watched(connection.sock, timeouts.window):
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse()


@contextmanager
def _watched(wire: socket.socket, seconds: float) -> Iterator[None]:
    """Raise TimeoutError after so long, even if bytes drip in under the socket's own timeout."""
    late = threading.Event()

    def stop() -> None:
        late.set()
        _cut(wire)

    watch = threading.Timer(seconds, stop)
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()
        if late.is_set():
            raise TimeoutError(f"no response in {seconds:g} s")


def _cut(wire: socket.socket) -> None:
    """End a connection that another thread is reading from."""
    with suppress(OSError):
        # Not that of TLS, which would change what the other reads from.
        socket.socket.shutdown(wire, socket.SHUT_RDWR)


def _must_be_a_file(
    place: SplitResult, response: http.client.HTTPResponse, headers: Mapping[str, str]
) -> None:
    if response.status != 200:
        raise NoValue(
            Reason.SERVICE_FAILED, f"{place.geturl()}: HTTP {response.status} {response.reason}"
        )
    packed = headers.get("content-encoding", "").strip()
    way = headers.get("transfer-encoding", "").strip()
    if packed.lower() in ("", "identity") and way.lower() not in ("", "identity", "chunked"):
        packed = way
    if packed.lower() not in ("", "identity"):
        # A few kilobytes can unpack to terabytes, and the size would say nothing.
        raise NoValue(
            Reason.SERVICE_FAILED,
            f"{place.geturl()} is sent packed as {packed[:40]!r}, which was not asked for",
        )


def _forbidden(place: SplitResult, why: str) -> NoValue:
    return NoValue(
        Reason.UNSAFE, f"{place.geturl()} is not fetched: {why}", advice="Give the file itself."
    )
