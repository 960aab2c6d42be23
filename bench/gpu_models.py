"""Networks of real size with random weights on a GPU, each through the backend that metrics use.

RAFT-large, Grounding DINO, SigLIP 2 and a vision-language model of seven billion weights: what
they do a second, how much memory they take, and how much of the card they use. The reference is
measured in the same run: the card's own matrix product in bf16, and its own copy of memory.
Without a GPU it says so.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tests.models.tiny import tokenizer

from _figures import Table, publish
from gpu import median_of, peaks_tflops

WORDS = 64
"""Tokens that the vision-language model writes."""
QUESTION = "Does the dog stay the same in all these pictures ? " * 4
WIDE, HIGH = 640, 360
COLUMNS = {"model": "", "work": "", "a second": "{:,.1f}", "GB": "{:,.0f}"}


def pictures(count: int, high: int = HIGH, wide: int = WIDE) -> list[Any]:
    noise = np.random.default_rng(7).integers(0, 256, (high, wide, 3), dtype=np.uint8)
    return [np.roll(noise, shift, 1) for shift in range(count)]


def copy_terabytes(torch: Any) -> float:
    """What the card's memory moves a second, read and written."""
    one, other = (torch.empty(1 << 32, dtype=torch.uint8, device="cuda") for _ in range(2))

    def copy() -> None:
        other.copy_(one)
        torch.cuda.synchronize()

    copy()
    return 2 * one.numel() / median_of(10, copy) / 1e12


