"""Captions written, captions read and films sorted by a chat model: a fake server, real HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from screentest.core import BadOption, Item, Reason
from screentest.models import ModelChoice
from screentest.run.engine import InlineEngine
from screentest.run.session import Settings
from screentest.sample import sample_videos
from screentest.testbeds.builder import BuildResult, build_testbed
from screentest.testbeds.chat import FRAMES, LONG_SIDE
from screentest.testbeds.options import BuildOptions
from screentest.testing.chat_answers import Act, Answer, Asked
from screentest.testing.chat_server import FakeChatServer
from tests.messages import each_names, names
from tests.testbeds.stage import QUICK

OPTIONS = BuildOptions(
    degradations=("aesthetics", "temporal_flow", "spatial_relationship"),
    clips=(2,),
    long_side=96,
    rate=Fraction(4),
    encoder=QUICK,
)
SIDES = {
    "subject": ["bird"],
    "background": [],
    "dynamic_degree": [],
    "human_action": [],
    "color": [],
    "spatial_relationship": [{"location": "left", "object": "bird"}],
    "scene": [],
}


def film(name: str = "film", **changes: object) -> Item:
    return replace(sample_videos()[2].item, id=name, **changes)  # type: ignore[arg-type]


def built(
    server: FakeChatServer,
    items: list[Item],
    folder: Path,
    options: BuildOptions = OPTIONS,
    categories: tuple[str, ...] = (),
) -> BuildResult:
    model = ModelChoice.parse(f"chat=openai:seer,base_url={server.url}")
    return build_testbed(
        items,
        folder,
        options,
        chat=Settings((model,)),
        categories=categories,
        engine=InlineEngine(),
    )


def kind_of(asked: Asked) -> str:
    """What is asked for, by the fields of the answer's schema."""
    assert asked.schema is not None
    return asked.fields[0]


def test_a_film_without_captions_is_captioned_once(testbed_folder: Path) -> None:
    def model(asked: Asked) -> Act:
        spoilt = any("[3." in text for text in asked.texts)  # the second shot, from 3 s on
        return (
            Answer("I see a bird.") if spoilt else Answer('{"caption": "A  bird\\nat the left."}')
        )

    items = [film(script=None), film("captioned")]
    with FakeChatServer(model) as server:
        done = built(server, items, testbed_folder)
        # Five shots of the film without captions; the other has its own.
        assert {kind_of(asked) for asked in server.asked} == {"caption"}
        first = len(server.asked)
        sizes = server.asked[0].picture_sizes
        again = built(server, items, testbed_folder)
        assert len(server.asked) == first  # nothing is asked or paid for again
    assert sizes == [(LONG_SIDE, LONG_SIDE * 360 // 640)] * FRAMES
    source = done.testbed.sources[0]
    captions = [clip.caption for clip in source.clips]
    assert captions.count("A bird at the left.") == 4
    assert captions.count("") == 1
    assert [fault for fault in source.faults if names(fault, "1 of 5 clips", "unparsable")]
    assert {(pair.source, pair.name) for pair in done.testbed.pairs} >= {
        *(("film", name) for name in OPTIONS.degradations),
        ("captioned", "temporal_flow"),
    }
    touched = [one.clip for pair in done.testbed.pairs for one in pair.touched]
    assert touched
    assert again.testbed.pairs == done.testbed.pairs


def test_facts_that_could_not_be_had_are_not_empty_facts(testbed_folder: Path) -> None:
    """Of five captions four say "left"; one answer is prose. That clip is never mirrored."""

    def model(asked: Asked) -> Act:
        told = " ".join(asked.texts)
        return Answer("It is a bird.") if "cockatoo" in told else Answer(json.dumps(SIDES))

    options = replace(OPTIONS, degradations=("spatial_relationship", "aesthetics"), extract="chat")
    item = film()
    assert item.script is not None
    spoilt = [n for n, clip in enumerate(item.script.clips) if "cockatoo" in clip.caption]
    assert len(spoilt) == 1
    with FakeChatServer(model) as server:
        done = built(server, [item], testbed_folder, replace(options, clips=(4,)))
        asked = len(server.asked)
        assert asked == 6  # one for each caption, and once more where the answer was prose
        more = built(server, [item], testbed_folder, replace(options, clips=(5,)))
        assert len(server.asked) == asked  # another testbed of the same captions: nothing is paid
    (source,) = done.testbed.sources
    assert source.unread == tuple(spoilt)
    assert each_names(source.faults, ("1 of 5 captions", "unparsable 1"))
    mirrored = next(pair for pair in done.testbed.pairs if pair.name == "spatial_relationship")
    assert {one.clip for one in mirrored.touched} == set(range(5)) - set(spoilt)
    assert done.testbed.recipe["captions"].startswith("extract|v:1|")
    (skip,) = more.testbed.skips
    assert skip.failure.reason is Reason.NOT_APPLICABLE
    assert names(skip.failure.detail, "5 clips ", "4 of 5 captions ", "; 1 ")
    # Where no text is needed, a caption that could not be read is no hindrance.
    assert [pair.name for pair in more.testbed.pairs] == ["aesthetics"]


def test_sources_are_sorted_into_categories(testbed_folder: Path) -> None:
    def model(asked: Asked) -> Act:
        return Answer('{"category": "Animals"}')

    items = [film("one"), film("two", groups={"category": "News"})]
    options = replace(OPTIONS, degradations=("aesthetics",))
    with FakeChatServer(model) as server:
        done = built(server, items, testbed_folder, options, ("Animals", "News"))
        assert len(server.asked) == 1  # the other has one in its metadata
        built(server, items, testbed_folder, options, ("Animals", "News"))
        assert len(server.asked) == 1
    groups = {source.id: source.groups["category"] for source in done.testbed.sources}
    assert groups == {"one": "Animals", "two": "News"}


def test_no_category_is_reported(testbed_folder: Path) -> None:
    options = replace(OPTIONS, degradations=("aesthetics",))
    with FakeChatServer([Answer('{"category": "Music"}')] * 9) as server:
        done = built(server, [film()], testbed_folder, options, ("Animals", "News"))
    assert done.testbed.sources[0].groups == {}
    assert [remark for remark in done.remarks if str(remark).startswith("film: no category: ")]
    assert done.testbed.pairs


@pytest.mark.parametrize(
    "call",
    [
        lambda out: build_testbed([], out, replace(OPTIONS, extract="chat")),
        lambda out: build_testbed([], out, OPTIONS, categories=("A", "B")),
    ],
    ids=["extract", "categories"],
)
def test_a_chat_model_is_asked_for_before_any_work(
    call: Callable[[Path], BuildResult], testbed_folder: Path
) -> None:
    with pytest.raises(BadOption, match="and there is none"):
        call(testbed_folder)
    assert not testbed_folder.exists()
