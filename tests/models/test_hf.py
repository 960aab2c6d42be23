"""The `hf` family of backends on tiny models of the real classes.

Each is compared with the same model called the plain way its library documents, so a slip in our
scaling, pooling, padding or batching shows.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screentest.core import NoValue, Reason
from screentest.models import ModelChoice, Models
from screentest.models.backends.videoscore import asking_of
from screentest.models.chat.messages import ChatRequest, Picture, Sampling, Text

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.models import tiny  # noqa: E402
from tests.models.torchvision_here import make_importable  # noqa: E402

pytestmark = [
    pytest.mark.models,
    # Other people's libraries warn about their own next versions.
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture(scope="module", autouse=True)
def _torchvision() -> None:
    make_importable()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a tiny model; each is made once."""
    base = tmp_path_factory.mktemp("tiny")

    def folder(name: str) -> Path:
        place = base / name
        if not place.exists():
            getattr(tiny, name)(place)
        return place

    return folder


@pytest.fixture(scope="module")
def images() -> list[Any]:
    noise = np.random.default_rng(0)
    return [noise.integers(0, 256, (48, 64, 3), np.uint8) for _ in range(5)]


def load(role: str, backend: str, model: Path, **options: Any) -> Any:
    return Models([ModelChoice(role, backend, str(model), options)]).role(role)


def unit(rows: Any) -> Any:
    return torch.nn.functional.normalize(rows.float(), dim=-1).detach().numpy()


@pytest.mark.parametrize("name", ["clip", "siglip", "siglip2"])
def test_image_text_equals_the_plain_call(
    name: str, saved: Callable[[str], Path], images: list[Any]
) -> None:
    from transformers import AutoModel, AutoProcessor

    folder = saved(name)
    backend = load("image_text", "hf", folder, batch=2)
    model, processor = AutoModel.from_pretrained(folder), AutoProcessor.from_pretrained(folder)
    texts = ["a red dog", "the cat is on the left of the cup . the sky is blue"]
    padding = True if name == "clip" else "max_length"
    together = processor(
        text=texts,
        images=images,
        padding=padding,
        return_tensors="pt",
        max_length=64,
        truncation=True,
    )
    with torch.no_grad():
        output = model(**together)
    assert np.allclose(backend.embed_images(images), unit(output.image_embeds), atol=1e-5)
    assert np.allclose(backend.embed_texts(texts), unit(output.text_embeds), atol=1e-5)
    assert backend.embed_images([]).shape[0] == 0


def test_a_long_text_is_cut_or_refused(saved: Callable[[str], Path]) -> None:
    backend = load("image_text", "hf", saved("clip"))
    long = "a red dog " * 100
    assert backend.max_tokens == 77
    assert backend.count_tokens(long) == 300
    assert np.allclose(backend.embed_texts([long]), backend.embed_texts([long + "blue sky"]))
    with pytest.raises(NoValue) as caught:
        backend.embed_texts([long], truncate=False)
    assert caught.value.reason is Reason.NOT_APPLICABLE


@pytest.mark.parametrize("name", ["dinov2", "clip", "siglip2"])
def test_image_features_do_not_depend_on_the_batch(
    name: str, saved: Callable[[str], Path], images: list[Any]
) -> None:
    one, many = (load("image_features", "hf", saved(name), batch=size) for size in (1, 5))
    assert np.allclose(one.features(images), many.features(images), atol=1e-5)
    assert np.allclose(np.linalg.norm(one.features(images), axis=1), 1, atol=1e-5)


def test_dinov2_gives_its_normalised_class_token(
    saved: Callable[[str], Path], images: list[Any]
) -> None:
    from transformers import AutoImageProcessor, Dinov2Model

    folder = saved("dinov2")
    inputs = AutoImageProcessor.from_pretrained(folder)(images=images, return_tensors="pt")
    with torch.no_grad():
        states = Dinov2Model.from_pretrained(folder)(**inputs).last_hidden_state
    rows = load("image_features", "hf", folder).features(images)
    assert np.allclose(rows, unit(states[:, 0]), atol=1e-5)