def counted(torch: Any, work: Callable[[], Any]) -> float:
    """The floating-point operations of a call, as torch counts them."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        work()
    return float(counter.get_total_flops())


def build(torch: Any, network: Callable[[], Any], folder: Path) -> None:
    """Save random weights; made on the card, where that takes seconds."""
    torch.manual_seed(7)
    with torch.device("cuda"):
        made = network()
    made.to(torch.bfloat16).save_pretrained(folder)
    del made
    torch.cuda.empty_cache()


def siglip(torch: Any, folder: Path) -> Any:
    from transformers import SiglipConfig, SiglipImageProcessor, SiglipModel, SiglipProcessor

    from screentest.models.backends.image_text import DualEncoder

    words = tokenizer()
    tower = {"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27}
    tower |= {"num_attention_heads": 16}
    text = tower | {"vocab_size": 256_000, "max_position_embeddings": 64}
    config = SiglipConfig(
        text_config=text, vision_config=tower | {"image_size": 384, "patch_size": 14}
    )
    build(torch, lambda: SiglipModel(config), folder)
    sized = SiglipImageProcessor(size={"height": 384, "width": 384})
    SiglipProcessor(sized, words).save_pretrained(folder)
    return DualEncoder(model=str(folder), device="cuda", compile=True)


def grounding_dino(torch: Any, folder: Path) -> Callable[[int], Any]:
    from transformers import (
        BertConfig,
        GroundingDinoConfig,
        GroundingDinoForObjectDetection,
        GroundingDinoImageProcessor,
        GroundingDinoProcessor,
        SwinConfig,
    )

    from screentest.models.backends.detection import GroundingDino

    words = tokenizer(cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]")
    backbone = SwinConfig(
        embed_dim=128,
        depths=[2, 2, 18, 2],
        num_heads=[4, 8, 16, 32],
        window_size=12,
        image_size=384,
        out_indices=[2, 3, 4],
    )
    config = GroundingDinoConfig(backbone_config=backbone, text_config=BertConfig())
    build(torch, lambda: GroundingDinoForObjectDetection(config), folder)
    sized = GroundingDinoImageProcessor(size={"shortest_edge": 800, "longest_edge": 1333})
    GroundingDinoProcessor(sized, words).save_pretrained(folder)
    return lambda batch: GroundingDino(model=str(folder), device="cuda", batch=batch)


def raft(torch: Any, folder: Path) -> Callable[[int], Any]:
    from safetensors.torch import save_file
    from torchvision.models.optical_flow import raft_large

    from screentest.models.backends.flow import Raft

    torch.manual_seed(7)
    folder.mkdir()
    place = folder / "raft.safetensors"
    save_file(raft_large(weights=None).state_dict(), place)
    return lambda batch: Raft(model=str(place), device="cuda", batch=batch)


def vision_language(torch: Any, folder: Path) -> Callable[[int], Any]:
    """Qwen2.5-VL in the sizes of its seven-billion release."""
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2_5_VLProcessor,
        Qwen2VLImageProcessor,
        Qwen2VLVideoProcessor,
    )

    from screentest.models.chat.hf import hf

    marks = "<|image_pad|> <|video_pad|> <|vision_start|> <|vision_end|>"
    words = tokenizer(extra=marks)
    words.model_max_length = 32_768
    template = (
        "{% for m in messages %}{{ m.role }} : {% for p in m.content %}"
        "{% if p.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
        "{% else %}{{ p.text }} {% endif %}{% endfor %} . {% endfor %}a :"
    )
    places = words.convert_tokens_to_ids(marks.split())
    names = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id")
    text = {"hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28}
    text |= {"num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152_064}
    turns = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [16, 24, 24]}
    vision = {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16}
    vision |= {"out_hidden_size": 3584, "patch_size": 14, "window_size": 112}
    config = Qwen2_5_VLConfig(
        text_config=text | {"rope_parameters": turns},
        vision_config=vision | {"fullatt_block_indexes": [7, 15, 23, 31]},
        **dict(zip(names, places, strict=True)),
    )

    def network() -> Any:
        torch.set_default_dtype(torch.bfloat16)
        made = Qwen2_5_VLForConditionalGeneration(config)
        torch.set_default_dtype(torch.float32)
        made.generation_config.eos_token_id = 152_000
        made.generation_config.pad_token_id = 0
        return made

    build(torch, network, folder)
    sized = Qwen2VLImageProcessor(size={"shortest_edge": 56 * 56, "longest_edge": 448 * 448})
    Qwen2_5_VLProcessor(
        sized, words, Qwen2VLVideoProcessor(), chat_template=template
    ).save_pretrained(folder)
    return lambda batch: hf(model=str(folder), device="cuda", batch=batch)


Row = tuple[str, str, float, float, float | None, float | None]
Measured = Iterator[Row]


class Card:
    """What the card does at its best, and rows that say how much of it is used."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.tflops, self.hot = peaks_tflops(torch)
        self.terabytes = copy_terabytes(torch)
        torch.cuda.empty_cache()
        print(f"{torch.cuda.get_device_name()}: {self.tflops:.0f} TFLOP/s in bf16 at its quickest,")
        print(f"{self.hot:.0f} when hot; copies move {self.terabytes:.2f} TB/s", flush=True)

    def row(
        self, model: str, work: str, things: int, run: Callable[[], Any], *, flops: float = 0.0
    ) -> Row:
        self.torch.cuda.reset_peak_memory_stats()
        run()
        self.torch.cuda.synchronize()

        def timed() -> None:
            run()
            self.torch.cuda.synchronize()

        seconds = median_of(2, timed)
        memory = self.torch.cuda.max_memory_allocated() / 1e9
        share = flops / seconds / 1e12 / self.tflops if flops else None
        row = (model, work, things / seconds, memory, share, None)
        print(row, flush=True)
        return row


def of_siglip(card: Card, folder: Path) -> Measured:
    made = siglip(card.torch, folder)
    shown = pictures(1024)
    made.embed_images(shown[:256])
    one = card.torch.randn(64, 3, 384, 384, device="cuda", dtype=card.torch.bfloat16)
    with card.torch.inference_mode():
        plain = counted(card.torch, lambda: made._model.get_image_features(pixel_values=one)) / 64
    name = f"SigLIP 2 so400m, 384 px ({plain / 1e9:.0f} GFLOP a picture), role `image_text`"
    work = "pictures, layers compiled"
    yield card.row(name, work, 1024, lambda: made.embed_images(shown), flops=1024 * plain)


