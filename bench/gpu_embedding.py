"""Pictures per second through image-text models of real size with random weights, on a GPU.

The reference is the card's own bf16 peak, measured in the same run by multiplying matrices: the
share of it says how well the card is used, whatever card it is. Without a GPU it says so.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from _figures import best_of, figure, ratio

SIDE, IMAGES = 448, 1024


def clip_large(folder: Path) -> None:
    """CLIP ViT-L/14 at 336 pixels."""
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel

    vision = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24}
    vision |= {"num_attention_heads": 16, "image_size": 336, "patch_size": 14}
    config = CLIPConfig(vision_config=vision, text_config={"num_hidden_layers": 1})
    CLIPModel(config).save_pretrained(folder)
    CLIPImageProcessor(
        size={"shortest_edge": 336}, crop_size={"height": 336, "width": 336}
    ).save_pretrained(folder)


def siglip_so400m(folder: Path) -> None:
    """The tower of SigLIP and SigLIP 2 so400m, patch 14 at 384 pixels."""
    from transformers import SiglipConfig, SiglipImageProcessor, SiglipModel

    vision = {"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27}
    vision |= {"num_attention_heads": 16, "image_size": 384, "patch_size": 14}
    text = {"hidden_size": 1152, "num_hidden_layers": 1, "intermediate_size": 4304}
    text |= {"num_attention_heads": 16}
    SiglipModel(SiglipConfig(vision_config=vision, text_config=text)).save_pretrained(folder)
    SiglipImageProcessor(size={"height": 384, "width": 384}).save_pretrained(folder)


def peak_tflops(torch: Any) -> float:
    """What the card does on large matrices in bf16."""
    size, times = 8192, 20
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))

    def multiply() -> None:
        for _ in range(times):
            torch.mm(a, b)
        torch.cuda.synchronize()

    multiply()
    return 2 * size**3 * times / best_of(5, multiply) / 1e12


def measure(torch: Any, name: str, folder: Path, images: list[Any], peak: float) -> None:
    from torch.utils.flop_counter import FlopCounterMode

    from screentest.models.image_features.hf import VisionTower
    from screentest.models.pretrained import Origin, Place, pixel_inputs

    place = Place.choose("cuda")
    best = 0.0
    for batch in (64, 128, 256):
        backend = VisionTower(Origin(str(folder)), place, batch)
        backend.features(images[:batch])
        seconds = best_of(3, lambda one=backend: one.features(images))
        best = max(best, len(images) / seconds)
    inputs = pixel_inputs(backend._processor, images[:256], place)
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        backend._pooled(inputs)
    per_image = counter.get_total_flops() / 256

    def forward_only() -> None:
        with torch.inference_mode():
            backend._pooled(inputs)
        torch.cuda.synchronize()

    forward_only()
    bare = 256 / best_of(5, forward_only)
    figure(f"{name}: work per picture", per_image / 1e9, "GFLOP")
    figure(f"{name}: arrays to vectors", best, "images/s")
    figure(f"{name}: network alone, batch 256", bare, "images/s")
    ratio(f"{name}: share of the measured bf16 peak", best * per_image / 1e12 / peak, "above 0.3")
    ratio(f"{name}: network alone, share of peak", bare * per_image / 1e12 / peak, "above 0.3")


def main() -> None:
    try:
        import torch
    except ModuleNotFoundError:
        print("torch is not installed: nothing measured (pip install 'screentest[models]')")
        return
    if not torch.cuda.is_available():
        print("no GPU here: nothing measured")
        return
    images = list(
        np.random.default_rng(7).integers(0, 256, (IMAGES, SIDE, SIDE, 3), dtype=np.uint8)
    )
    peak = peak_tflops(torch)
    print(torch.cuda.get_device_name())
    figure("matrix product in bf16", peak, "TFLOP/s")
    with tempfile.TemporaryDirectory() as place:
        for name, make in (("CLIP-L/14-336", clip_large), ("SigLIP-so400m-384", siglip_so400m)):
            folder = Path(place) / make.__name__
            make(folder)
            measure(torch, name, folder, images, peak)


if __name__ == "__main__":
    main()