def test_sentences_equal_sentence_transformers(saved: Callable[[str], Path]) -> None:
    library = pytest.importorskip("sentence_transformers")
    folder = saved("sentence_model")
    texts = ["a dog", "the red cat is on the left", "yes"]
    plain = library.SentenceTransformer(str(folder), device="cpu").encode(texts)
    rows = load("text_embedding", "hf", folder, batch=2).embed(texts)
    assert np.allclose(rows, unit(torch.from_numpy(plain)), atol=1e-5)


@pytest.fixture(scope="module")
def raft_file(tmp_path_factory: pytest.TempPathFactory, _torchvision: None) -> Path:
    from safetensors.torch import save_file
    from torchvision.models.optical_flow import raft_small

    torch.manual_seed(7)
    place = tmp_path_factory.mktemp("raft") / "raft_small.safetensors"
    save_file(raft_small(weights=None).state_dict(), place)
    return place


def test_raft_equals_torchvision(raft_file: Path) -> None:
    from safetensors.torch import load_file
    from torchvision.models.optical_flow import raft_small

    noise = np.random.default_rng(1)
    # Sides that are multiples of eight and large enough: nothing is padded.
    first, second = noise.integers(0, 256, (2, 128, 136, 3), np.uint8)
    network = raft_small(weights=None).eval()
    network.load_state_dict(load_file(raft_file))
    scaled = [torch.from_numpy(x).permute(2, 0, 1)[None] / 127.5 - 1 for x in (first, second)]
    with torch.no_grad():
        reference = network(*scaled, num_flow_updates=3)[-1][0].permute(1, 2, 0).numpy()
    backend = load("flow", "raft", raft_file, size="small", updates=3)
    (field,) = backend.flow([(first, second)])
    assert np.allclose(field, reference, atol=1e-3)


def test_raft_takes_any_size_and_mixed_sizes(raft_file: Path) -> None:
    noise = np.random.default_rng(2)
    shapes = [(33, 50), (33, 50), (70, 41)]
    pairs = [tuple(noise.integers(0, 256, (2, *shape, 3), np.uint8)) for shape in shapes]
    fields = load("flow", "raft", raft_file, size="small", updates=2, batch=2).flow(pairs)
    assert [field.shape for field in fields] == [(*shape, 2) for shape in shapes]


def test_a_wrong_size_of_raft_is_refused(raft_file: Path) -> None:
    with pytest.raises(NoValue, match=r"RAFT.*'large'"):
        load("flow", "raft", raft_file, size="large")


def test_a_pickle_is_refused_unless_allowed(tmp_path: Path) -> None:
    from torchvision.models.optical_flow import raft_small

    place = tmp_path / "raft.pth"
    torch.save(raft_small(weights=None).state_dict(), place)
    with pytest.raises(NoValue, match="pickle") as caught:
        load("flow", "raft", place, size="small")
    assert "allow_pickle=true" in caught.value.advice
    assert load("flow", "raft", place, size="small", allow_pickle=True)


def test_a_pickle_with_a_payload_never_runs(tmp_path: Path) -> None:
    class Payload:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "ran",))

    place = tmp_path / "evil.pth"
    torch.save({"x": Payload()}, place)
    with pytest.raises(NoValue, match="no tensors"):
        load("flow", "raft", place, size="small", allow_pickle=True)
    assert not (tmp_path / "ran").exists()


