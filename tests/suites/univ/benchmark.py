"""A small benchmark in UniVBench's layout, of real film and generated film, and two models.

The model ``fine`` gives back what was asked for as well as the data allow; ``grey`` gives the
same without colours. The judge behind the server looks at the last picture that it is sent: it
finds fault with one that has no colour.
"""

from __future__ import annotations

import base64
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from screentest.testing.chat_answers import Asked
from screentest.testing.chat_server import FakeChatServer
from tests.metrics.films import filtered
from tests.suites.univ.scripted import answering, caption_of, finding, inspection, marks
from tests.suites.univ.test_text_task import TRUTH

TASKS = ("v2t", "t2v", "r2v", "tv2v", "rv2v", "v2v")
MODELS = ("fine", "grey")
FINE, GREY = 9, 4
FULL, VAGUE = "All of it is said.", "Hardly anything is said."


@dataclass(frozen=True)
class Benchmark:
    """Where the cases and the models' results are."""

    folder: Path

    def results(self, model: str) -> Path:
        return self.folder / "results" / model


def make_benchmark(folder: Path, videos: Path, ffmpeg: str) -> Benchmark:
    """Two cases: a real dog, and a generated story of several shots."""
    bench = Benchmark(folder)
    small = "scale=160:-2"
    sources = {
        "1": (videos / "singleshot" / "sam2_dog.mp4", 1, 1.5),
        "2": (videos / "ai_generated" / "talc_20_talc.mp4", 5, 2.0),
    }
    pictures = sorted((videos / "backgrounds").glob("*.jpg"))[:2]
    for number, (source, shots, seconds) in sources.items():
        case = folder / "full_list" / number
        case.mkdir(parents=True)
        film = filtered(ffmpeg, source, case / f"{number}.mp4", small, seconds=seconds)
        (case / "caption.json").write_text(json.dumps({"caption": "A film.", "json": TRUTH}))
        (case / "number_of_shot.txt").write_text(f"{shots}\n")
        (case / "text_editing_en.txt").write_text("Make the fur red.")
        planned = folder / "R2V" / number
        planned.mkdir(parents=True)
        (planned / "R2V_planning.json").write_text(json.dumps({"caption": "A dog by a lake."}))
        _shrink(pictures[0], planned / "reference_image_1.jpeg")
        for kind, some in (("single", pictures[:1]), ("multiple", pictures)):
            place = case / f"reference_editing_{kind}"
            place.mkdir()
            (place / "reference_editing_en.txt").write_text("Put it into this place.")
            for place_number, picture in enumerate(some, start=1):
                _shrink(picture, place / f"reference_image_{place_number}.jpeg")
        for model in MODELS:
            made = bench.results(model)
            made.mkdir(parents=True, exist_ok=True)
            look = "null" if model == "fine" else "hue=s=0"
            filtered(ffmpeg, film, made / f"{number}.mp4", look, seconds=seconds)
            (made / f"{number}_multiple.mp4").write_bytes((made / f"{number}.mp4").read_bytes())
            said = FULL if model == "fine" else VAGUE
            (made / f"{number}.txt").write_text(f"{said} It is film {number}.")
    return bench


def _shrink(picture: Path, out: Path) -> None:
    with Image.open(picture) as opened:
        opened.convert("RGB").resize((96, 54)).save(out)


def is_grey(asked: Asked) -> bool:
    """Whether the last picture of a request has no colour."""
    url = [part for part in asked.parts if part["type"] == "image_url"][-1]["image_url"]["url"]
    with Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) as picture:
        pixels = np.asarray(picture.convert("RGB"), float)
    return bool(np.ptp(pixels, axis=2).mean() < 4)


def _inspect(asked: Asked) -> dict[str, Any]:
    fault = finding(dimension="colour", kind="no colour", description="all is grey", severity=0.8)
    found = inspection(fault) if is_grey(asked) else inspection()
    # Two inspectors never write the same; a question that was asked before is not paid again.
    found["remarks"]["technical_quality"] = f"looked at {asked.digest}"
    return found


def _score(asked: Asked) -> dict[str, Any]:
    return marks(GREY if "all is grey" in "\n".join(asked.texts) else FINE)


def _match(asked: Asked) -> dict[str, Any]:
    assert asked.schema is not None
    value = 1.0 if FULL in "\n".join(asked.texts) else 0.5
    said = {"quote": caption_of(asked), "reason": "read", "present": True, "score": value}
    return dict.fromkeys(asked.fields, said)


def judge() -> FakeChatServer:
    """The judge, for a ``with`` block."""
    return answering(inspect=_inspect, score=_score, match=_match)
