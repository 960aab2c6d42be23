from __future__ import annotations

import pickle

import pytest

from screentest.core import BadOption, ServiceError
from screentest.models.chat.wire import DEFAULT_URL, Endpoint, Secret
from tests.models.chat.kit import KEY


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "SCREENTEST_OFFLINE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("url", "host", "loopback"),
    [
        ("http://127.0.0.1:8000/v1", "127.0.0.1", True),
        ("http://127.9.9.9/v1/", "127.9.9.9", True),
        ("http://localhost:1/v1", "localhost", True),
        ("http://[::1]:8000/v1", "::1", True),
        ("https://api.openai.com/v1", "api.openai.com", False),
        ("http://127.0.0.1.evil.com/v1", "127.0.0.1.evil.com", False),
        ("http://localhost.evil.com/v1", "localhost.evil.com", False),
        ("http://10.0.0.1/v1", "10.0.0.1", False),
        ("http://0.0.0.0:80/v1", "0.0.0.0", False),
        ("http://2130706433/v1", "2130706433", False),
    ],
)
def test_hosts(url: str, host: str, loopback: bool) -> None:
    endpoint = Endpoint.of(url)
    assert (endpoint.host, endpoint.loopback) == (host, loopback)
    assert not endpoint.url.endswith("/")
    if loopback:
        assert Endpoint.of(url, offline=True) == endpoint
        assert endpoint.label == "loopback"
    else:
        assert endpoint.label == host
        with pytest.raises(BadOption, match="offline"):
            Endpoint.of(url, offline=True)


@pytest.mark.parametrize("value", ["1", "true", "yes"])
def test_offline_by_environment(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCREENTEST_OFFLINE", value)
    with pytest.raises(BadOption, match="nothing may leave"):
        Endpoint.of("")


@pytest.mark.parametrize("value", ["0", "", "false"])
def test_not_offline(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCREENTEST_OFFLINE", value)
    assert Endpoint.of("").url == DEFAULT_URL


def test_the_address_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert Endpoint.of("").host == "127.0.0.1"
    assert Endpoint.of("http://127.0.0.2/v1").host == "127.0.0.2"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "127.0.0.1:8000",
        "http://",
        "http://host:99999/v1",
        "http://[::1/v1",
        "ftp://host/v1",
    ],
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(BadOption):
        Endpoint.of(url)


@pytest.mark.parametrize(
    "url", [f"http://user:{KEY}@127.0.0.1/v1", f"http://127.0.0.1/v1?key={KEY}"]
)
def test_keys_do_not_travel_in_addresses(url: str) -> None:
    with pytest.raises(BadOption) as caught:
        Endpoint.of(url)
    assert KEY not in str(caught.value)


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    far, near = Endpoint.of(""), Endpoint.of("http://127.0.0.1/v1")
    with pytest.raises(ServiceError, match="OPENAI_API_KEY is not set"):
        far.key("OPENAI_API_KEY")
    assert near.key("OPENAI_API_KEY").reveal() == ""
    monkeypatch.setenv("MY_KEY", f" {KEY}\n")
    assert far.key("MY_KEY").reveal() == KEY


def test_a_secret_does_not_print_or_pickle_itself() -> None:
    secret = Secret(KEY)
    assert KEY not in repr(secret)
    assert KEY not in f"{secret} {secret!r} {[secret]}"
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    assert secret.hide(f"wrong key {KEY}.") == "wrong key [key]."
    assert Secret("").hide("abc") == "abc"
