"""``screentest build`` on other corpora than manifests of captioned films."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from screentest.core import Item
from screentest.inputs.manifest import write_manifest
from screentest.sample import sample_videos
from screentest.testbeds.testbed import read_testbed
from screentest.testing.chat_answers import Answer, Asked
from screentest.testing.chat_server import FakeChatServer
from tests.messages import names
from tests.terminal import Screentest, fits, invoke

SMALL = ("--long-side", "64", "--fps", "2")


@pytest.fixture
def vript(tmp_path: Path, ffmpeg: str) -> Path:
    """One long video in clips (one is missing, one is broken), and a short one untrimmed."""
    folder, source = tmp_path / "Vript", sample_videos()[2].item
    clips = folder / "vript_long_videos_clips" / "clips_1_of_1095" / "film"
    shorts = folder / "vript_short_videos" / "short_video_1_of_42"
    cuts = folder / "vript_short_videos_clips" / "shorts_clips_1_of_42" / "02toZL7p4_0"
    for place in (clips, shorts, cuts, folder / "vript_meta", folder / "vript_captions"):
        place.mkdir(parents=True)
    assert source.script is not None
    spans = [clip.span for clip in source.script.clips if clip.span is not None]
    texts = [clip.caption for clip in source.script.clips]
    for number, span in enumerate(spans[:4], start=1):
        path = clips / f"film-Scene-{number:03}.mp4"
        take = ("-ss", str(float(span.start)), "-t", "1", "-i", str(source.video))
        subprocess.run([ffmpeg, "-v", "error", *take, "-an", str(path)], check=True)
    (clips / "film-Scene-002.mp4").unlink()
    broken = clips / "film-Scene-003.mp4"
    broken.write_bytes(broken.read_bytes()[:2000])
    (shorts / "02toZL7p4_0.mp4").symlink_to(source.video)
    times = [
        {
            "clip_id": f"02toZL7p4_0-Scene-{number:03}.mp4",
            "start": str(float(span.start)),
            "end": f"0:00:{float(span.end)}",
        }
        for number, span in enumerate(spans, start=1)
    ]
    (cuts / "02toZL7p4_0_cut_meta.json").write_text(json.dumps({"clips": times}))
    for name, suffix, count in (("film", "", 4), ("02toZL7p4_0", ".mp4", 5)):
        data = {
            f"{name}-Scene-{number:03}{suffix}": {"caption": {"content": text}}
            for number, text in enumerate(texts[:count], start=1)
        }
        described = {"meta": {"video_id": name, "num_clips": count}, "data": data}
        kind = "long" if name == "film" else "short"
        place = folder / "vript_captions" / f"vript_{kind}_videos_captions"
        place.mkdir()
        (place / f"{name}_caption.json").write_text(json.dumps(described))
        about = {name: {"title": "A film", "categories": ["Pets & Animals"]}}
        (folder / "vript_meta" / f"vript_{kind}_videos_meta.json").write_text(json.dumps(about))
    return folder


def test_a_vript_download(vript: Path, tmp_path: Path, screentest: Screentest) -> None:
    done = screentest(
        *("build", vript, "--out", "testbed", "--aspects", "aesthetics,temporal_flow"),
        *("--clips", "2", *SMALL),
    )
    assert done.returncode == 0, done.stderr
    assert fits(done.stdout)
    told = " ".join(done.stderr.split())
    assert names(told, "film: 1 of 4", ": 002", "film: film-Scene-003.mp4")
    testbed = read_testbed(tmp_path / "testbed")
    short, long = testbed.sources
    assert (short.id, long.id) == ("02toZL7p4_0", "film")
    assert short.groups == long.groups == {"category": "Pets & Animals"}
    assert (len(short.clips), len(long.clips)) == (5, 2)
    assert [pair.name for pair in testbed.pairs] == 2 * ["aesthetics", "temporal_flow"]


def test_a_folder_that_is_no_corpus(tmp_path: Path) -> None:
    done = invoke("build", tmp_path, "--out", tmp_path / "testbed")
    assert done.exit_code == 2
    assert "no Vript captions" in done.output
    assert "docs/captions.md" in done.output  # for who has videos and no captions
    forced = invoke("build", tmp_path, "--out", tmp_path / "testbed", "--format", "manifest")
    assert forced.exit_code == 2
    assert names(forced.output, f"error: {tmp_path} ", "manifest")
    assert not (tmp_path / "testbed").exists()


def test_short_videos_joined(tmp_path: Path, screentest: Screentest) -> None:
    items = [
        Item(f"v{number}", sample_videos()[1].item.video, prompt=f"Cars, part {number}.")
        for number in range(3)
    ]
    write_manifest(tmp_path / "shorts.jsonl", items)
    done = screentest(
        *("build", "shorts.jsonl", "--out", "testbed", "--aspects", "temporal_flow"),
        *("--clips", "2", "--join", "2", *SMALL),
    )
    assert done.returncode == 0, done.stderr
    assert ": v2" in done.stderr
    (pair,) = read_testbed(tmp_path / "testbed").pairs
    assert [one.clip for one in pair.touched] == [0, 1]


def test_films_without_captions_sorted_and_captioned_by_a_model(
    tmp_path: Path, screentest: Screentest
) -> None:
    def model(asked: Asked) -> Answer:
        assert asked.schema is not None
        field = asked.fields[0]
        said = "Animals" if field == "category" else "A bird sits at the left."
        return Answer(json.dumps({field: said}))

    video = sample_videos()[2].item.video
    write_manifest(tmp_path / "films.jsonl", [Item("film", video)])
    (tmp_path / "categories.txt").write_text("Animals\n\nSports\n")
    with FakeChatServer(model) as server:
        done = screentest(
            *("build", "films.jsonl", "--out", "testbed", "--clips", "2", *SMALL),
            *("--aspects", "spatial_relationship", "--categories", "categories.txt"),
            *("--model", f"chat=openai:seer,base_url={server.url}"),
        )
        assert len(server.asked) == 5 + 1
    assert done.returncode == 0, done.stderr
    testbed = read_testbed(tmp_path / "testbed")
    assert testbed.sources[0].groups == {"category": "Animals"}
    assert [pair.name for pair in testbed.pairs] == ["spatial_relationship"]


@pytest.fixture
def plain(tmp_path: Path, ffmpeg: str) -> Path:
    """Two clips of one shot each, named as VBench does."""
    folder = tmp_path / "videos"
    folder.mkdir()
    source = sample_videos()[2].item.video
    for place, name in enumerate(("a dog runs-0.mp4", "a cat sits-0.mp4")):
        take = ("-ss", str(4 * place), "-t", "1", "-i", str(source))
        subprocess.run(
            [ffmpeg, "-v", "error", *take, "-an", "-vf", "scale=64:-2", str(folder / name)],
            check=True,
        )
    return folder


def test_videos_that_score_reads_are_films_of_one_clip(
    plain: Path, tmp_path: Path, screentest: Screentest
) -> None:
    done = screentest("build", plain, "--out", "bed", "--aspects", "aesthetics", *SMALL)
    assert done.returncode == 0, done.stderr
    bed = read_testbed(tmp_path / "bed")
    prompts = {(tmp_path / "bed" / source.prompt).read_text() for source in bed.sources}
    assert prompts == {"a dog runs\n", "a cat sits\n"}
    made = sorted(pair.name for pair in bed.pairs)
    assert made == ["aesthetics"] * 2 + ["reencode"] * 2
    done = screentest(
        *("build", plain, "--out", "none", "--aspects", "aesthetics", "--placebos", "none"),
        *("--min-clips", "5", *SMALL),
    )
    assert done.returncode == 1
    assert not read_testbed(tmp_path / "none").pairs


def test_a_judge_is_certified_on_videos_in_one_command(
    plain: Path, tmp_path: Path, screentest: Screentest
) -> None:
    judged = ("certify", "sharpness", "--on", plain, "--out", "run", "--aspects", "aesthetics")
    done = screentest(*judged, "--json")
    assert done.returncode == 0, done.stderr
    assert len(read_testbed(tmp_path / "run" / "testbed").pairs) == 4
    (certificate,) = json.loads(done.stdout)
    assert certificate["judge"] == "sharpness"
    (plain / "a bird flies-0.mp4").write_text("hello")
    again = screentest(*judged)
    assert again.returncode == 0
    assert names(again.stdout, "run/testbed", "2 films", "a bird flies-0")


def test_nothing_to_judge_leaves_nothing_behind(tmp_path: Path, screentest: Screentest) -> None:
    done = screentest("certify", "sharpness")
    assert done.returncode == 2
    assert names(done.stderr, "--testbed", "--on")
    done = screentest("certify", "sharpness", "--on", "videos", "--dry-run")
    assert done.returncode == 2
    assert not list(tmp_path.iterdir())


def test_what_certifying_on_videos_takes_is_known_before_they_are_built(
    tmp_path: Path, screentest: Screentest
) -> None:
    (tmp_path / "plain").mkdir()
    for name in "abc":
        (tmp_path / "plain" / f"{name}.mp4").write_bytes(b"not opened")
    options = ("certify", "sharpness", "--on", "plain", "--aspects", "technical quality", "--json")
    shown = json.loads(screentest(*options, "--dry-run").stdout)
    # Three videos in one aspect, each with a placebo; both orders.
    assert [one["judgements"] for one in shown["judges"]] == [12]
    assert [(one["aspect"], one["films"]) for one in shown["groups"]] == [("technical_quality", 3)]
    assert [path.name for path in tmp_path.iterdir()] == ["plain"]


def test_a_folder_with_nothing_to_build_from_says_so(
    tmp_path: Path, screentest: Screentest
) -> None:
    (tmp_path / "empty").mkdir()
    done = screentest("build", "empty", "--out", "bed")
    assert done.returncode == 2
    assert names(done.stderr, "empty")
