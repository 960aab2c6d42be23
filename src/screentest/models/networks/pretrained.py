"""Loading by transformers and diffusers: from a folder or a hub id, safely, on the right device.

Only safetensors are read, code that comes with weights runs only when the user says so, and a
model that is not available is a typed reason with the command that fixes it.

``optimize_model`` makes a vision tower that is built the usual way faster on a GPU. The first two
steps change nothing but rounding and cost nothing. Compiling the layers takes some ten seconds at
the start and rounds differently, so it is an option, and part of the identity. ``PictureBatches``
takes pictures over batch by batch, so that the GPU never waits for the next.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from screentest._util.optional import install_line, optional, unusable
from screentest.core import Image, NoValue, Reason
from screentest.models.networks.runtimes import batches
from screentest.models.pictures import check_picture, writable
from screentest.models.roles import Vectors

NEUTRAL = ("model", "revision", "trust_remote_code", "allow_pickle", "device", "batch", "compile")
"""Options that say how to get and run a model; which one it was stands in its identity."""

_CARD = "README.md"
_BLOCK = 1 << 20
_SAMPLED_BLOCKS = 64
_THAT_COUNT = {".safetensors", ".json", ".txt", ".model", ".jinja", ".py"}
"""A preprocessor's settings or a chat template change the numbers as much as the weights do."""


TRANSFORMERS = ("torch", "transformers")
DIFFUSERS = (*TRANSFORMERS, "diffusers")


def check_cached(model: str, revision: str = "") -> None:
    """Raise NoValue where a model of a hub cannot be loaded without a download."""
    if not Origin(model, revision).is_here:
        pinned = f" --revision {revision}" if revision else ""
        raise NoValue(
            Reason.MISSING_MODEL,
            f"{model} is not in the hub's cache",
            advice=f"hf download {model}{pinned}",
        )


@dataclass(frozen=True, slots=True)
class ModelDevice:
    """The device of a model, and its precision."""

    device: str
    dtype: Any

    @classmethod
    def choose(cls, device: str = "auto") -> ModelDevice:
        """Return a GPU where there is one, in half precision; else the CPU in single precision."""
        torch = optional("torch")
        if device == "auto":
            device = "cpu"
            if torch.cuda.is_available():
                device = "cuda"
            elif torch.backends.mps.is_available():
                device = "mps"
        if device.startswith("cuda"):
            half = torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
            return cls(device, half)
        return cls(device, torch.float32)


@dataclass(frozen=True, slots=True)
class Origin:
    """A folder or hub id, with the revision that pins it and what it may do."""

    model: str
    revision: str = ""
    trust_remote_code: bool = False

    @property
    def folder(self) -> Path | None:
        place = Path(self.model).expanduser()
        return place if place.is_dir() else None

    @property
    def is_here(self) -> bool:
        """Tell whether it is a folder, or its weights are in the hub's cache."""
        if self.folder is not None:
            return True
        hub = optional("huggingface_hub")
        try:
            snapshot = hub.snapshot_download(
                self.model, revision=self.revision or None, local_files_only=True
            )
        except (OSError, ValueError):  # not there, or no name that a hub would have
            return False
        return any(Path(snapshot).rglob("*.safetensors"))

    @property
    def card(self) -> str:
        """The words of its makers: README.md beside the weights; empty where there is none."""
        place = self.folder / _CARD if self.folder is not None else None
        if place is None:
            hub = optional("huggingface_hub")
            here = bool(os.environ.get("SCREENTEST_OFFLINE"))
            with suppress(OSError, ValueError):  # not there, or nothing that a hub would have
                place = Path(
                    hub.hf_hub_download(
                        self.model, _CARD, revision=self.revision or None, local_files_only=here
                    )
                )
        if place is None or not place.is_file():
            return ""
        return place.read_text(encoding="utf-8", errors="replace")

    @property
    def name(self) -> str:
        return str(self.folder or self.model)

    def load(self, loader: Callable[..., Any], *, weights: bool = True, **options: Any) -> Any:
        """Call an ordinary ``from_pretrained``; NoValue where it is not available."""
        if not self.model:
            raise NoValue(
                Reason.MISSING_MODEL,
                "no model is named",
                advice="Name a folder or hub id: --model ROLE=hf:MODEL",
            )
        if self.revision and self.folder is None:
            options["revision"] = self.revision
        if self.trust_remote_code:
            options["trust_remote_code"] = True
        if weights:
            options["use_safetensors"] = True
        if os.environ.get("SCREENTEST_OFFLINE"):
            options["local_files_only"] = True
        optional("transformers.utils.logging").disable_progress_bar()
        try:
            return loader(self.name, **options)
        except (OSError, ValueError, KeyError) as error:
            # The loaders raise these for everything from a wrong name to a missing file.
            raise self._missing(error) from error
        except ImportError as error:
            raise unusable("transformers", error) from error

    def _missing(self, error: Exception) -> NoValue:
        message = " ".join(str(error).split())
        if "trust_remote_code" in message:
            advice = "It brings code of its own: add trust_remote_code=true if you trust it."
        elif "safetensors" in message:
            advice = "Only safetensors are read: convert the weights, or take another revision."
        elif isinstance(error, ImportError):
            advice = f"Install what it needs: {install_line(TRANSFORMERS)}"
        else:
            advice = "Check the name, or download it first and give the folder."
        return NoValue(
            Reason.MISSING_MODEL, f"cannot load {self.model}: {message[:300]}", advice=advice
        )

    def identity(self, loaded: Any, place: ModelDevice) -> dict[str, str]:
        """Return the parts of a signature: weights, libraries, precision."""
        commit = getattr(getattr(loaded, "config", None), "_commit_hash", None)
        weights = fingerprint(self.folder) if self.folder else (commit or self.revision or "?")
        return {
            # The name alone: where the folder lies on this machine changes no number.
            "model": self.folder.name if self.folder else self.model,
            **torch_identity(weights[:16], place),
            "transformers": str(optional("transformers").__version__),
            "precision": str(place.dtype).removeprefix("torch."),
        }


