"""torchvision beside a CPU build of torch.

The package index has torchvision only as a CUDA build; its compiled operators do not load here,
and then its import raises. The two operators it insists on are defined in Python before that, so
that its transforms and networks, and all of transformers that needs them, work in the tests.
Where torchvision imports as it is, nothing is done.
"""

from __future__ import annotations

from typing import Any


def make_importable() -> None:
    """Call before anything imports torchvision."""
    import torch

    try:
        import torchvision
    except RuntimeError:
        library = torch.library.Library("torchvision", "FRAGMENT")
        library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        library.impl("nms", _suppress, "CPU")
        _kept.append(library)  # operators live as long as the library that defines them
        import torchvision  # noqa: F401


_kept: list[Any] = []


def _suppress(boxes: Any, scores: Any, threshold: float) -> Any:
    """Keep the best box, drop those that overlap it too much, go on with the rest."""
    import torch

    order = scores.argsort(descending=True)
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    kept = []
    while order.numel():
        best, order = order[0], order[1:]
        kept.append(int(best))
        corner = torch.maximum(boxes[best, :2], boxes[order, :2])
        far = torch.minimum(boxes[best, 2:], boxes[order, 2:])
        shared = (far - corner).clamp(min=0).prod(-1)
        overlap = shared / (areas[best] + areas[order] - shared)
        order = order[overlap <= threshold]
    return torch.tensor(kept, dtype=torch.long)
