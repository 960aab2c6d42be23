"""The checks of contracts: all that is ours keeps to them, and what breaks one is found."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from screentest.core import BUILTIN_ASPECTS, BadOption, registry
from screentest.models.roles import CHAT, role_entry, role_names
from screentest.testing import (
    BrokenContract,
    FakeChatServer,
    check_backend,
    check_degradation,
    check_judge,
    check_metric,
    check_placebo,
)

NEEDS = {"univ_v2t": "truth", "human": "votes"}
"""Those that cannot be built without a file."""


def ours(kind: str) -> list[str]:
    return [one.name for one in registry.entries(kind) if one.origin == "builtin"]


@pytest.fixture(scope="module")
def chat() -> Iterator[list[str]]:
    with FakeChatServer() as server:
        yield [f"chat=openai:fake,base_url={server.url},max_attempts=1"]


def test_all_our_metrics(chat: list[str], tmp_path: Path) -> None:
    truth = tmp_path / "two_shots.json"
    truth.write_text(json.dumps({"global_attribute": {"style": "a painting"}}))
    names = [f"{name}:truth={truth}" if name in NEEDS else name for name in ours("metric")]
    assert len(names) > 40
    check_metric(*names, models=chat)


def test_all_our_judges(chat: list[str], tmp_path: Path) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text("video,aspect,choice\nbed/film/darker.mkv,aesthetics,intact\n")
    names = [f"{name}:votes={votes}" if name in NEEDS else name for name in ours("judge")]
    assert len(names) >= 3
    check_judge(*names, "contrast", models=chat)


def test_the_papers_degradations_and_all_placebos() -> None:
    # All operators of the families are on ladders in tests/testbeds/test_ladders.py.
    placebos = ours("placebo")
    assert len(placebos) >= 5
    check_degradation(*(aspect.value for aspect in BUILTIN_ASPECTS))
    check_placebo(*placebos)


@pytest.mark.slow
def test_all_our_degradations() -> None:
    degradations = ours("degradation")
    assert len(degradations) >= 60
    check_degradation(*degradations)


@pytest.mark.parametrize("check", [check_metric, check_judge, check_degradation, check_placebo])
def test_no_names_are_not_a_success(check: Callable[..., None]) -> None:
    with pytest.raises(BadOption, match="nothing"):
        check()


def test_our_backends_that_need_no_weights() -> None:
    checked = 0
    for role in role_names():
        backend = role_entry(role).info["profiles"]["builtin"]
        if role != CHAT and backend:
            check_backend(role, backend)
            checked += 1
    assert checked >= 8


@pytest.fixture
def broken() -> Iterator[None]:
    """Bad ones, gone afterwards: no listing of a later test shall have them."""
    import importlib

    from tests.testing import broken

    importlib.reload(broken)
    yield
    for key, entry in list(registry._entries.items()):
        if entry.factory.__module__ == broken.__name__:
            del registry._entries[key]


@pytest.mark.usefixtures("broken")
def test_good_ones_pass() -> None:
    check_metric("plain_mean")
    check_judge("brighter", "plain_mean")
    check_degradation("darker", "grainy")
    check_placebo("one_level_up")
    check_backend("flow", "fixed")


BREAKS: Mapping[Callable[..., None], Sequence[tuple[str, str]]] = {
    check_metric: [
        ("out_of_range", r"invalid value 0.9 of out_of_range: must be in \[0, 0.5\]"),
        ("crashing", "on tiny, output crashing: crashed"),
        ("remembering", "alone, in another order of films"),
        ("of_the_process", "by two workers"),
        ("undeclared", "asks the role flow and does not declare it"),
        ("undeclared", "looks at shots and does not declare it"),
    ],
    check_judge: [
        ("always_first", "first as given, first in the other order"),
        ("always_first", "of two equal videos it prefers the first"),
        ("crashing_judge", "crashed"),
    ],
    check_degradation: [
        ("harmless", "full severity changes nothing"),
        ("less_for_more", "more severity harms less"),
        ("of_chance", "built again, the files differ"),
        ("smaller", "it returned a picture of"),
    ],
}
"""What breaks a rule, and what is said of it."""


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("check", BREAKS, ids=lambda check: check.__name__)
def test_what_breaks_a_rule_is_found(check: Callable[..., None]) -> None:
    # All in one go: most of the time goes into starting workers.
    names = dict.fromkeys(name for name, _ in BREAKS[check])
    with pytest.raises(BrokenContract) as raised:
        check(*names)
    for name, problem in BREAKS[check]:
        said = [one for one in raised.value.problems if name in one]
        assert any(re.search(problem, one) for one in said), (name, raised.value.problems)


@pytest.mark.usefixtures("broken")
def test_a_backend_that_answers_otherwise_is_found() -> None:
    with pytest.raises(BrokenContract, match=r"flow=restless: .*another answer"):
        check_backend("flow", "restless")