def torch_identity(weights: str, place: ModelDevice) -> dict[str, str]:
    """Return the parts of a signature that every network of torch has."""
    return {
        "weights": weights,
        "torch": str(optional("torch").__version__),
        # The kernels of a GPU round differently from those of a CPU.
        "on": place.device.split(":")[0],
    }


def load_network(
    origin: Origin, place: ModelDevice, kind: Any, reader: str = "AutoProcessor"
) -> tuple[Any, Any, dict[str, str]]:
    """Return a network on its device, its processor, and its identity.

    ``kind`` and ``reader`` are classes of transformers by their names; ``kind`` may be a class.
    """
    network_class = optional("transformers", kind) if isinstance(kind, str) else kind
    read = optional("transformers", reader).from_pretrained
    network = origin.load(network_class.from_pretrained, dtype=place.dtype)
    network.to(place.device).eval()
    processor = origin.load(read, weights=False)
    return network, processor, origin.identity(network, place)


def load_pipeline(kind: str, origin: Origin, place: ModelDevice) -> tuple[Any, dict[str, str]]:
    """Return a pipeline of diffusers on its device, and its identity."""
    loader = optional("diffusers", kind).from_pretrained
    pipeline = origin.load(loader, dtype=place.dtype).to(place.device)
    pipeline.set_progress_bar_config(disable=True)
    version = str(optional("diffusers").__version__)
    identity = origin.identity(pipeline, place) | {"diffusers": version}
    return pipeline, identity


def pixel_inputs(processor: Any, images: Sequence[Image], place: ModelDevice) -> dict[str, Any]:
    """Pictures as a model takes them; resized and normalised on the GPU where there is one."""
    where = {"device": place.device} if place.device.startswith("cuda") else {}
    checked = [check_picture(image) for image in images]
    # Said, not guessed: a picture three pixels high looks like one with channels first.
    if where and _takes_tensors(processor) and len({image.shape for image in checked}) == 1:
        pictures: Any = _copied(checked, place)
        layout = {"input_data_format": "channels_first"}
    else:
        pictures = [writable(image) for image in checked]
        layout = {"input_data_format": "channels_last"}
    inputs = processor(images=pictures, return_tensors="pt", **layout, **where)
    moved = {key: value.to(place.device, non_blocking=True) for key, value in inputs.items()}
    moved["pixel_values"] = moved["pixel_values"].to(place.dtype)
    return moved


def _takes_tensors(processor: Any) -> bool:
    """Tell whether pictures that are on the device already are worked on there."""
    inner = getattr(processor, "image_processor", processor)
    return any(
        base.__name__ in ("BaseImageProcessorFast", "TorchvisionBackend")
        for base in type(inner).__mro__
    )


