"""Every image features backend keeps the role's contract; frames of one shot are near."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from screentest.core import registry
from screentest.models import Models, weights
from screentest.models.backends.image_features import MobileNet, with_output, without_rounding
from screentest.models.backends.text_embedding import Graph, message
from screentest.models.networks.runtimes import onnx_session
from screentest.models.roles import ImageFeatures
from tests.models.pulled import pulled, small_backends
from tests.models.real_frames import Image, frame
from tests.models.tiny_backend import MARKS, tiny_backend

BACKENDS = ("mobilenet", "colour_gradient")


def built(name: str) -> ImageFeatures:
    if name == "mobilenet":
        pytest.importorskip("onnxruntime")
        pulled("mobilenet-v3-small")
    made: ImageFeatures = registry.build("image_features", name).thing
    return made


@pytest.fixture(params=[*BACKENDS, pytest.param("hf", marks=MARKS)], scope="module")
def backend(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> ImageFeatures:
    if request.param == "hf":
        made: ImageFeatures = tiny_backend("image_features", "hf", "dinov2", tmp_path_factory)
        return made
    return built(request.param)


@pytest.fixture(params=BACKENDS, scope="module")
def builtin(request: pytest.FixtureRequest) -> ImageFeatures:
    return built(request.param)


@pytest.fixture(scope="module")
def five_shots(sample: Path) -> list[tuple[Image, Image]]:
    """Two frames of each of five live-action shots (the cuts are exact: 72, 168, 228, 312)."""
    film = sample / "real_5shots_640x360.mp4"
    pairs = [(10, 60), (80, 150), (175, 220), (235, 300), (320, 365)]
    return [(frame(film, one, 320), frame(film, two, 320)) for one, two in pairs]


def test_all_built_in_backends_are_tested() -> None:
    assert small_backends("image_features") == set(BACKENDS)


@pytest.mark.parametrize("shape", [(1, 1), (7, 300), (64, 48), (720, 1280)])
def test_rows_have_length_one_whatever_the_picture(
    backend: ImageFeatures, shape: tuple[int, int]
) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8)
    flat = [np.full((*shape, 3), value, np.uint8) for value in (0, 128, 255)]
    rows = backend.features([noise, *flat])
    assert rows.dtype == np.float32
    assert np.isfinite(rows).all()
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(4), abs=1e-5)


def test_no_pictures_give_no_rows(backend: ImageFeatures) -> None:
    assert len(backend.features([])) == 0


def test_what_is_no_picture_is_refused(backend: ImageFeatures) -> None:
    with pytest.raises(ValueError, match="not an RGB picture"):
        backend.features([np.zeros((9, 9), np.uint8)])


def test_a_row_depends_on_its_picture_alone(
    backend: ImageFeatures, five_shots: list[tuple[Image, Image]]
) -> None:
    pictures = [one for pair in five_shots for one in pair]
    together = backend.features(pictures)
    assert together[::-1] == pytest.approx(backend.features(pictures[::-1]), abs=1e-5)
    assert together[7] == pytest.approx(backend.features([pictures[7]])[0], abs=1e-5)


def test_of_built_in_ones_bit_for_bit(
    builtin: ImageFeatures, five_shots: list[tuple[Image, Image]]
) -> None:
    # Eleven pictures: more than one batch.
    pictures = [one for pair in five_shots for one in pair]
    pictures.append(pictures[0][:, ::-1])
    together = builtin.features(pictures)
    assert np.array_equal(together[::-1], builtin.features(pictures[::-1]))
    assert np.array_equal(together[7], builtin.features([pictures[7]])[0])


def test_frames_of_one_shot_are_nearer_than_those_of_others(
    builtin: ImageFeatures, five_shots: list[tuple[Image, Image]]
) -> None:
    first = builtin.features([one for one, _ in five_shots])
    second = builtin.features([two for _, two in five_shots])
    similar = first @ second.T
    assert similar.argmax(axis=1).tolist() == [0, 1, 2, 3, 4]
    assert np.diag(similar).mean() > similar[~np.eye(5, dtype=bool)].mean() + 0.2


def test_threads_change_no_number(five_shots: list[tuple[Image, Image]]) -> None:
    built("mobilenet")
    pictures = [one for one, _ in five_shots]
    assert np.array_equal(MobileNet(1).features(pictures), MobileNet(2).features(pictures))


def test_threads_are_not_in_the_signature() -> None:
    one, two = (
        registry.entry("image_features", "mobilenet").spec({"threads": n}).signature for n in (1, 2)
    )
    assert one == two


def test_identity_names_the_weights() -> None:
    # The numbers are in the .data file beside the graph.
    data = weights.entry("mobilenet-v3-small").files[1]
    assert data.name.endswith(".data")
    assert built("mobilenet").identity["weights"] == data.sha256[:12]


def test_a_flicker_of_light_moves_a_row_little(
    builtin: ImageFeatures, five_shots: list[tuple[Image, Image]]
) -> None:
    pictures = [one for one, _ in five_shots]
    brighter = [np.minimum(one, 247) + np.uint8(8) for one in pictures]
    rows, changed = builtin.features(pictures), builtin.features(brighter)
    assert (rows * changed).sum(axis=1).min() > 0.9


@pytest.mark.usefixtures("cache")
def test_without_weights_the_stand_in_is_taken() -> None:
    assert Models().used(["image_features"])["image_features"] == "colour_gradient"


def test_a_value_inside_a_model_can_be_had() -> None:
    pytest.importorskip("onnxruntime")

    # One node, y = Abs(x), then z = Neg(y): by hand, as ONNX has it on the wire.
    def text(number: int, content: bytes) -> bytes:
        return bytes([number << 3 | 2, len(content)]) + content

    def value(name: bytes) -> bytes:
        shape = text(2, text(1, b"\x08\x02"))
        return text(1, name) + text(2, text(1, b"\x08\x01" + shape))

    nodes = [
        text(1, one) + text(2, two) + text(4, op)
        for one, two, op in ((b"x", b"y", b"Abs"), (b"y", b"z", b"Neg"))
    ]
    graph = b"".join(text(1, node) for node in nodes) + text(2, b"g")
    graph += text(11, value(b"x")) + text(12, value(b"z"))
    model = b"\x08\x08" + text(8, b"\x10\x0d") + text(7, graph)
    given = {"x": np.array([-3, 2], np.float32)}
    assert onnx_session(model).run(None, given)[0].tolist() == [-3, -2]
    opened = onnx_session(with_output(model, "y"))
    assert [one.tolist() for one in opened.run(["z", "y"], given)] == [[-3, -2], [3, 2]]


def test_products_in_whole_numbers_become_plain_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The expected vectors are numpy's, of the weights scaled back by hand."""
    pytest.importorskip("onnxruntime")
    generator = np.random.default_rng(3)
    shapes, scale = [(6, 5), (6, 4)], np.float32(0.02)
    weights_8 = [generator.integers(-128, 128, shape).astype(np.int8) for shape in shapes]
    # One large number among small ones: dynamic quantisation loses the others.
    given = np.append(generator.normal(size=(2, 5)) / 100, [[50], [50]], axis=1).astype(np.float32)
    graph = _Rounding(weights_8, scale)
    model = graph.model({"x": (np.float32, 2)}, graph.result)

    expected = np.concatenate([given @ (w.astype(np.float32) * scale) for w in weights_8], axis=1)
    plain = onnx_session(without_rounding(model)).run(None, {"x": given})[0]
    assert plain == pytest.approx(expected, abs=1e-5)
    assert onnx_session(model).run(None, {"x": given})[0] != pytest.approx(expected, abs=1e-2)


_INT8, _ROUND = 3, "DynamicQuantizeLinear"


class _Rounding(Graph):
    """Two products of one input, as ONNX Runtime's dynamic quantisation writes them."""

    def __init__(self, matrices: list[NDArray[np.int8]], scale: np.float32) -> None:
        super().__init__({})
        self._nodes.append(
            message([(1, "x"), *((2, f"x_{part}") for part in ("8", "scale", "zero")), (4, _ROUND)])
        )
        for number, matrix in enumerate(matrices):
            kept = [*((1, size) for size in matrix.shape), (2, _INT8), (8, f"w{number}")]
            self._arrays.append(message([*kept, (9, matrix.tobytes())]))
        self._arrays.append(message([(2, _INT8), (8, "zero"), (9, b"\0")]))
        steps = self.constant(np.array(scale, np.float32))
        results = []
        for number in range(len(matrices)):
            product = self.add("MatMulInteger", "x_8", f"w{number}", "x_zero", "zero")
            scales = self.add("Mul", "x_scale", steps)
            results.append(self.add("Mul", self.add("Cast", product, to=1), scales))
        self.result = self.add("Concat", *results, axis=1)
