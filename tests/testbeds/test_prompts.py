"""Testbeds of prompts: what is false is false for certain, and nothing else is changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import screentest
from screentest.cli import app
from screentest.core import BadOption, Clip, Item, PairKind, Reason, Script
from screentest.english.alterations import WordChange, alter, earlier_and_later
from screentest.testbeds.files import video_in
from screentest.testbeds.prompts import build_prompts, captions_of, changed_prompt
from screentest.testbeds.subset import sample_testbed
from screentest.testbeds.testbed import FILE, load_testbed, read_testbed
from screentest.testbeds.verify import check_manifest, stray_files, verify_testbed
from screentest.testing.films import write_film

CAPTIONS = Path(__file__).parent / "captions"
TEXTS = {
    "cups": ("A woman shuffles three red cups on a white table outdoors.",),
    "cat": ("Two cats sleep to the left of a green sofa.",),
    "rocket": ("A rocket stands on a launch pad near the sea.",),
    "boat": ("Sailors paddle a boat.", "A storm breaks the mast.", "They swim to a beach."),
    "again": ("A rocket stands on a launch pad near the sea.",),
}


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> list[Item]:
    folder = tmp_path_factory.mktemp("prompted")
    found = []
    for number, (name, captions) in enumerate(TEXTS.items()):
        frames = [np.full((48, 64, 3), 40 * number + n, np.uint8) for n in range(4)]
        video = write_film(folder / f"{name}.mp4", frames, rate=4)
        script = Script(tuple(map(Clip, captions))) if len(captions) > 1 else None
        found.append(Item(name, video, "" if script else captions[0], script))
    return found


@pytest.fixture(scope="module")
def bed(items: list[Item], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bed") / "prompts"
    build_prompts(items, folder)
    return folder


def first(words: object) -> str:
    return next(iter(words))  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize(
    ("change", "text", "expected"),
    [
        ("color", "A red car by a white house.", "A blue car by a white house."),
        ("color", "An orange cat sits.", "A blue cat sits."),
        ("color", "The car is yellow.", "The car is blue."),
        ("color", "A white man and a golden ring.", None),  # people, and no basic colour
        ("color", "There is no red car.", None),
        # In no list of things, but the text gives it a colour.
        ("color", "A white circle moves.", "A black circle moves."),
        ("color", "A red gizmo spins.", "A blue gizmo spins."),
        ("color", "A cat on a black background.", "A cat on a white background."),
        ("color", "White noise fills Red Square.", None),
        ("object", "A white circle moves.", "A white elephant moves."),
        ("object", "People in a circle.", "Elephants in a circle."),
        ("number", "Two dogs and two cats play.", "Four dogs and four cats play."),
        ("number", "Seen for 3 balls.", "Seen for 6 balls."),
        ("number", "Ten birds fly.", None),  # who shows twenty need not be countable
        ("number", "It takes two minutes.", None),
        ("place", "From left to right a car passes.", "From right to left a car passes."),
        ("place", "A man sits under a tree.", "A man sits above a tree."),
        ("place", "The bridge is under construction.", None),
        ("place", "She raises her left hand.", None),
        ("object", "A dog runs.", "An anchor runs."),
        ("object", "Some dogs run.", "Some anchors run."),
        ("object", "The elephant walks past an anchor.", "The elephant walks past a giraffe."),
        ("object", "Freedom and joy.", None),
        ("action", "A man is walking home.", "A man is crawling home."),
        ("action", "A man carries it home.", "A man juggles it home."),
        ("action", "A chef cuts an onion.", "A chef juggles an onion."),
        ("action", "A man climbs.", "A man skates."),  # crawling is too near
        ("action", "Leaves fall.", None),
    ],
)
def test_one_word_is_altered_where_it_makes_the_text_false(
    change: str, text: str, expected: str | None
) -> None:
    found = alter([text], WordChange(change), first)
    assert (found.captions if found else None) == ((expected,) if expected else None)


def test_events_change_places_where_one_is_said_to_be_before_the_other() -> None:
    found = earlier_and_later("After eating, she waves; a car stands before the house.")
    assert found is not None
    assert found.captions == ("Before eating, she waves; a car stands before the house.",)
    assert earlier_and_later("A car stands before the house.") is None


def test_nothing_but_the_words_that_are_listed_is_changed() -> None:
    captions = [
        row["caption"]
        for row in json.loads((CAPTIONS / "labelled_own.json").read_text())["captions"]
    ][:60]
    seen = 0
    for change in WordChange:
        for number, caption in enumerate(captions):
            found = alter([caption], change, lambda words: words[number % len(words)])  # noqa: B023
            if found is None:
                continue
            seen += 1
            old, new = caption.split(), found.captions[0].split()
            assert len(old) == len(new)
            moved = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
            assert moved
            for one, other in moved:
                if one.lower() not in ("a", "an"):
                    said = next(word for word in found.words if word in one)
                    assert one.replace(said, found.words[said]) == other
    assert seen > 25


def test_what_is_drawn_depends_on_the_seed_and_the_source_alone() -> None:
    captions = TEXTS["cups"]
    one = changed_prompt(captions, "cups", "object", 7)
    assert one == changed_prompt(captions, "cups", "object", 7)
    others = {changed_prompt(captions, "cups", "object", seed).false for seed in range(20)}
    assert len(others) > 3


def test_every_pair_is_one_video_under_two_prompts(bed: Path, items: list[Item]) -> None:
    testbed = read_testbed(bed)
    made = {(pair.source, pair.name): pair for pair in testbed.pairs}
    for pair in testbed.pairs:
        assert pair.prompts is not None
        assert pair.intact == pair.changed.path
        assert pair.prompts.true == TEXTS[pair.source]
        assert (f"videos/{pair.source}/" in pair.intact) == (pair.kind is PairKind.PROMPT)
        assert video_in(bed, pair.changed).is_file()
    words = {
        name: dict(made["cups", name].prompts.words)  # type: ignore[union-attr]
        for name in ("number", "place")
    }
    assert words["place"] == {"outdoors": "indoors"}
    assert words["number"].keys() == {"three"}
    order = made["boat", "order"].prompts
    assert order is not None
    assert sorted(order.false) == sorted(order.true)
    # Two videos of one prompt: neither is "another" for the other.
    assert made["rocket", "swapped"].prompts.false != TEXTS["again"]  # type: ignore[union-attr]
    skipped = {(skip.source, skip.name): skip.failure for skip in testbed.skips}
    assert skipped["rocket", "color"].reason is Reason.NOT_APPLICABLE
    assert "basic colours" in skipped["rocket", "color"].detail
    assert {item.video.stat().st_ino for item in items} == {
        video_in(bed, source.intact[0]).stat().st_ino for source in testbed.sources
    }  # no byte is copied where the disk has links


def test_it_is_verified_down_to_the_words(bed: Path, tmp_path: Path) -> None:
    assert verify_testbed(bed).ok
    copy = tmp_path / "copy"
    shutil.copytree(bed, copy)
    data = json.loads((copy / FILE).read_text())
    pair = next(p for p in data["pairs"] if (p["source"], p["name"]) == ("cups", "color"))
    pair["prompts"]["false"] = ["A woman shuffles three violet cups."]
    (copy / FILE).write_text(json.dumps(data))
    (finding,) = check_manifest(load_testbed(copy))
    assert (finding.where, finding.fault.kind) == ("cups/color", "false_prompt")
    pair["changed"]["path"] = pair["intact"] = "../secret.mp4"
    (copy / FILE).write_text(json.dumps(data))
    with pytest.raises(screentest.core.DecodeError, match=r"secret\.mp4"):
        read_testbed(copy)


def test_a_sample_has_the_videos_of_its_controls(bed: Path, tmp_path: Path) -> None:
    made = sample_testbed(bed, tmp_path / "few", 4)
    assert len(made.pairs) == 4
    assert not list(check_manifest(made))
    assert not list(stray_files(tmp_path / "few", made))
    for source in made.sources:
        assert video_in(tmp_path / "few", source.intact[0]).is_file()


def test_the_same_again_is_left_as_it_is_and_anything_else_is_refused(
    bed: Path, items: list[Item], tmp_path: Path
) -> None:
    before = (bed / FILE).stat()
    again = build_prompts(items, bed)
    assert (again.made, (bed / FILE).stat()) == (0, before)
    with pytest.raises(BadOption, match="another testbed"):
        build_prompts(items, bed, seed=8)
    (tmp_path / "mine.txt").write_text("keep me")
    with pytest.raises(BadOption, match="not empty"):
        build_prompts(items, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_videos_without_prompt_and_files_that_are_none_are_skipped_with_the_reason(
    items: list[Item], tmp_path: Path
) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"not a video")
    given = [
        *items[:2],
        Item("silent", items[2].video),
        Item("gone", tmp_path / "gone.mp4", "A dog runs."),
        Item("broken", broken, "A dog runs."),
    ]
    testbed = build_prompts(given, tmp_path / "bed", ["object"]).testbed
    reasons = {skip.source: skip.failure.reason for skip in testbed.skips if skip.name == "object"}
    assert reasons.pop("broken").value in ("undecodable", "unsafe")
    assert reasons == {"silent": Reason.NOT_APPLICABLE, "gone": Reason.MISSING_FILE}
    assert {source.id for source in testbed.sources} == {"cups", "cat"}
    assert not list(stray_files(tmp_path / "bed", testbed))


def test_one_caption_is_a_prompt_and_several_are_a_script(items: list[Item]) -> None:
    one = Script((Clip("A dog runs."),))
    assert captions_of(Item("x", Path("x"), "A cat sits.", one)) == ("A cat sits.",)
    assert captions_of(items[3]) == TEXTS["boat"]
    assert captions_of(Item("x", Path("x"), "  ")) == ()


def test_the_command_builds_and_shows_it(items: list[Item], tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.jsonl"
    rows = [{"id": one.id, "video": str(one.video), "prompt": one.text} for one in items]
    manifest.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = CliRunner().invoke
    out = str(tmp_path / "bed")
    found = run(app, ["build-prompts", str(manifest), "--out", out])
    assert found.exit_code == 0, found.output
    assert "swapped_elsewhere" in found.output
    shown = run(app, ["testbed", "show", out, "cat/place"])
    assert "false: Two cats sleep to the right" in " ".join(shown.output.split())
    arguments = ["--out", str(tmp_path / "no"), "--changes", "colour"]
    wrong = run(app, ["build-prompts", str(manifest), *arguments])
    assert wrong.exit_code == 2
    assert "'colour'" in wrong.output
