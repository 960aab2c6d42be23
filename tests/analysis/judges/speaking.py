"""Vision-language models that answer in JSON, made on the spot.

Small ones of a real class, with weights set by hand: attention and feed-forward layers add
nothing, so each token follows from the one before. They read every word and picture through the
real processor, and say one of a few texts; between two texts they toss a coin, with the
sampling that the judge asks for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.models import tiny

CERTAIN = 50.0
"""A logit that leaves all others no chance."""


def speaking_model(folder: Path, opening: str, *endings: str) -> Path:
    """One that says the opening, then one of the endings, each as likely as the others."""
    import torch
    from transformers import (
        PreTrainedTokenizerFast,
        Qwen2_5_VLForConditionalGeneration,
    )

    tiny.vision_language_model(folder)
    model: Any = Qwen2_5_VLForConditionalGeneration.from_pretrained(folder)
    words = PreTrainedTokenizerFast.from_pretrained(folder)
    words.add_tokens([opening, *endings])
    model.resize_token_embeddings(len(words), mean_resizing=False)
    # The template ends with a colon: that is where an answer begins.
    begin, start, end = (words.convert_tokens_to_ids(token) for token in (":", opening, "</s>"))
    said = [words.convert_tokens_to_ids(ending) for ending in endings]
    with torch.no_grad():
        for layer in model.model.language_model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        before, after = model.get_input_embeddings().weight, model.get_output_embeddings().weight
        before.zero_()
        after.zero_()
        for place, (tokens, following) in enumerate(
            (([begin], [start]), ([start], said), (said, [end]))
        ):
            before[tokens, place] = 1.0
            after[following, place] = CERTAIN
    model.generation_config.eos_token_id = end
    model.config.tie_word_embeddings = model.config.text_config.tie_word_embeddings = False
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder
