"""Fit a text tower of our own to CLIP's pictures, for tests and figures: it is not CLIP's.

    python bench/text_tower.py FEATURES CAPTIONS --out DIR

FEATURES is an npz of ``names`` and of ``e``, the vectors of Flickr8k's pictures by the image tower
of CLIP ViT-B/16 (`clip_tower(clip_cut)`). CAPTIONS is the folder Flicker8k_text, with the lists of
pictures for training and for testing. The image tower stays as it is. A small network from
MiniLM's vectors of sentences into CLIP's space is fitted to the 6,000 pictures for training, with
CLIP's loss; how long, the 1,000 for development say. DIR gets both towers in the form of a hub, for
`--model image_text=onnx:DIR,longest=256`. Flickr8k is for research only: the tower is not shipped.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from _figures import Table, publish
from screentest.core import build
from screentest.models import weights
from screentest.models.backends.image_features import CLIP, without_rounding
from screentest.models.backends.text_embedding import (
    WEIGHTS,
    Graph,
    bert_graph,
    fields,
    message,
    read_safetensors,
)

Rows = NDArray[np.float32]
HIDDEN, BATCH, EPOCHS, SEED = 1024, 512, 6, 7


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("features", type=Path)
    options.add_argument("captions", type=Path)
    options.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    kept = np.load(given.features)
    place = {str(name): number for number, name in enumerate(kept["names"])}
    pictures = unit(kept["e"].astype(np.float32))
    texts, owners = [], []
    for line in (given.captions / "Flickr8k.token.txt").read_text("utf-8").splitlines():
        name, _, text = line.partition("\t")
        if (number := place.get(name.partition("#")[0])) is not None:
            texts.append(text)
            owners.append(number)
    cached = given.out / "sentences.npy"
    given.out.mkdir(parents=True, exist_ok=True)
    if not cached.exists():
        np.save(cached, build("text_embedding", "minilm").thing.embed_list(texts))
    sentences, owner = np.load(cached).astype(np.float32), np.array(owners)
    split = {
        part: np.isin(owner, [place[name] for name in listed if name in place])
        for part, listed in _lists(given.captions)
    }
    network = fit(sentences, pictures, owner, split)
    write(network, given.out)
    rows = []
    for part in ("dev", "test"):
        own = owner[split[part]]
        made = predicted(network, sentences[split[part]])
        chosen = np.unique(own)
        shuffled = np.random.default_rng(SEED).permutation(len(chosen))
        true = np.searchsorted(chosen, own)
        rows += [
            (
                f"{part}: captions find their picture",
                len(own),
                *found(made, pictures[chosen], true),
            ),
            (
                f"{part}: the same, pictures shuffled",
                len(own),
                *found(made, pictures[chosen], shuffled[true]),
            ),
        ]
        by_picture = [np.flatnonzero(true == number) for number in range(len(chosen))]
        rows.append(
            (
                f"{part}: pictures find a caption of theirs",
                len(chosen),
                *found_any(pictures[chosen], made, by_picture),
            )
        )
    columns = {"held-out pictures of Flickr8k": "", "asked": ""}
    columns |= dict.fromkeys(("recall at 1", "at 5", "at 10"), "{:.3f}")
    for row in rows:
        print(*row)
    publish("text_tower", "python bench/text_tower.py", {"recall": Table(columns, rows)})


def _lists(folder: Path) -> Iterator[tuple[str, list[str]]]:
    for part in ("train", "dev", "test"):
        yield part, (folder / f"Flickr_8k.{part}Images.txt").read_text("utf-8").split()


def unit(rows: Rows) -> Rows:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Network(nn.Module):
    """A line and a layer beside it."""

    def __init__(self, wide: int, narrow: int) -> None:
        super().__init__()
        self.line = nn.Linear(wide, narrow)
        self.inner = nn.Linear(wide, HIDDEN)
        self.outer = nn.Linear(HIDDEN, narrow, bias=False)
        self.scale = nn.Parameter(torch.tensor(20.0).log())

    def forward(self, rows: torch.Tensor, drop: float = 0.0) -> torch.Tensor:
        inner = nn.functional.dropout(torch.relu(self.inner(rows)), drop, self.training)
        return nn.functional.normalize(self.line(rows) + self.outer(inner), dim=1)


def fit(
    sentences: Rows, pictures: Rows, owner: NDArray[np.int64], split: dict[str, NDArray[np.bool_]]
) -> Network:
    """With CLIP's loss in batches of other pictures; the epoch that is best on dev."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    generator = np.random.default_rng(SEED)
    network = Network(sentences.shape[1], pictures.shape[1])
    steps = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=0.05)
    train = np.flatnonzero(split["train"])
    best, kept = 0.0, {}
    for epoch in range(EPOCHS):
        network.train()
        order = generator.permutation(train)
        for group in steps.param_groups:
            group["lr"] = 1e-3 * (1 - epoch / EPOCHS)
        for start in range(0, len(order) - BATCH + 1, BATCH):
            batch = order[start : start + BATCH]
            _, first = np.unique(owner[batch], return_index=True)  # each picture once
            batch = batch[first]
            made = network(torch.from_numpy(sentences[batch]), 0.3)
            shown = torch.from_numpy(pictures[owner[batch]])
            cosines = network.scale.exp() * made @ shown.T
            answer = torch.arange(len(batch))
            loss = nn.functional.cross_entropy(cosines, answer)
            loss = loss + nn.functional.cross_entropy(cosines.T, answer)
            steps.zero_grad()
            loss.backward()
            steps.step()
        own = owner[split["dev"]]
        chosen = np.unique(own)
        made_dev = predicted(network, sentences[split["dev"]])
        recall = found(made_dev, pictures[chosen], np.searchsorted(chosen, own))[0]
        if recall > best:
            best, kept = recall, {k: v.clone() for k, v in network.state_dict().items()}
        print(f"epoch {epoch}: loss {loss.item():.3f}, recall at 1 on dev {recall:.3f}", flush=True)
    network.load_state_dict(kept)
    return network


