"""What judges and people are told of an aspect: one neutral text, which says nothing of harm."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from screentest.annotate.language import read_language
from screentest.core import BUILTIN_ASPECTS, Aspect, Clip, Item, Question, Script, build
from screentest.core.registry import BUILTIN, registry
from screentest.measure.items import measure
from screentest.models import ModelChoice
from screentest.models.ask.templates import ASPECTS, Prompts
from screentest.run.session import Settings, Tools
from screentest.testing.chat_answers import Asked, plausible
from screentest.testing.chat_server import FakeChatServer
from screentest.testing.films import write_film

# A judge that is told "a mirrored arrangement counts against a video" needs no judgement: it looks
# for mirrored pictures, and its certificate says how well it does that. In the field nobody knows
# what is wrong with a video. So no text for a judge may name what our operators do: these are the
# beginnings of words, by operator, and the names of all that are registered.
STEMS = {
    "aesthetics": "invert murky flat dull negative contrast washed",
    "technical_quality": "blur soft pixelat upscal low-res resampl",
    "appearance_style": "cartoon oil paint watercolo pencil sketch drawn filter",
    "background_consistency": "flicker jump strob swap replac pasted cut-out",
    "object_integrity": "eras remov smear inpaint vanish missing torn",
    "color": "recolo repaint tint",
    "dynamics_degree": "freez frozen still static photograph-like halt stutter",
    "comprehensiveness": "delet omit dropp skipp absent left-out",
    "spatial_relationship": "mirror flip",
    "temporal_flow": "shuffl reorder permut",
    "families": "nois compress banding sharpen interlac jitter revers backwards duplicat melt warp "
    "tilted crop underexpos overexpos desaturat garish cast posteri grain truncat corrupt drift "
    "tiled bleed strip duoton halfton ringing oversiz slowed sped upside repeat block turned",
    "of all": "harmed damag degrad tamper artefact artifact intact look-again passage-in-which",
}
# Those whose name is that of their aspect have no name that could be said.


def stems() -> set[str]:
    named = {
        entry.name.replace("_", " ")
        for entry in registry.entries("degradation")
        if entry.origin == BUILTIN and entry.name not in BUILTIN_ASPECTS
    }
    return {stem.replace("-", " ") for text in STEMS.values() for stem in text.split()} | named


# The paper's own words for technical quality (its table 6) name what may be wrong with a frame.
TABLE_6 = Aspect.TECHNICAL_QUALITY.info.definition


def named_harm(text: str) -> list[str]:
    lower = " ".join(text.replace(TABLE_6, "").lower().split())
    return [stem for stem in stems() if re.search(rf"\b{re.escape(stem)}", lower)]


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    grey = [np.full((48, 64, 3), 40 * n, np.uint8) for n in range(4)]
    return write_film(tmp_path_factory.mktemp("words") / "film.mp4", grey, rate=4)


@pytest.fixture
def server() -> Iterator[FakeChatServer]:
    with FakeChatServer(plausible) as found:
        yield found


def whole(asked: Asked) -> str:
    """All that a model reads: system, user, and the form of the answer."""
    system = json.dumps(asked.body["messages"][0])
    return "\n".join([*asked.texts, json.dumps(asked.schema), system])


def test_no_question_to_a_judge_names_what_operators_do(film: Path, server: FakeChatServer) -> None:
    choice = ModelChoice.parse(f"chat=openai:test,base_url={server.url},max_attempts=1")
    tools = Tools(Settings(models=(choice,)))
    item = Item("film", film, "A film.", Script((Clip("A film."),)))
    judges = [entry.name for entry in registry.entries("judge") if entry.origin == BUILTIN]
    asking = []
    for name in judges:
        if name == "human":
            continue  # needs votes
        judge = build("judge", name).thing
        if ASPECTS in judge.info.prompts:
            asking.append(name)
            for aspect in BUILTIN_ASPECTS:
                judge.judge(Question(aspect, item.prompt, item, item), tools).unwrap()
    assert asking == ["vlm_hybrid", "vlm_text", "vlm_video"]
    measure(item, {"dense": build("metric", "dense").thing}, tools)
    tools.models.close()
    texts = [whole(asked) for asked in server.asked]
    for aspect in BUILTIN_ASPECTS:
        # Captioner, three comparisons; the dense judge has all that a single clip shows in one.
        assert sum(aspect.info.definition in text for text in texts) >= 4
    assert {text: found for text in texts if (found := named_harm(text))} == {}


def test_technical_quality_names_what_the_paper_names() -> None:
    for words in ("blur", "noise", "compression artifacts", "over- or under-exposure"):
        assert words in TABLE_6


def test_hinted_words_do_name_it() -> None:
    """The list of stems is of use only where it finds what was there before."""
    prompts = Prompts()
    for aspect in BUILTIN_ASPECTS:
        neutral, hinted = (prompts.definition(aspect, hinted=one) for one in (False, True))
        assert hinted == f"{neutral} {aspect.info.hint}"
        assert not named_harm(neutral) or aspect is Aspect.TECHNICAL_QUALITY
        assert named_harm(hinted)


def test_people_read_the_same_as_judges() -> None:
    english, japanese = read_language("en"), read_language("ja")
    for aspect in BUILTIN_ASPECTS:
        assert english.text(f"aspect.{aspect}.text") == aspect.info.definition
        text = japanese.text(f"aspect.{aspect}.text")
        # What it means, what to weigh, what not; and none of these: mirrored, still, erased,
        # missing, swapped, blurred, noise, painted, inverted, jumps about.
        assert "重視してください" in text
        assert text.endswith("この観点に含めません。")
        said = text + japanese.text(f"aspect.{aspect}.name")
        assert aspect is Aspect.TECHNICAL_QUALITY or (
            re.findall("反転|静止|止ま|消さ|抜け|欠け|入れ替|ぼけ|ノイズ|油絵|漫画|塗", said) == []
        )
    for task in ("pairs", "check"):
        assert not named_harm(english.text(f"task.{task}.title"))
    assert not named_harm(english.text("task.pairs.help"))


def test_a_folder_replaces_a_definition_for_judges_and_people(tmp_path: Path) -> None:
    (tmp_path / "aspects").mkdir()
    (tmp_path / "aspects" / "color.jinja").write_text("Are the\ncolours right?\n")
    ours, theirs = Prompts(), Prompts(tmp_path)
    assert theirs.definition(Aspect.COLOR) == "Are the colours right?"
    assert theirs.definition(Aspect.AESTHETICS) == ours.definition(Aspect.AESTHETICS)
    template = "judges/judge_video"
    assert theirs.digest(template, ASPECTS) != ours.digest(template, ASPECTS)
    assert theirs.digest(template) == ours.digest(template)
    for code in ("en", "ja"):
        read = read_language(code, theirs)
        assert read.text("aspect.color.text") == "Are the colours right?"
        assert read.text("aspect.aesthetics.text") == read_language(code).text(
            "aspect.aesthetics.text"
        )
