"""Every text embedding keeps the role's contract; MiniLM equals sentence-transformers."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from screentest.core import registry
from screentest.models import Models, read_models, weights
from screentest.models.backends.text_embedding import MiniLM, SharedWords
from screentest.models.roles import TextEmbedding
from tests.models.minilm_reference import FIRST_NUMBERS, SIMILARITIES, TEXTS
from tests.models.pulled import pulled, small_backends
from tests.models.tiny_backend import MARKS, tiny_backend
from tests.models.torchvision_here import make_importable

WEIGHTS = {"minilm": "minilm", "minilm_int8": "minilm-int8", "shared_words": None}


def built(name: str) -> TextEmbedding:
    if WEIGHTS[name] is not None:
        pytest.importorskip("tokenizers")
        if name == "minilm_int8":
            pytest.importorskip("onnxruntime")
        pulled(WEIGHTS[name])
    made: TextEmbedding = registry.build("text_embedding", name).thing
    return made


@pytest.fixture(params=[*WEIGHTS, pytest.param("hf", marks=MARKS)], scope="module")
def backend(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> TextEmbedding:
    if request.param == "hf":
        pytest.importorskip("sentence_transformers")
        made: TextEmbedding = tiny_backend(
            "text_embedding", "hf", "sentence_model", tmp_path_factory
        )
        return made
    return built(request.param)


@pytest.fixture(params=WEIGHTS, scope="module")
def builtin(request: pytest.FixtureRequest) -> TextEmbedding:
    return built(request.param)


@pytest.fixture(scope="module", autouse=True)
def _torchvision() -> None:
    if find_spec("torch"):
        make_importable()


@pytest.fixture(scope="module")
def minilm() -> TextEmbedding:
    return built("minilm")


def test_all_built_in_backends_are_tested() -> None:
    assert small_backends("text_embedding") == WEIGHTS.keys()


def test_rows_have_length_one_whatever_the_text(backend: TextEmbedding) -> None:
    written = [text for text in TEXTS if text.strip()]
    hostile = [*written, "\x00\x01", "\ud800 lone surrogate", "[CLS] [SEP] [MASK]", "?!"]
    rows = backend.embed(hostile)
    assert rows.shape[0] == len(hostile)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(len(hostile)), abs=1e-5)


def test_nothing_written_is_a_text_too(builtin: TextEmbedding) -> None:
    rows = builtin.embed(["", " \t ", "\u200b"])
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(3), abs=1e-5)


def test_no_texts_give_no_rows(backend: TextEmbedding) -> None:
    assert len(backend.embed([])) == 0


def test_a_row_depends_on_its_text_alone(backend: TextEmbedding) -> None:
    together = backend.embed(TEXTS)
    assert together[::-1] == pytest.approx(backend.embed(TEXTS[::-1]), abs=1e-5)
    assert together[3] == pytest.approx(backend.embed([TEXTS[3]])[0], abs=1e-5)


def test_of_built_in_ones_bit_for_bit(builtin: TextEmbedding) -> None:
    # Neither company nor order may change a number: workers divide the work as they like.
    together = builtin.embed(TEXTS)
    assert np.array_equal(together[::-1], builtin.embed(TEXTS[::-1]))
    assert np.array_equal(together[3], builtin.embed([TEXTS[3]])[0])


def test_a_fresh_backend_gives_the_same_rows(builtin: TextEmbedding) -> None:
    again: TextEmbedding = type(builtin)()
    assert np.array_equal(again.embed(TEXTS[:4]), builtin.embed(TEXTS[:4]))


def test_the_caller_may_change_its_rows(backend: TextEmbedding) -> None:
    first = backend.embed(["a dog"])
    kept = first.copy()
    first[:] = 0
    assert np.array_equal(backend.embed(["a dog"]), kept)


def test_the_like_is_nearer_than_the_unlike(builtin: TextEmbedding) -> None:
    first, like, unlike = builtin.embed(
        ["A brown dog runs on the beach.", "The dog was running on a beach.", "Stocks fell."]
    )
    assert first @ like > first @ unlike + 0.3


def test_identity_names_weights_and_runtime(backend: TextEmbedding) -> None:
    identity = backend.identity
    assert all(isinstance(value, str) and value for value in identity.values())


def test_identity_of_a_built_in_one_has_its_weights(builtin: TextEmbedding) -> None:
    if not isinstance(builtin, SharedWords):
        digests = {weights.digest(one) for one in WEIGHTS.values() if one}
        assert builtin.identity["weights"] in digests


# MiniLM: the numbers of sentence-transformers (see minilm_reference), to 1e-4 as promised; what
# remains is rounding, about 4e-7.


def test_minilm_gives_the_similarities_of_sentence_transformers(minilm: TextEmbedding) -> None:
    assert isinstance(minilm, MiniLM)
    rows = np.stack([minilm.embed_cut(text) for text in TEXTS])  # one of them is cut there
    assert rows @ rows.T == pytest.approx(np.array(SIMILARITIES), abs=2e-6)
    assert rows[0, : len(FIRST_NUMBERS)] == pytest.approx(np.array(FIRST_NUMBERS), abs=2e-6)


def test_threads_change_no_number(minilm: TextEmbedding) -> None:
    assert np.array_equal(MiniLM(1).embed(TEXTS), MiniLM(2).embed(TEXTS))


def test_no_text_is_cut(backend: TextEmbedding) -> None:
    """Two descriptions that differ behind 256 tokens had one vector, bit for bit."""
    long = "a dog on the left " * 150
    school, robots = backend.embed([f"{long} the red cat", f"{long} yes"])
    assert not np.array_equal(school, robots)
    assert np.linalg.norm([school, robots], axis=1) == pytest.approx([1, 1], abs=1e-5)
    if not isinstance(backend, SharedWords):
        assert backend.identity["long_texts"]
    # A long one beside it changes no other.
    assert backend.embed(["a dog", long])[0] == pytest.approx(backend.embed(["a dog"])[0], abs=1e-5)


def test_minilm_reads_long_texts_in_pieces_of_256(minilm: TextEmbedding) -> None:
    # "word" is one token and two marks are added: 254 fill one piece, the 255th begins another.
    assert isinstance(minilm, MiniLM)
    fits, longer = (minilm.embed_cut("word " * 254 + more) for more in ("", "beach"))
    assert np.array_equal(fits, longer)
    assert np.array_equal(fits, minilm.embed(["word " * 254])[0])
    assert not np.array_equal(fits, minilm.embed(["word " * 254 + "beach"])[0])


def test_a_list_at_once_gives_the_same_but_for_rounding(minilm: TextEmbedding) -> None:
    assert isinstance(minilm, MiniLM)
    short = [text for text in TEXTS if len(text) < 500]
    texts = [*short, *(f"thing number {number}" for number in range(50))]
    at_once = minilm.embed_list(texts)
    assert at_once == pytest.approx(minilm.embed(texts), abs=2e-6)
    assert np.array_equal(at_once, minilm.embed_list(texts))


@pytest.mark.models
@pytest.mark.filterwarnings("default")
def test_minilm_equals_torchs_own_bert(minilm: TextEmbedding) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    load_file = pytest.importorskip("safetensors.torch").load_file

    config = transformers.BertConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536
    )
    bert = transformers.BertModel(config).eval()
    bert.load_state_dict(load_file(pulled("minilm")), strict=False)
    file = str(weights.path("minilm", "tokenizer.json"))
    read = transformers.PreTrainedTokenizerFast(tokenizer_file=file, pad_token="[PAD]")
    for text in TEXTS:
        ids = read(text, truncation=True, max_length=256, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            mean = bert(input_ids=ids[:, :256]).last_hidden_state[0].mean(dim=0)
        expected = torch.nn.functional.normalize(mean, dim=0).numpy()
        assert isinstance(minilm, MiniLM)
        assert minilm.embed_cut(text) == pytest.approx(expected, abs=2e-6)


def test_meaning_beats_spelling_in_minilm_only(minilm: TextEmbedding) -> None:
    def nearer(backend: TextEmbedding) -> bool:
        puppy, dog, pumpkin = backend.embed(["a puppy", "a young dog", "a pumpkin"])
        return bool(puppy @ dog > puppy @ pumpkin)

    assert nearer(minilm)
    assert not nearer(built("shared_words")), "the stand-in is said to know no meaning"


def test_int8_is_near_the_full_model_and_not_equal(minilm: TextEmbedding) -> None:
    # Stated in its docstring: 0.01 on average, up to 0.05.
    rows = built("minilm_int8").embed(TEXTS)
    error = np.abs(rows @ rows.T - np.array(SIMILARITIES))
    assert error.max() < 0.06
    assert error.mean() < 0.02
    assert error.max() > 1e-4, "if it were exact it need not have a name of its own"


def test_the_stand_in_is_the_same_in_every_process() -> None:
    code = (
        "from screentest.core import registry;"
        "row = registry.build('text_embedding', 'shared_words').thing.embed(['a red dog'])[0];"
        "print(row.tobytes().hex())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(said) == 1


def test_words_that_are_not_shared_do_not_collide_in_the_stand_in() -> None:
    words = "tree sky mountain house river flower water road grass wall window sun moon door sand"
    rows = built("shared_words").embed(words.split())
    others = rows @ rows.T - np.eye(len(rows))
    assert np.abs(others).max() < 0.5


def test_the_best_that_is_here_is_taken(cache: object, monkeypatch: pytest.MonkeyPatch) -> None:
    # The cache of this test is empty, so only the stand-in is left.
    assert Models().used(["text_embedding"])["text_embedding"] == "shared_words"
    assert str(Models().signature("text_embedding")).startswith("shared_words|v:1")
    monkeypatch.undo()
    pulled("minilm")
    pytest.importorskip("tokenizers")
    assert Models().used(["text_embedding"])["text_embedding"] == "shared_words"
    light = Models(read_models("light"))
    assert light.used(["text_embedding"])["text_embedding"] == "minilm"
