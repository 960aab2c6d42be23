"""Tensors of a GPU, as training loops hold them, read as frames: the same pictures as in NumPy?

Each way of holding a clip is read twenty times and compared with the array that it was made from.
Some are still being written by another stream when they are read. Reading must leave no memory of
the card taken. Without a GPU the same ways are read on the CPU, and it says so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from _figures import best_of
from screentest.core.errors import BadOption
from screentest.video.arrays import read_frames

TIMES = 20
SHAPE = (8, 72, 96, 3)
CLIP = np.random.default_rng(0).integers(0, 256, SHAPE, dtype=np.uint8)


def ways(torch: Any, device: str) -> dict[str, tuple[Callable[[], Any], int]]:
    """How a clip is held, and by how many levels of 255 its type may be off."""
    real = (torch.from_numpy(CLIP).float() / 255).to(device)
    whole = torch.from_numpy(CLIP).to(device)
    shuffled = real.permute(3, 0, 1, 2).contiguous()
    found: dict[str, tuple[Callable[[], Any], int]] = {
        "uint8": (lambda: whole, 0),
        "float32": (lambda: real, 0),
        "float16": (real.half, 0),
        "float64": (real.double, 0),
        "bfloat16": (real.bfloat16, 1),
        "float8": (lambda: real.to(torch.float8_e4m3fn), 9),
        "-1 to 1": (lambda: real * 2 - 1, 0),
        "channels first": (lambda: shuffled, 0),
        "channels last": (
            lambda: real.permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last),
            0,
        ),
        "every second row of more": (lambda: real.repeat_interleave(2, 1)[:, ::2], 0),
        "a part of a larger one": (lambda: torch.stack([real, real])[1], 0),
        "a negative view": (lambda: torch._neg_view(-real), 0),
        "a parameter": (lambda: torch.nn.Parameter(real.clone()), 0),
        "within a graph": (lambda: real.clone().requires_grad_() * 1, 0),
        "of inference": (lambda: _inferred(torch, real), 0),
        "frames in a list": (lambda: list(real.bfloat16()), 1),
        "views of one frame each": (lambda: list(shuffled.permute(1, 2, 3, 0)), 0),
    }
    if device != "cpu":
        found |= {
            "written by another stream": (lambda: _late(torch, real), 0),
            "a list of several streams": (lambda: [_late(torch, frame) for frame in real], 0),
            "replayed": (_replayed(torch, real), 0),
            "in host memory that is pinned": (lambda: real.cpu().pin_memory(), 0),
            "on its way to pinned memory": (lambda: _leaving(torch, real), 0),
        }
    return found


def _inferred(torch: Any, clip: Any) -> Any:
    with torch.inference_mode():
        return clip * 1


def _late(torch: Any, clip: Any) -> Any:
    """A tensor that some 5 ms from now holds the clip."""
    made = torch.zeros_like(clip)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(10_000_000)
        made.copy_(clip)
    return made


def _leaving(torch: Any, clip: Any) -> Any:
    """As loops copy without waiting: the host reads before the card has written."""
    made = torch.zeros(clip.shape, pin_memory=True)
    torch.cuda.synchronize()
    torch.cuda._sleep(10_000_000)
    made.copy_(clip, non_blocking=True)
    return made


def _replayed(torch: Any, clip: Any) -> Callable[[], Any]:
    """A CUDA graph that writes the clip."""
    held, made, graph = clip.clone(), torch.zeros_like(clip), torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        made.copy_(held * 1)

    def replay() -> Any:
        made.zero_()
        graph.replay()
        return made

    return replay


def refused(torch: Any, device: str) -> dict[str, Any]:
    clip = torch.rand(SHAPE, device=device)
    freed = clip.clone()
    freed.untyped_storage().resize_(0)
    return {
        "sparse": clip.to_sparse(),
        "complex": torch.complex(clip, clip),
        "freed": freed,
        "a mask": clip > 0.5,
        "NaN": clip * float("nan"),
        "without frames": clip[:0],
        "on no device": clip.to("meta"),
    }


def main() -> None:
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(torch.cuda.get_device_name() if device == "cuda" else "no GPU: the same on the CPU")
    wrong = 0
    for name, (make, most) in ways(torch, device).items():
        off = [_off(make()) for _ in range(TIMES)]
        wrong += max(off) > most
        print(f"{name:32} off by {max(off)} of 255, at most {most}")
    for name, tensor in refused(torch, device).items():
        try:
            read_frames(tensor)
        except BadOption as error:
            print(f"{name:32} refused: {str(error).splitlines()[0]}")
        else:
            wrong += 1
            print(f"{name:32} NOT REFUSED")
    batch = torch.rand((4, 3, 81, 480, 832), device=device).bfloat16()
    before = torch.cuda.memory_allocated() if device == "cuda" else 0
    seconds = best_of(3, lambda: read_frames(batch))
    left = torch.cuda.memory_allocated() - before if device == "cuda" else 0
    wrong += left != 0
    size = "4 clips of 81 frames of 832 × 480, bfloat16"
    print(f"{size}: {seconds:.2f} s, {left:,} bytes of the card left taken")
    print(f"{wrong} wrong")
    sys.exit(wrong > 0)


def _off(tensor: Any) -> int:
    (levels,) = read_frames(tensor).clips
    return int(np.abs(levels.astype(int) - CLIP).max())


if __name__ == "__main__":
    main()
