"""Aspects: the ten that are built in, and one that a plugin registers."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass

import pytest

from screentest.analysis.judges.certificate import PromptResult
from screentest.annotate.language import read_language
from screentest.core import (
    BUILTIN_ASPECTS,
    Aspect,
    AspectInfo,
    DecodeError,
    Outcome,
    Reason,
    all_aspects,
    build,
    from_json,
    register,
    registry,
    to_json,
)
from screentest.judges.votes import VoteRecord


@pytest.fixture
def rhythm() -> Iterator[Aspect]:
    @register("aspect", "rhythm", version=1, summary="cuts as the text wants them")
    def rhythm() -> AspectInfo:
        return AspectInfo("Whether cuts come as quickly as the text says.", about_text=True)

    yield Aspect("rhythm")
    registry._entries.pop(("aspect", "rhythm"))


@dataclass(frozen=True)
class Counted:
    aspect: Aspect
    other: Aspect | None
    by_aspect: Mapping[Aspect, int]


def test_the_ten_are_as_they_were() -> None:
    assert len(BUILTIN_ASPECTS) == 10
    assert BUILTIN_ASPECTS[0] is Aspect.AESTHETICS is Aspect("aesthetics")
    assert [one for one in BUILTIN_ASPECTS if one.info.about_order] == ["temporal_flow"]
    assert all("Weigh " in one.info.definition for one in BUILTIN_ASPECTS)
    assert all(one.info.definition.endswith("part of this aspect.") for one in BUILTIN_ASPECTS)
    assert (str(Aspect.COLOR), f"{Aspect.COLOR}", Aspect.COLOR.value) == ("color",) * 3
    assert type(str(Aspect.COLOR)) is type(Aspect.COLOR.value) is str


def test_a_plugin_s_aspect_is_like_the_ten(rhythm: Aspect) -> None:
    assert all_aspects() == [*BUILTIN_ASPECTS, Aspect.TEXT_ALIGNMENT, rhythm]
    for copy in (pickle.loads(pickle.dumps(rhythm)), deepcopy(rhythm), Aspect("rhythm")):
        assert copy is rhythm
    counted = Counted(rhythm, None, {rhythm: 3, Aspect.COLOR: 2})
    text = to_json(counted)
    assert text == '{"aspect":"rhythm","other":null,"by_aspect":{"rhythm":3,"color":2}}'
    again = from_json(Counted, text)
    assert again == counted
    assert again.aspect is rhythm


def test_a_name_that_nobody_registered_is_refused() -> None:
    with pytest.raises(ValueError, match="'unheard'"):
        Aspect("unheard")
    with pytest.raises(DecodeError, match="'unheard'"):
        from_json(Counted, '{"aspect": "unheard", "other": null, "by_aspect": {}}')


def test_judges_annotators_and_certificates_know_a_plugin_s_aspect(rhythm: Aspect) -> None:
    for code in ("en", "ja"):
        language = read_language(code)
        assert language.text("aspect.rhythm.name") == "Rhythm"
        assert language.text("aspect.rhythm.text") == rhythm.info.definition
    # Of the built-in judges, those with a rule for each aspect have no answer, and say why.
    for name in ("baseline", "videoscore"):
        found = build("judge", name).thing.rate(rhythm, {})
        assert found.failure is not None
        assert found.failure.reason is Reason.NOT_APPLICABLE
    lost: Outcome[object] = Outcome.failed(Reason.NOT_APPLICABLE, "nothing")
    swapped, shuffled = (
        PromptResult(change, rhythm, 1, 0.0, lost, lost)  # type: ignore[arg-type]
        for change in ("swapped", "shuffled")
    )
    assert swapped.should_matter
    assert not shuffled.should_matter
    assert VoteRecord(aspect="rhythm", video="a.mp4", choice="tie").counts
