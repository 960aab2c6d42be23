"""Two baselines of ETVA's comparison with people: BLIP-BLEU and ViCLIP, as metrics of screentest.

    python baselines.py videos.jsonl --out baselines/
    python baselines.py videos.jsonl --out baselines/ --metrics blip_bleu viclip:code=FOLDER
    screentest suite etva people scores/ ratings.json --beside baselines/

BLIP-BLEU needs torch, transformers and weights of BLIP-2 (any model that describes pictures will
do: `blip_bleu:model=FOLDER`). ViCLIP needs the authors' code, a folder with their modules
`viclip` and `simple_tokenizer`, and their weights where that code looks for them. Copy the file
and change it: it is an example, and needs nothing of screentest but `metric` and `score`.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

import screentest

FRAMES = 8
"""Of a video, evenly: as in the comparison of the paper; EvalCrafter takes five."""
MEAN, STD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


def bleu(said: str, wanted: str, order: int) -> float:
    """BLEU of one sentence against one other, from words to runs of ``order`` words.

    As pycocoevalcap has it: words are what stands between spaces, with their capitals and
    commas, and a precision of 0 is replaced by almost 0.

    >>> round(bleu("a dog runs", "a dog runs fast", 2), 4)
    0.7165
    """
    ours, theirs = said.split(), wanted.split()
    if not ours or not theirs:
        return 0.0
    product = 1.0
    for size in range(1, order + 1):
        have, want = _runs(ours, size), _runs(theirs, size)
        right = sum(min(count, want[run]) for run, count in have.items())
        product *= (right + 1e-15) / (sum(have.values()) + 1e-9)
    brevity = min(1.0, math.exp(1 - len(theirs) / len(ours)))
    return float(min(1.0, brevity * product ** (1 / order)))


def _runs(words: list[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + size]) for start in range(len(words) - size + 1))


def device() -> str:
    """Where models run."""
    import torch

    wanted = os.environ.get("SCREENTEST_DEVICE", "auto")
    return ("cuda" if torch.cuda.is_available() else "cpu") if wanted == "auto" else wanted


@cache
def captioner(name: str) -> tuple[Any, Any]:
    """Load what prepares pictures, and what describes them."""
    from transformers import AutoModelForImageTextToText, AutoProcessor

    model = AutoModelForImageTextToText.from_pretrained(name).to(device()).eval()
    return AutoProcessor.from_pretrained(name), model


@screentest.metric(unit="0 nothing in common, 1 the prompt", low=0, high=1, frames=FRAMES)
def blip_bleu(
    frames: list[np.ndarray],
    prompt: str,
    *,
    model: str = "Salesforce/blip2-opt-2.7b",
    orders: Literal["four", "one"] = "four",
) -> float:
    """How much a model's descriptions of single frames share with the prompt.

    The best frame in BLEU-1, 2, 3 and 4, and the mean of the four. The released code means to do
    that, but takes the largest number of each scorer's list, which is BLEU-1 every time:
    ``orders=one`` gives that.
    """
    import torch

    processor, network = captioner(model)
    inputs = processor(images=[np.array(one) for one in frames], return_tensors="pt").to(
        network.device
    )
    with torch.inference_mode():
        made = network.generate(**inputs, max_new_tokens=20)
    said = [one.strip() for one in processor.batch_decode(made, skip_special_tokens=True)]
    sizes = (1, 2, 3, 4) if orders == "four" else (1,)
    return float(np.mean([max(bleu(one, prompt, size) for one in said) for size in sizes]))


@cache
def viclip_model(code: str) -> tuple[Any, Any]:
    """Load the authors' model and tokenizer from a folder of theirs."""
    if code not in sys.path:
        sys.path.insert(0, code)
    tokenizer = importlib.import_module("simple_tokenizer").SimpleTokenizer()
    return importlib.import_module("viclip").ViCLIP(tokenizer).to(device()).eval(), tokenizer


@screentest.metric(unit="cosine", low=-1, high=1, frames=FRAMES)
def viclip(frames: list[np.ndarray], prompt: str, *, code: str = "viclip") -> float:
    """Measure the cosine of ViCLIP's embeddings of eight frames and of the prompt."""
    import torch
    from PIL import Image

    network, tokenizer = viclip_model(str(Path(code).resolve()))
    squares = [np.asarray(Image.fromarray(one).resize((224, 224))) for one in frames]
    tube = ((np.stack(squares) / 255 - MEAN) / STD).transpose(0, 3, 1, 2)[None]
    with torch.inference_mode():
        seen = network.get_vid_features(torch.from_numpy(tube).float().to(device())).flatten()
        asked = network.get_text_features(prompt, tokenizer, {}).flatten()
    return float(torch.nn.functional.cosine_similarity(seen, asked, dim=0))


if __name__ == "__main__":
    reader = argparse.ArgumentParser(description="Score videos with BLIP-BLEU and ViCLIP.")
    reader.add_argument("items", help="a manifest of videos with prompts")
    reader.add_argument("--out", default="baselines")
    reader.add_argument("--metrics", nargs="+", default=["blip_bleu"])
    given = reader.parse_args()
    found = screentest.score(given.items, metrics=given.metrics, out=given.out)
    lost = [" ".join(map(str, row.values())) for row in found.not_scored.records()]
    sys.stdout.write("\n".join([str(found), *(f"not scored: {one}" for one in lost)]) + "\n")
