"""`python -m tests.models.chat.serve_tiny FOLDER PORT`: transformers' own server, for one test."""

from __future__ import annotations

import io
import sys
from typing import Any

from tests.models.torchvision_here import make_importable


def decode_with_pillow(data: Any, mode: Any = None, **_: Any) -> Any:
    """What torchvision's compiled decoder does, where that does not load."""
    import numpy as np
    import torch
    from PIL import Image

    with Image.open(io.BytesIO(data.numpy().tobytes())) as image:
        return torch.from_numpy(np.array(image.convert("RGB"))).permute(2, 0, 1)


def main() -> None:
    make_importable()
    import torch
    import torchvision

    try:
        torchvision.io.decode_image(torch.zeros(4, dtype=torch.uint8))
    except RuntimeError as error:
        if "image extension" in str(error):
            torchvision.io.decode_image = decode_with_pillow
    from transformers.cli.transformers import main as transformers

    folder, port = sys.argv[1:]
    sys.argv = ["transformers", "serve", folder, "--port", port, "--host", "127.0.0.1"]
    sys.argv += ["--device", "cpu"]
    transformers()


if __name__ == "__main__":
    main()