def of_raft(card: Card, folder: Path) -> Measured:
    loaded = raft(card.torch, folder)
    shown = pictures(65)
    pairs = list(itertools.pairwise(shown))
    for batch in (4, 16):
        made = loaded(batch)
        flops = counted(card.torch, lambda made=made: made.flow(pairs[:4])) / 4
        name = f"RAFT-large, 20 updates ({flops / 1e9:,.0f} GFLOP a pair), role `flow`"
        work = f"pairs of {WIDE} × {HIGH}, batch {batch}, single precision"
        yield card.row(
            name, work, len(pairs), lambda made=made: made.flow(pairs), flops=len(pairs) * flops
        )
        del made
        card.torch.cuda.empty_cache()


def of_grounding_dino(card: Card, folder: Path) -> Measured:
    loaded = grounding_dino(card.torch, folder)
    shown = pictures(64)
    for batch in (8, 32):
        made = loaded(batch)
        flops = counted(card.torch, lambda made=made: made.detect_all(shown[:8], ["a dog"])) / 8
        name = f"Grounding DINO base ({flops / 1e9:,.0f} GFLOP a picture), role `detection`"
        work = f"pictures, one phrase, batch {batch}, single precision"
        yield card.row(
            name,
            work,
            len(shown),
            lambda made=made: made.detect_all(shown, ["a dog"]),
            flops=len(shown) * flops,
        )
        del made
        card.torch.cuda.empty_cache()


def of_vision_language(card: Card, folder: Path) -> Measured:
    import cv2

    from screentest.models.chat.messages import ChatRequest, Picture, Sampling, Text

    parts: list[Any] = []
    for image in pictures(8, 448, 448):
        encoded = cv2.imencode(".jpg", image)[1].tobytes()
        parts.append(Picture(encoded, "image/jpeg", 448, 448))
    made = vision_language(card.torch, folder)(32)
    sampling = Sampling(max_tokens=WORDS, min_tokens=WORDS)
    asked: Sequence[Any] = [
        ChatRequest((*parts, Text(f"{QUESTION} {n}")), sampling=sampling) for n in range(32)
    ]
    weights = sum(each.numel() for each in made._model.parameters())
    read = made._generate(asked[:1])[0].usage.input_tokens
    for batch in (1, 8, 32):
        made._batch = batch
        some = asked[: max(2, batch)]
        name = f"Qwen2.5-VL, {weights / 1e9:.1f} billion weights, role `chat` by `hf`"
        work = f"questions on 8 pictures ({read:,} tokens in, {WORDS} out), batch {batch}"
        flops = len(some) * 2 * weights * (read + WORDS)
        row = card.row(name, work, len(some), lambda some=some: made.ask(some), flops=flops)
        # Each step of writing reads all weights once: what of the memory's speed that is.
        calls = row[2] / batch
        yield (*row[:-1], 2 * weights * WORDS * calls / 1e12 / card.terabytes)


def main() -> None:
    try:
        import torch
    except ModuleNotFoundError:
        print("torch is not installed: nothing measured (pip install 'screentest[models]')")
        return
    if not torch.cuda.is_available():
        print("no GPU here: nothing measured")
        return
    card = Card(torch)
    rows: list[Row] = []
    columns = COLUMNS | {f"of {card.tflops:.0f} TFLOP/s in bf16": "{:.2f}"}
    columns |= {f"of {card.terabytes:.1f} TB/s, by weights alone": "{:.2f}"}
    with tempfile.TemporaryDirectory() as place:
        for measure in (of_raft, of_grounding_dino, of_siglip, of_vision_language):
            rows += measure(card, Path(place) / measure.__name__)
            publish("gpu_models", "python bench/gpu_models.py", {"models": Table(columns, rows)})


if __name__ == "__main__":
    main()
