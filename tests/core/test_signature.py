"""A signature changes if and only if something it names changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from screentest.core import Signature
from tests.core.strategies import names, signatures, texts

parts = st.dictionaries(names.filter(lambda key: key != "v"), texts, max_size=4)


@given(signatures, signatures)
def test_as_text_only_equal_signatures_are_equal(one: Signature, two: Signature) -> None:
    assert (str(one) == str(two)) == (one == two)


@given(names, parts, st.randoms())
def test_the_order_of_parts_is_nothing(name: str, given_parts: dict[str, str], rng: object) -> None:
    shuffled = dict(sorted(given_parts.items(), reverse=True))
    one = Signature.of(name, version=1).with_parts(given_parts)
    assert one == Signature.of(name, version=1).with_parts(shuffled)
    assert one.digest == Signature.of(name, version=1).with_parts(shuffled).digest


@given(names, parts, names, texts)
def test_any_change_shows(name: str, given_parts: dict[str, str], key: str, value: str) -> None:
    one = Signature.of(name, version=1).with_parts(given_parts)
    assert str(one.with_parts({key: value})) == str(one) or dict(one.parts).get(key) != value
    assert str(one.with_parts({"v": 2})) != str(one)
    assert "\n" not in str(one)