def test_the_aesthetic_head_folded_equals_the_head_layer_by_layer(
    saved: Callable[[str], Path], images: list[Any], tmp_path: Path
) -> None:
    from safetensors.torch import save_file
    from transformers import AutoImageProcessor, SiglipVisionModel

    torch.manual_seed(7)
    widths = [32, 1024, 128, 64, 16, 1]
    layers: list[Any] = []
    for wide, narrow in pairwise(widths):
        layers += [torch.nn.Linear(wide, narrow), torch.nn.Dropout(0.2)]
    head = torch.nn.Sequential(*layers[:-1]).eval()
    place = tmp_path / "head.safetensors"
    save_file({f"scoring_head.{key}": value for key, value in head.state_dict().items()}, place)

    folder = saved("siglip_tower")
    inputs = AutoImageProcessor.from_pretrained(folder)(images=images, return_tensors="pt")
    with torch.no_grad():
        pooled = SiglipVisionModel.from_pretrained(folder)(**inputs).pooler_output
        reference = head(torch.nn.functional.normalize(pooled, dim=-1))[:, 0].numpy()
    backend = load("aesthetic", "siglip", folder, head=str(place), batch=2)
    assert np.allclose(backend.score(images), reference, atol=1e-5)
    assert backend.score([]).shape == (0,)


def test_a_head_for_another_tower_is_refused(saved: Callable[[str], Path], tmp_path: Path) -> None:
    from safetensors.torch import save_file

    place = tmp_path / "head.safetensors"
    save_file({"0.weight": torch.zeros(1, 32), "0.bias": torch.zeros(1)}, place)
    with pytest.raises(NoValue, match="layers of"):
        load("aesthetic", "siglip", saved("siglip_tower"), head=str(place))


def test_grounding_dino_answers_each_phrase_inside_the_picture(
    saved: Callable[[str], Path], images: list[Any]
) -> None:
    backend = load("detection", "grounding_dino", saved("grounding_dino"), box_threshold=0.0)
    found = backend.detect(images[0], ["A dog", "cup.", "cup."])
    assert {one.label for one in found} == {"A dog", "cup."}
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    for one in found:
        left, top, right, bottom = one.box
        assert 0 <= left <= right <= 64
        assert 0 <= top <= bottom <= 48
    assert (
        load("detection", "grounding_dino", saved("grounding_dino"), box_threshold=1.0).detect(
            images[0], ["a dog"]
        )
        == []
    )


def test_sam2_gives_one_mask_per_box(saved: Callable[[str], Path], images: list[Any]) -> None:
    backend = load("segmentation", "sam2", saved("sam2"))
    masks = backend.segment(images[0], [(0, 0, 20, 20), (10, 10, 40, 40)])
    assert [mask.shape for mask in masks] == [(48, 64)] * 2
    assert all(set(np.unique(mask)) <= {0.0, 1.0} for mask in masks)
    assert backend.segment(images[0], []) == []


def test_inpainting_touches_only_the_hole(saved: Callable[[str], Path], images: list[Any]) -> None:
    pytest.importorskip("diffusers")
    folder = saved("stable_diffusion_inpainting")
    backend = load("inpainting", "stable_diffusion", folder, steps=2)
    mask = np.zeros((48, 64), np.float32)
    mask[10:30, 12:40] = 1
    one, two = (backend.inpaint(images[0], mask, "a dog") for _ in range(2))
    assert np.array_equal(one, two)
    assert np.array_equal(one[mask == 0], images[0][mask == 0])
    assert not np.array_equal(one[mask == 1], images[0][mask == 1])
    assert np.array_equal(backend.inpaint(images[0], mask * 0), images[0])