def _copied(images: Sequence[Image], place: ModelDevice) -> Any:
    """Pictures of one size on the device, channels first: one copy, which nobody waits for."""
    torch = optional("torch")
    together = torch.empty((len(images), *images[0].shape), dtype=torch.uint8, pin_memory=True)
    array = together.numpy()
    for number, image in enumerate(images):
        array[number] = image
    return together.to(place.device, non_blocking=True).permute(0, 3, 1, 2)


def fingerprint(folder: Path) -> str:
    """Return a hash over all files of a model: weights, configuration, tokenizer, templates.

    Files of up to 64 MiB are read whole; of larger ones 64 blocks spread over them, since
    hashing tens of gigabytes at each start would cost minutes.
    """
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in _THAT_COUNT):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder).as_posix()}:{size}:".encode())
        with path.open("rb") as file:
            if size <= _SAMPLED_BLOCKS * _BLOCK:
                digest.update(file.read())
                continue
            for number in range(_SAMPLED_BLOCKS):
                file.seek((size - _BLOCK) * number // (_SAMPLED_BLOCKS - 1))
                digest.update(file.read(_BLOCK))
    return digest.hexdigest()


def read_tensors(path: str, *, allow_pickle: bool, device: str = "cpu") -> dict[str, Any]:
    """Return a state dict from a file of the user's: safetensors, or a pickle if that was allowed.

    Even then the pickle is read by torch's restricted reader, which builds tensors only.
    """
    place = Path(path).expanduser()
    if not place.is_file():
        raise NoValue(
            Reason.MISSING_MODEL, f"no weights at {path}", advice="Give the path of a weights file."
        )
    if place.suffix != ".safetensors" and not allow_pickle:
        raise NoValue(
            Reason.MISSING_MODEL,
            f"{place.name} is a pickle, which can run code when it is read",
            advice="Convert it to safetensors, or add allow_pickle=true if you trust it.",
        )
    torch = optional("torch")
    safetensors = optional("safetensors.torch")
    try:
        if place.suffix == ".safetensors":
            loaded = safetensors.load_file(place, device=device)
        else:
            loaded = torch.load(place, map_location=device, weights_only=True)
        state: dict[str, Any] = loaded.get("state_dict", loaded)
    except Exception as error:  # on a damaged file the readers raise anything
        message = " ".join(str(error).split()) or type(error).__name__
        raise NoValue(
            Reason.MISSING_MODEL,
            f"{place} holds no tensors that can be read: {message[:300]}",
            advice="Download the file again, or take another.",
        ) from error
    return state


_FEWEST_LAYERS: Final = 2


def optimize_model(model: Any, place: ModelDevice, *, compiled: bool = False) -> dict[str, str]:
    """Make the model quicker in place; what that adds to its identity."""
    if not place.device.startswith("cuda"):
        return {}
    for module in list(model.modules()):
        _multiply_patches(module)
        _remember_positions(module)
    if not compiled:
        return {}
    for layer in _layers(model):
        layer.compile()  # one program serves all layers, since they are alike
    return {"layers": "compiled"}


def _multiply_patches(module: Any) -> None:
    """Patches that do not overlap are one matrix product; as a convolution they take longer."""
    torch = optional("torch")
    for child in module.children():
        if (
            type(child) is torch.nn.Conv2d
            and child.kernel_size == child.stride
            and child.padding in ((0, 0), "valid")
            and child.dilation == (1, 1)
            and child.groups == 1
        ):
            # In place of its forward and not of itself: the model asks for its weight's type.
            child.forward = _patches(torch, child)


def _patches(torch: Any, convolution: Any) -> Callable[[Any], Any]:
    high, wide = convolution.kernel_size

    def forward(pictures: Any) -> Any:
        count, channels, height, width = pictures.shape
        rows, columns = height // high, width // wide
        cut = pictures[:, :, : rows * high, : columns * wide]
        cut = cut.reshape(count, channels, rows, high, columns, wide)
        flat = cut.permute(0, 2, 4, 1, 3, 5).reshape(count, rows * columns, -1)
        made = torch.nn.functional.linear(flat, convolution.weight.flatten(1), convolution.bias)
        return made.transpose(1, 2).unflatten(2, (rows, columns))

    return forward


def _remember_positions(module: Any) -> None:
    """Positions fitted to a size of picture are the same for every batch of that size."""
    fit = getattr(module, "interpolate_pos_encoding", None)
    if not callable(fit) or not hasattr(module, "position_embeddings"):
        return

    @lru_cache(maxsize=4)
    def fitted(places: int, channels: int, height: int, width: int) -> Any:
        return fit(module.position_embeddings.new_empty((1, places, channels)), height, width)

    def interpolate_pos_encoding(embeddings: Any, height: int, width: int) -> Any:
        _, places, channels = embeddings.shape
        return fitted(places, channels, height, width)

    module.interpolate_pos_encoding = interpolate_pos_encoding


def _layers(model: Any) -> list[Any]:
    """Return the layers of the vision part, or of all there is where it has no such part."""
    torch = optional("torch")
    part = getattr(model, "vision_model", model)
    stacks = [module for module in part.modules() if isinstance(module, torch.nn.ModuleList)]
    longest: list[Any] = list(max(stacks, key=len, default=()))
    return longest if len(longest) >= _FEWEST_LAYERS else []


AUTOMATIC: Final = 0
"""As a batch size: as many as the device does well with, and fewer where memory is short."""
_ON_GPU, _ON_CPU = 256, 32
_AHEAD: Final = 2  # batches that may lie on the device before their turn


class PictureBatches:
    """Takes pictures to where a model runs, and its rows back.

    While one batch is computed, the next is copied from pinned memory and resized on a stream of
    its own. On a CPU there is nothing to overlap: batches simply follow each other.
    """

    def __init__(self, processor: Any, place: ModelDevice, batch: int = AUTOMATIC) -> None:
        self._torch = optional("torch")
        self._processor = processor
        self._place = place
        self._cuda = place.device.startswith("cuda")
        self.batch = batch if batch != AUTOMATIC else (_ON_GPU if self._cuda else _ON_CPU)
        """Halved, for good, when a batch does not fit into the device's memory."""

    def rows(
        self, images: Sequence[Image], compute: Callable[[Mapping[str, Any]], Any]
    ) -> list[Any]:
        """Return the results of ``compute`` for each batch, on the device."""
        while True:
            try:
                return list(self._computed(images, compute))
            except self._torch.OutOfMemoryError:
                if self.batch == 1:
                    raise
            self.batch //= 2
            self._torch.cuda.empty_cache()

    def _computed(
        self, images: Sequence[Image], compute: Callable[[Mapping[str, Any]], Any]
    ) -> Iterator[Any]:
        torch = self._torch
        if not self._cuda:
            for piece in batches(images, self.batch):
                inputs = pixel_inputs(self._processor, piece, self._place)
                with torch.inference_mode():
                    yield compute(inputs)
            return
        with torch.cuda.device(self._place.device):
            beside, main = torch.cuda.Stream(), torch.cuda.current_stream()
            computed: deque[Any] = deque()
            for piece in batches(images, self.batch):
                if len(computed) == _AHEAD:
                    computed.popleft().synchronize()
                with torch.cuda.stream(beside):
                    inputs = pixel_inputs(self._processor, piece, self._place)
                main.wait_stream(beside)
                for value in inputs.values():
                    value.record_stream(main)  # its memory is not used anew before it is read
                with torch.inference_mode():
                    rows = compute(inputs)
                computed.append(main.record_event())
                yield rows


class PictureNetwork:
    """A network of transformers that looks at pictures in batches.

    ``model`` is a folder or hub id; ``compile`` pays on a GPU from some 50,000 pictures on.
    """

    _reader = "AutoProcessor"

    def __init__(
        self,
        *,
        model: str,
        revision: str = "",
        trust_remote_code: bool = False,
        device: str = "auto",
        batch: int = AUTOMATIC,
        compile: bool = False,
    ) -> None:
        self._torch = optional("torch")
        self._place = place = ModelDevice.choose(device)
        origin = Origin(model, revision, trust_remote_code)
        self._model, self._processor, identity = load_network(
            origin, place, "AutoModel", self._reader
        )
        self._stream = PictureBatches(self._processor, place, batch)
        self.identity = identity | optimize_model(self._model, place, compiled=compile)


def unit_rows(rows: Sequence[Any]) -> Vectors:
    """Return the rows of all batches as one array, each row of length one."""
    if not rows:
        return np.zeros((0, 0), np.float32)
    torch = optional("torch")
    unit = torch.nn.functional.normalize(torch.cat(rows).float(), dim=-1)
    return np.asarray(unit.cpu().numpy(), np.float32)