def predicted(network: Network, sentences: Rows) -> Rows:
    network.eval()
    with torch.inference_mode():
        return network(torch.from_numpy(sentences)).numpy()


def found(rows: Rows, among: Rows, true: NDArray[np.int64]) -> list[float]:
    """How often the true one is among the first one, five and ten."""
    cosines = rows @ among.T
    rank = (cosines > cosines[np.arange(len(rows)), true][:, None]).sum(axis=1)
    return [float((rank < most).mean()) for most in (1, 5, 10)]


def found_any(rows: Rows, among: Rows, true: list[NDArray[np.int64]]) -> list[float]:
    cosines = rows @ among.T
    best = np.array([row[own].max() for row, own in zip(cosines, true, strict=True)])
    rank = (cosines > best[:, None]).sum(axis=1)
    return [float((rank < most).mean()) for most in (1, 5, 10)]


def write(network: Network, out: Path) -> None:
    """Both towers and the tokenizer, as hubs hold them."""
    towers = out / "onnx"
    towers.mkdir(exist_ok=True)
    (towers / "vision_model.onnx").write_bytes(without_rounding(weights.path(CLIP).read_bytes()))
    (towers / "text_model.onnx").write_bytes(text_model(network))
    (out / "tokenizer.json").write_bytes(weights.path(WEIGHTS, "tokenizer.json").read_bytes())


class Whole(Graph):
    """A graph that has its arrays in it."""

    def __init__(self, arrays: dict[str, Rows]) -> None:
        super().__init__({})
        for name, array in arrays.items():
            data = np.ascontiguousarray(array, np.float32).tobytes()
            shape = [(1, size) for size in array.shape]
            self._arrays.append(message([*shape, (2, 1), (8, name), (9, data)]))

    def named(self, name: str, operator: str, *inputs: str) -> None:
        self._nodes.append(message([*((1, one) for one in inputs), (2, name), (4, operator)]))


def text_model(network: Network) -> bytes:
    """MiniLM's encoder, its mean, and the fitted network, from ``input_ids`` to ``text_embeds``."""
    arrays = {
        name: array
        for name, array in read_safetensors(weights.path(WEIGHTS)).items()
        if name.startswith(("embeddings.", "encoder."))
    }
    encoder = [
        part
        for number, value in fields(bert_graph(arrays))
        if number == 7
        for part in fields(value)
    ]
    state = next(
        value.decode()
        for number, output in encoder
        if number == 12
        for at, value in fields(output)
        if at == 1
    )
    fitted = {f"fitted.{k}": v.detach().numpy() for k, v in network.state_dict().items()}
    graph = Whole(arrays | {name: array for name, array in fitted.items() if array.ndim})
    graph.named("ids", "Reshape", "input_ids", graph.constant(np.array([-1])))
    shape = graph.add("Shape", "ids")
    zero, one = (graph.constant(np.array(number)) for number in (0, 1))
    count = graph.add("Gather", shape, zero)
    graph.named("places", "Range", zero, count, one)
    graph.named("apart", "Identity", graph.constant(np.array(0, np.float32)))
    # Its own constants would have the names of ours.
    for number, value in encoder:
        if number == 1:
            graph._nodes.append(_renamed(value))
        elif number == 5 and any(at == 9 for at, _ in fields(value)):
            graph._arrays.append(_renamed(value))
    mean = graph.add("ReduceMean", f"encoder/{state}", axes=[0], keepdims=1)
    row = graph.add("LpNormalization", mean, axis=1, p=2)
    inner = graph.add("Gemm", row, "fitted.inner.weight", "fitted.inner.bias", transB=1)
    line = graph.add("Gemm", row, "fitted.line.weight", "fitted.line.bias", transB=1)
    outer = graph.add("Gemm", graph.add("Relu", inner), "fitted.outer.weight", transB=1)
    graph.named("text_embeds", "Add", line, outer)
    return graph.model({"input_ids": (np.int64, 2)}, "text_embeds")


def _renamed(data: bytes) -> bytes:
    """A node or a constant of the encoder with names that are its own."""
    inputs = ("embeddings.", "encoder.", "ids", "places", "apart")
    tensor = any(at == 9 for at, _ in fields(data))
    changed = []
    for at, value in fields(data):
        name = (at == 8) if tensor else at in (1, 2)
        if name and isinstance(value, bytes) and not value.decode().startswith(inputs):
            value = b"encoder/" + value
        changed.append((at, value))
    return message(changed)


if __name__ == "__main__":
    main()