def test_recolouring_by_words_stays_inside_the_mask(
    saved: Callable[[str], Path], images: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("diffusers")
    from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit_plus as pipeline

    # The pipeline looks at its picture in a megapixel, whatever it is to paint.
    monkeypatch.setattr(pipeline, "VAE_IMAGE_SIZE", 64 * 64)
    monkeypatch.setattr(pipeline, "CONDITION_IMAGE_SIZE", 56 * 56)
    backend = load("image_edit", "qwen", saved("qwen_image_edit"), steps=2, pixels=64 * 64)
    mask = np.zeros((48, 64), np.float32)
    mask[10:30, 12:40] = 1
    changed = backend.recolour(images[0], mask, "dog {colour}", "blue")
    assert changed.shape == images[0].shape
    assert np.array_equal(changed[mask == 0], images[0][mask == 0])
    assert not np.array_equal(changed[mask == 1], images[0][mask == 1])
    whole = backend.recolour(images[0], None, "dog", "blue")
    assert not np.array_equal(whole[mask == 0], images[0][mask == 0])


def test_videoscore_gives_five_numbers(saved: Callable[[str], Path], images: list[Any]) -> None:
    backend = load("videoscore", "hf", saved("videoscore"))
    prompt = "a dog {braces} <image> of red"
    values = backend.score(images, prompt)
    assert list(values) == [
        "visual_quality",
        "temporal_consistency",
        "dynamic_degree",
        "text_alignment",
        "factual_consistency",
    ]
    assert all(np.isfinite(value) for value in values.values())
    assert values != backend.score(images, "the cat")
    assert values != backend.score(images[::-1], prompt)
    with pytest.raises(NoValue, match="no frames"):
        backend.score([], "a dog")


def test_a_prompt_beyond_what_videoscore_reads_is_cut_and_that_is_said(
    saved: Callable[[str], Path], images: list[Any]
) -> None:
    backend = load("videoscore", "hf", saved("videoscore"))
    backend._model.config.text_config.max_position_embeddings = 200
    read = []
    forward = backend._model.forward

    def noted(**inputs: Any) -> Any:
        read.append(inputs["input_ids"].shape[1])
        return forward(**inputs)

    backend._model.forward = noted
    prompt = "a dog runs " * 5_000  # 55,000 characters; the paper's prompts have 58,000
    kept, tokens, kept_tokens = backend.cut(prompt, len(images))
    assert tokens > 10_000
    assert 0 < kept_tokens < 200
    assert prompt.startswith(kept)
    assert all(np.isfinite(value) for value in backend.score(images, prompt).values())
    assert 150 < read[0] <= 200
    short = "a dog"
    assert backend.cut(short, len(images))[0] == short


CARD = """
MAX_NUM_FRAMES=48
REGRESSION_QUERY_PROMPT = '''
Rate this. The text: "{text_prompt}".
'''
"""


def test_videoscore_is_asked_as_its_card_says(saved: Callable[[str], Path], tmp_path: Path) -> None:
    folder = tmp_path / "VideoScore"
    shutil.copytree(saved("videoscore"), folder)
    plain = load("videoscore", "hf", folder)
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    told = load("videoscore", "hf", folder)
    (folder / "mine.txt").write_text("Mine: {prompt}", encoding="utf-8")
    mine = load("videoscore", "hf", folder, question_file=str(folder / "mine.txt"), max_frames=3)
    assert [one.max_frames for one in (plain, told, mine)] == [16, 48, 3]
    whose = [one.identity["question"].partition(".")[0] for one in (plain, told, mine)]
    assert whose == ["ours", "card", "file"]
    assert told.identity["frames"] == "48"


@pytest.mark.parametrize(
    ("card", "name", "frames", "source"),
    [
        ("", "TIGER-Lab/VideoScore", 16, "ours"),
        ("", "/models/1.1/VideoScore", 16, "ours"),
        ("", "/models/VideoScore-v1.1", 48, "ours"),
        ("MAX_NUM_FRAMES = 0", "VideoScore", 1, "ours"),
        (CARD.replace("{text_prompt}", "none"), "VideoScore", 48, "ours"),
        (CARD, "VideoScore", 48, "card"),
    ],
)
def test_how_a_version_is_asked(card: str, name: str, frames: int, source: str) -> None:
    found = asking_of(card, name)
    assert (found.frames, found.source) == (frames, source)
    assert found.question.count("{prompt}") == 1


def picture(image: Any) -> Picture:
    import cv2

    _, encoded = cv2.imencode(".png", image)
    return Picture(encoded.tobytes(), "image/png", image.shape[1], image.shape[0])


def test_a_vision_language_model_answers_about_pictures(
    saved: Callable[[str], Path], images: list[Any]
) -> None:
    backend = load("chat", "hf", saved("vision_language_model"))
    sampling = Sampling(temperature=0.7, top_p=0.8, top_k=20, seed=3, max_tokens=20)
    parts = (Text("0 :"), picture(images[0]), Text("1 :"), picture(images[1]), Text("is it red ?"))
    request = ChatRequest(parts, system="a good video", sampling=sampling)
    first, again, other = backend.ask(
        [request, request, ChatRequest(parts, sampling=sampling, repeat=1)]
    )
    assert first.unwrap().text == again.unwrap().text
    assert first.unwrap().usage.input_tokens > 20  # the pictures are tokens too
    # Drawn with another seed: it may well differ.
    assert other.ok


def test_a_text_model_says_that_it_cannot_see(
    saved: Callable[[str], Path], images: list[Any]
) -> None:
    backend = load("chat", "hf", saved("text_model"))
    plain = ChatRequest((Text("is the dog red ?"),), sampling=Sampling(temperature=0.0))
    shown = ChatRequest((picture(images[0]), Text("is the dog red ?")))
    answered, blind = backend.ask([plain, shown])
    assert answered.unwrap().text
    assert blind.failure.reason is Reason.NOT_APPLICABLE


@pytest.mark.parametrize("kind", ["text_model", "vision_language_model"])
def test_requests_of_one_call_are_answered_as_if_each_were_alone(
    saved: Callable[[str], Path],
    images: list[Any],
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def asked(text: str, *shown: Any, **sampling: Any) -> ChatRequest:
        parts = [*map(picture, shown), Text(text)]
        return ChatRequest(tuple(parts), sampling=Sampling(max_tokens=12, **sampling))

    shown = images[:1] if kind == "vision_language_model" else []
    requests = [
        asked("is it red ?", *shown),
        asked("drawn", *shown, temperature=0.9, seed=1),
        asked("a good video of a dog , is the dog red ?", *shown),
        asked("yes", *shown),
        asked("unseen", images[0]),
        asked("no ?"),
    ]
    alone = load("chat", "hf", saved(kind))
    together = load("chat", "hf", saved(kind), batch=2)
    calls: list[int] = []
    generate = together._model.generate

    def counted(**inputs: Any) -> Any:
        calls.append(len(inputs["input_ids"]))
        return generate(**inputs)

    monkeypatch.setattr(together._model, "generate", counted)
    singly = [alone.ask([request])[0] for request in requests]
    answers = together.ask(requests)
    assert calls.count(2) >= 1
    for one, answer in zip(singly, answers, strict=True):
        assert one.ok == answer.ok
        if one.ok:
            assert (one.unwrap().text, one.unwrap().usage) == (
                answer.unwrap().text,
                answer.unwrap().usage,
            )


def test_a_batch_that_does_not_fit_is_halved(
    saved: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = load("chat", "hf", saved("text_model"), batch=4)
    generate = backend._model.generate
    calls: list[int] = []

    def small(**inputs: Any) -> Any:
        calls.append(len(inputs["input_ids"]))
        if calls[-1] > 2:
            raise torch.OutOfMemoryError("too much")
        return generate(**inputs)

    monkeypatch.setattr(backend._model, "generate", small)
    sampling = Sampling(max_tokens=4)
    requests = [
        ChatRequest((Text(word),), sampling=sampling) for word in ["yes", "no", "red", "dog"]
    ]
    assert len(backend.ask(requests)) == 4
    assert calls == [4, 2, 2]


def test_an_answer_cut_short_is_not_an_answer(saved: Callable[[str], Path]) -> None:
    backend = load("chat", "hf", saved("text_model"))
    # Made to go on for five tokens and stopped after five: it cannot have ended by itself.
    sampling = Sampling(temperature=0.0, max_tokens=5, min_tokens=5)
    (outcome,) = backend.ask([ChatRequest((Text("yes"),), sampling=sampling)])
    assert outcome.failure.reason is Reason.TRUNCATED


@pytest.mark.parametrize(
    ("role", "backend"),
    [
        ("image_text", "hf"),
        ("image_features", "hf"),
        ("text_embedding", "hf"),
        ("chat", "hf"),
        ("videoscore", "hf"),
        ("detection", "grounding_dino"),
        ("segmentation", "sam2"),
        ("inpainting", "stable_diffusion"),
        ("image_edit", "qwen"),
    ],
)
def test_a_model_that_is_not_there_is_a_typed_reason(
    role: str, backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCREENTEST_OFFLINE", "1")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoValue) as caught:
        load(role, backend, tmp_path / "empty")
    assert caught.value.reason is Reason.MISSING_MODEL
    assert caught.value.advice


def test_weights_as_a_pickle_are_refused(saved: Callable[[str], Path], tmp_path: Path) -> None:
    from safetensors.torch import load_file

    folder = tmp_path / "pickled"
    shutil.copytree(saved("clip"), folder)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(NoValue) as caught:
        load("image_text", "hf", folder)
    assert caught.value.reason is Reason.MISSING_MODEL


def test_other_weights_are_another_identity(saved: Callable[[str], Path], tmp_path: Path) -> None:
    import shutil

    from safetensors.torch import load_file, save_file

    folder = tmp_path / "clip"
    shutil.copytree(saved("clip"), folder)
    chosen = [ModelChoice.parse(f"image_text=hf:{place}") for place in (saved("clip"), folder)]
    same = {str(Models([choice]).signature("image_text")) for choice in chosen}
    assert len(same) == 1  # where it lies is no part of it
    tensors = load_file(folder / "model.safetensors")
    tensors["logit_scale"] += 1
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    assert str(Models([chosen[1]]).signature("image_text")) not in same


def test_several_pictures_in_one_call_are_as_if_each_were_alone(
    saved: Callable[[str], Path], images: list[Any]
) -> None:
    pytest.importorskip("diffusers")
    masks = [np.zeros((48, 64), np.float32) for _ in images]
    for number, mask in enumerate(masks):
        mask[10 : 20 + number, 12:40] = number > 0  # nothing to paint in the first
    folder = saved("stable_diffusion_inpainting")
    painter = load("inpainting", "stable_diffusion", folder, steps=2, batch=2)
    together = painter.inpaint_all(images, masks)
    for image, mask, one in zip(images, masks, together, strict=True):
        alone = painter.inpaint(image, mask)
        # Kernels round differently for another number of pictures.
        assert np.abs(one.astype(int) - alone).max() <= 1
        assert np.array_equal(one[mask == 0], image[mask == 0])
    finder = load("detection", "grounding_dino", saved("grounding_dino"), box_threshold=0.0)
    for image, found in zip(
        images, finder.detect_all(images, [["a dog"]] * len(images)), strict=True
    ):
        alone = finder.detect(image, ["a dog"])
        assert np.allclose([one.box for one in found], [one.box for one in alone], atol=0.05)
        assert np.allclose([one.score for one in found], [one.score for one in alone], atol=1e-4)
    cutter = load("segmentation", "sam2", saved("sam2"), batch=2)
    boxes: list[list[tuple[int, int, int, int]]] = [
        [(0, 0, 20, 20)] * (n % 3) for n in range(len(images))
    ]
    for image, listed, masks in zip(images, boxes, cutter.segment_all(images, boxes), strict=True):
        assert len(masks) == len(listed)
        for mask, alone in zip(masks, cutter.segment(image, listed), strict=True):
            assert (mask != alone).mean() < 0.01
