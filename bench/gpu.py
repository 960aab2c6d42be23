"""Frames per second through vision towers of real size with random weights, on a GPU.

The reference is the card's own bf16 peak, measured in the same run by multiplying matrices: the
share of it says how well the card is used, whatever card it is. Without a GPU it says so.

Four ways, each through the backend that metrics use: the network alone; arrays in memory to
vectors (stacking, copying, resizing and normalising included); the same with compiled layers;
and films to vectors, decoded by threads while the card works. Films are decoded by PyAV; where
that is missing, by OpenCV, and it says which.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from queue import Full, Queue
from typing import Any

import numpy as np

from _figures import Table, publish

SIDE, IMAGES, SECONDS = 448, 2048, 6.0
DECODERS = 8
SAMPLE = Path(__file__).resolve().parents[1] / "src" / "screentest" / "sample"


def clip_large(folder: Path) -> None:
    """CLIP ViT-L/14 at 336 pixels, with a tokenizer of a few words."""
    from tokenizers import Tokenizer, models
    from transformers import (
        CLIPConfig,
        CLIPImageProcessor,
        CLIPModel,
        CLIPProcessor,
        PreTrainedTokenizerFast,
    )

    vision = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24}
    vision |= {"num_attention_heads": 16, "image_size": 336, "patch_size": 14}
    text = {"num_hidden_layers": 1, "vocab_size": 8}
    text |= {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    config = CLIPConfig(vision_config=vision, text_config=text, projection_dim=768)
    CLIPModel(config).save_pretrained(folder)
    words = Tokenizer(models.WordLevel({"<pad>": 0, "<s>": 1, "</s>": 2, "<unk>": 3}, "<unk>"))
    names = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    pictures = CLIPImageProcessor(
        size={"shortest_edge": 336}, crop_size={"height": 336, "width": 336}
    )
    CLIPProcessor(
        pictures, PreTrainedTokenizerFast(tokenizer_object=words, **names)
    ).save_pretrained(folder)


def dinov2_large(folder: Path) -> None:
    """DINOv2 ViT-L/14 at 224 pixels, its positions learned at 518 as published."""
    from transformers import BitImageProcessor, Dinov2Config, Dinov2Model

    config = Dinov2Config(
        hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, image_size=518
    )
    Dinov2Model(config).save_pretrained(folder)
    BitImageProcessor(
        size={"shortest_edge": 256}, crop_size={"height": 224, "width": 224}
    ).save_pretrained(folder)


def image_text(folder: Path, **options: Any) -> tuple[Any, Callable[[Any], Any]]:
    from screentest.models.backends.image_text import DualEncoder

    made = DualEncoder(model=str(folder), device="cuda", **options)
    return made, made.embed_images


def image_features(folder: Path, **options: Any) -> tuple[Any, Callable[[Any], Any]]:
    from screentest.models.backends.image_features import VisionTower

    made = VisionTower(model=str(folder), device="cuda", **options)
    return made, made.features


def peaks_tflops(torch: Any) -> tuple[float, float]:
    """What the card does on large matrices in bf16: at its quickest, and when it is hot."""
    size, times = 8192, 10
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))

    def multiply() -> None:
        for _ in range(times):
            torch.mm(a, b)
        torch.cuda.synchronize()

    multiply()
    goes = [median_of(1, multiply) for _ in range(200)]
    work = 2 * size**3 * times / 1e12
    return work / min(goes), work / statistics.median(goes[100:])


def median_of(times: int, work: Callable[[], object]) -> float:
    elapsed = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        elapsed.append(time.perf_counter() - began)
    return statistics.median(elapsed)


def decoder() -> tuple[str, Callable[[Path], Iterator[Any]]]:
    """Who decodes here: PyAV, which screentest uses, or else OpenCV."""
    try:
        import av
    except ModuleNotFoundError:
        return "OpenCV", _by_opencv

    def by_pyav(film: Path) -> Iterator[Any]:
        with av.open(str(film)) as container:
            for frame in container.decode(video=0):
                yield frame.to_ndarray(format="rgb24")

    return "PyAV", by_pyav


def _by_opencv(film: Path) -> Iterator[Any]:
    import cv2

    cv2.setNumThreads(1)
    reader = cv2.VideoCapture(str(film), cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1])
    while True:
        there, frame = reader.read()
        if not there:
            return
        yield cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)


def films_to_vectors(embed: Callable[[Any], Any], pieces: int, together: int) -> float:
    """Frames per second; a bounded queue is all that lies between decoders and the card."""
    films = sorted(SAMPLE.glob("*.mp4"))
    _, decode = decoder()
    frames: Queue[list[Any]] = Queue(maxsize=4)
    over = threading.Event()

    def offer(piece: list[Any]) -> None:
        while not over.is_set():
            with suppress(Full):
                frames.put(piece, timeout=0.1)
                return

    def work(first: int) -> None:
        held: dict[tuple[int, ...], list[Any]] = {}
        for film in cycle(films[first:] + films[:first]):
            for frame in decode(film):
                if over.is_set():
                    return
                pile = held.setdefault(frame.shape, [])
                pile.append(frame)
                if len(pile) == together:
                    offer(held.pop(frame.shape))

    with ThreadPoolExecutor(DECODERS) as pool:
        for number in range(DECODERS):
            pool.submit(work, number % len(films))
        embed(frames.get())
        began, seen = time.perf_counter(), 0
        for _ in range(pieces):
            piece = frames.get()
            embed(piece)
            seen += len(piece)
        elapsed = time.perf_counter() - began
        over.set()
    return seen / elapsed


def decode_alone(threads: int) -> float:
    """Frames per second that so many threads decode."""
    films = sorted(SAMPLE.glob("*.mp4"))
    _, decode = decoder()
    until = time.perf_counter() + SECONDS / 2

    def work(number: int) -> int:
        count = 0
        for film in cycle(films[number % len(films) :] + films[: number % len(films)]):
            for _ in decode(film):
                count += 1
                if time.perf_counter() > until:
                    return count
        return count

    with ThreadPoolExecutor(threads) as pool:
        began = time.perf_counter()
        return sum(pool.map(work, range(threads))) / (time.perf_counter() - began)


def measure(
    torch: Any, name: str, load: Any, folder: Path, images: Any, peaks: Any
) -> list[tuple[str | float, ...]]:
    from torch.utils.flop_counter import FlopCounterMode

    backend, embed = load(folder)
    pixels = 336 if "CLIP" in name else 224
    inputs = torch.randn(256, 3, pixels, pixels, device="cuda", dtype=torch.bfloat16)
    network = getattr(backend._model, "get_image_features", backend._model)
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        network(pixel_values=inputs)
    work = counter.get_total_flops() / 256
    print(f"{name}: {work / 1e9:.0f} GFLOP a picture, batch {backend._stream.batch}")

    rows: list[tuple[str | float, ...]] = []

    def report(what: str, rate: float) -> None:
        done = rate * work / 1e12
        rows.append((name, what, rate, done / peaks[0], done / peaks[1]))
        print(rows[-1], flush=True)

    def alone() -> None:
        with torch.inference_mode():
            for _ in range(4):
                network(pixel_values=inputs)
        torch.cuda.synchronize()

    alone()
    report("network alone", 1024 / median_of(3, alone))
    embed(images[:512])
    report("arrays to vectors", len(images) / median_of(3, lambda: embed(images)))
    del backend, embed, network
    torch.cuda.empty_cache()
    backend, embed = load(folder, compile=True)
    network = getattr(backend._model, "get_image_features", backend._model)
    began = time.perf_counter()
    embed(images[:256])
    embed(images[:200])  # another size of batch, so that sizes are left open from now on
    print(f"  compiling the layers took {time.perf_counter() - began:.1f} s")
    alone()
    report("network alone, layers compiled", 1024 / median_of(3, alone))
    report("arrays to vectors, layers compiled", len(images) / median_of(3, lambda: embed(images)))
    for together in (512, 2048):
        rate = films_to_vectors(embed, max(2, 6144 // together), together)
        report(f"films to vectors, {together} frames a call", rate)
    return rows


def main() -> None:
    try:
        import torch
    except ModuleNotFoundError:
        print("torch is not installed: nothing measured (pip install 'screentest[models]')")
        return
    if not torch.cuda.is_available():
        print("no GPU here: nothing measured")
        return
    noise = np.random.default_rng(7).integers(0, 256, (64, SIDE, SIDE, 3), dtype=np.uint8)
    images = [np.roll(one, shift, 0) for shift in range(IMAGES // 64) for one in noise]
    peaks = peaks_tflops(torch)
    print(torch.cuda.get_device_name())
    print(
        f"matrix product in bf16: {peaks[0]:.0f} TFLOP/s at its quickest, {peaks[1]:.0f} when hot"
    )
    print("shares below: of the first, of the second")
    one, all_ = decode_alone(1), decode_alone(DECODERS)
    print(f"decoding alone ({decoder()[0]}, films of up to 640 × 360): ", end="")
    print(f"{one:,.0f} frames/s on one thread, {all_:,.0f} on {DECODERS}")
    towers = (
        ("CLIP-L/14-336, role image_text", image_text, clip_large),
        ("DINOv2-L/14-224, role image_features", image_features, dinov2_large),
    )
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for name, load, make in towers:
            folder = Path(place) / make.__name__
            make(folder)
            rows += measure(torch, name, load, folder, images, peaks)
    columns = {"tower": "", "way": "", "frames/s": "{:,.0f}"}
    columns |= {f"of {peaks[0]:.0f} TFLOP/s, at its quickest": "{:.2f}"}
    columns |= {f"of {peaks[1]:.0f} TFLOP/s, when hot": "{:.2f}"}
    publish("gpu", "python bench/gpu.py", {"towers": Table(columns, rows)})


if __name__ == "__main__":
    main()
