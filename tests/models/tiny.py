"""Tiny random models of the real classes, saved as their makers save them.

They answer nonsense, but they go through the same loaders, processors and shapes as the large
ones, so what works with them loads the published weights.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORDS = (
    "a the red blue dog cat cup sky is on left right yes no good bad video of in . , { } [ ] 0 1"
)


def tokenizer(**special: str) -> Any:
    """Letters and a few words, lower-cased, with whatever special tokens a model wants."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    names = {"pad_token": "<pad>", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    names |= special
    extra = names.pop("extra", "").split()
    symbols = [*names.values(), *extra, *WORDS.split(), *"abcdefghijklmnopqrstuvwxyz<>:!?'\"-"]
    vocabulary = {symbol: place for place, symbol in enumerate(dict.fromkeys(symbols))}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token=names["unk_token"]))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=made, additional_special_tokens=extra, model_max_length=512, **names
    )


def _tower(**more: Any) -> dict[str, Any]:
    return {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        **more,
    }


def _seeded() -> None:
    import torch

    torch.manual_seed(7)


def clip(folder: Path) -> Path:
    """CLIP with its 77 learned positions."""
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel, CLIPProcessor

    words = tokenizer()
    text = _tower(vocab_size=len(words), max_position_embeddings=77)
    text |= {"bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
    config = CLIPConfig(
        text_config=text, vision_config=_tower(image_size=32, patch_size=8), projection_dim=16
    )
    _seeded()
    CLIPModel(config).save_pretrained(folder)
    pictures = CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    CLIPProcessor(pictures, words).save_pretrained(folder)
    return folder


def siglip(folder: Path) -> Path:
    """SigLIP, whose texts are always padded to 64."""
    from transformers import SiglipConfig, SiglipImageProcessor, SiglipModel, SiglipProcessor

    words = tokenizer()
    config = SiglipConfig(
        text_config=_tower(vocab_size=len(words), max_position_embeddings=64),
        vision_config=_tower(image_size=32, patch_size=8),
    )
    _seeded()
    SiglipModel(config).save_pretrained(folder)
    SiglipProcessor(SiglipImageProcessor(size={"height": 32, "width": 32}), words).save_pretrained(
        folder
    )
    return folder


def siglip2(folder: Path) -> Path:
    """SigLIP 2 with its variable number of patches."""
    from transformers import Siglip2Config, Siglip2ImageProcessor, Siglip2Model, Siglip2Processor

    words = tokenizer()
    config = Siglip2Config(
        text_config=_tower(vocab_size=len(words), max_position_embeddings=64),
        vision_config=_tower(num_patches=256, patch_size=16),
    )
    _seeded()
    Siglip2Model(config).save_pretrained(folder)
    Siglip2Processor(Siglip2ImageProcessor(), words).save_pretrained(folder)
    return folder


def siglip_tower(folder: Path) -> Path:
    """The vision half alone, as the aesthetic head wants it."""
    from transformers import SiglipImageProcessor, SiglipVisionConfig, SiglipVisionModel

    _seeded()
    config = SiglipVisionConfig(**_tower(image_size=32, patch_size=8))
    SiglipVisionModel(config).save_pretrained(folder)
    SiglipImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    return folder


def dinov2(folder: Path) -> Path:
    """DINOv2."""
    from transformers import BitImageProcessor, Dinov2Config, Dinov2Model

    _seeded()
    Dinov2Model(Dinov2Config(**_tower(image_size=28, patch_size=14))).save_pretrained(folder)
    BitImageProcessor(
        size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28}
    ).save_pretrained(folder)
    return folder


def sentence_model(folder: Path) -> Path:
    """A BERT with mean pooling, as sentence-transformers stores it."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from transformers import BertConfig, BertModel

    words = tokenizer()
    _seeded()
    config = BertConfig(**_tower(vocab_size=len(words), max_position_embeddings=512))
    inner = folder.parent / f"{folder.name}-bert"
    BertModel(config).save_pretrained(inner)
    words.save_pretrained(inner)
    parts = [modules.Transformer(str(inner)), modules.Pooling(32)]
    SentenceTransformer(modules=parts, device="cpu").save_pretrained(str(folder))
    return folder


def grounding_dino(folder: Path) -> Path:
    """Grounding DINO with a Swin backbone and a BERT."""
    from transformers import (
        BertConfig,
        GroundingDinoConfig,
        GroundingDinoForObjectDetection,
        GroundingDinoImageProcessor,
        GroundingDinoProcessor,
        SwinConfig,
    )

    words = tokenizer(cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]")
    backbone = SwinConfig(
        embed_dim=8,
        depths=[1, 1, 1, 1],
        num_heads=[1, 1, 2, 2],
        window_size=2,
        image_size=64,
        out_indices=[2, 3, 4],
    )
    config = GroundingDinoConfig(
        backbone_config=backbone,
        text_config=BertConfig(**_tower(vocab_size=len(words))),
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        num_queries=8,
        num_feature_levels=4,
        max_text_len=64,
    )
    _seeded()
    GroundingDinoForObjectDetection(config).save_pretrained(folder)
    pictures = GroundingDinoImageProcessor(size={"shortest_edge": 64, "longest_edge": 96})
    GroundingDinoProcessor(pictures, words).save_pretrained(folder)
    return folder


def sam2(folder: Path) -> Path:
    """SAM 2 with a small Hiera."""
    from transformers import (
        Sam2Config,
        Sam2HieraDetConfig,
        Sam2ImageProcessor,
        Sam2MaskDecoderConfig,
        Sam2Model,
        Sam2Processor,
        Sam2PromptEncoderConfig,
        Sam2VisionConfig,
    )

    hiera = Sam2HieraDetConfig(
        hidden_size=8,
        num_attention_heads=1,
        image_size=[128, 128],
        blocks_per_stage=[1, 2, 2, 1],
        embed_dim_per_stage=[8, 16, 32, 64],
        num_attention_heads_per_stage=[1, 1, 1, 1],
        window_size_per_stage=[8, 4, 8, 4],
        global_attention_blocks=[4],
        window_positional_embedding_background_size=[4, 4],
    )
    vision = Sam2VisionConfig(
        backbone_config=hiera,
        backbone_channel_list=[64, 32, 16, 8],
        backbone_feature_sizes=[[32, 32], [16, 16], [8, 8]],
        fpn_hidden_size=32,
    )
    config = Sam2Config(
        vision_config=vision,
        prompt_encoder_config=Sam2PromptEncoderConfig(
            hidden_size=32, image_size=128, patch_size=16, mask_input_channels=8
        ),
        mask_decoder_config=Sam2MaskDecoderConfig(
            hidden_size=32, mlp_dim=32, num_attention_heads=2, iou_head_hidden_dim=32
        ),
    )
    _seeded()
    Sam2Model(config).save_pretrained(folder)
    pictures = Sam2ImageProcessor(
        size={"height": 128, "width": 128}, mask_size={"height": 32, "width": 32}
    )
    Sam2Processor(pictures).save_pretrained(folder)
    return folder


def videoscore(folder: Path, labels: int = 5) -> Path:
    """Idefics2 with the regression head."""
    from transformers import Idefics2Config, Idefics2ImageProcessor, Idefics2Processor

    from screentest.models.backends.videoscore import regression_class

    words = tokenizer(extra="<image> <fake_token_around_image> <end_of_utterance>")
    config = Idefics2Config(
        text_config={
            "model_type": "mistral",
            **_tower(vocab_size=len(words), num_key_value_heads=2, pad_token_id=0),
        },
        vision_config=_tower(image_size=28, patch_size=14),
        perceiver_config={
            "resampler_n_latents": 4,
            "resampler_depth": 1,
            "resampler_n_heads": 2,
            "resampler_head_dim": 8,
            "num_key_value_heads": 1,
        },
        image_token_id=words.convert_tokens_to_ids("<image>"),
        num_labels=labels,
    )
    _seeded()
    regression_class()(config).save_pretrained(folder)
    pictures = Idefics2ImageProcessor(
        do_image_splitting=False, size={"shortest_edge": 28, "longest_edge": 56}
    )
    Idefics2Processor(pictures, words, image_seq_len=4).save_pretrained(folder)
    return folder


def _talkative(model: Any) -> Any:
    """One that stops: any other token ends its answer, where a random one would go on forever."""
    vocabulary = model.get_input_embeddings().weight.shape[0]
    model.generation_config.eos_token_id = list(range(0, vocabulary, 2))
    model.generation_config.pad_token_id = 0
    return model


def blip2(folder: Path) -> Path:
    """A BLIP-2 with OPT, which describes pictures."""
    from transformers import (
        Blip2Config,
        Blip2ForConditionalGeneration,
        Blip2Processor,
        BlipImageProcessor,
    )

    words = tokenizer(extra="<image>")
    text = _tower(vocab_size=len(words), word_embed_proj_dim=32, ffn_dim=64, model_type="opt")
    text |= {"bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
    text |= {"max_position_embeddings": 64}
    asking = _tower(vocab_size=len(words), encoder_hidden_size=32, cross_attention_frequency=1)
    config = Blip2Config(
        vision_config=_tower(image_size=32, patch_size=8),
        qformer_config=asking,
        text_config=text,
        num_query_tokens=4,
        image_token_index=words.convert_tokens_to_ids("<image>"),
    )
    _seeded()
    model = Blip2ForConditionalGeneration(config)
    # Random weights say one token: "a".
    model.language_model.model.decoder.final_layer_norm.weight.data.zero_()
    said = model.language_model.get_input_embeddings().weight.data[words.convert_tokens_to_ids("a")]
    model.language_model.model.decoder.final_layer_norm.bias.data.copy_(10 * said)
    model.save_pretrained(folder)
    pictures = BlipImageProcessor(size={"height": 32, "width": 32})
    Blip2Processor(pictures, words, num_query_tokens=4).save_pretrained(folder)
    return folder


def text_model(folder: Path) -> Path:
    """A Qwen3 that reads text only."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    words = tokenizer()
    words.chat_template = "{% for m in messages %}{{ m.role }} : {{ m.content }} . {% endfor %}a :"
    config = Qwen3Config(
        **_tower(vocab_size=len(words), num_key_value_heads=2, head_dim=16),
        eos_token_id=3,
        pad_token_id=0,
    )
    _seeded()
    _talkative(Qwen3ForCausalLM(config)).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def vision_language_model(folder: Path) -> Path:
    """A Qwen2.5-VL."""
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2_5_VLProcessor,
        Qwen2VLImageProcessor,
        Qwen2VLVideoProcessor,
    )

    marks = "<|image_pad|> <|video_pad|> <|vision_start|> <|vision_end|>"
    words = tokenizer(extra=marks)
    template = (
        "{% for m in messages %}{{ m.role }} : {% for p in m.content %}"
        "{% if p.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
        "{% else %}{{ p.text }} {% endif %}{% endfor %} . {% endfor %}a :"
    )
    identifiers = dict(zip(marks.split(), words.convert_tokens_to_ids(marks.split()), strict=True))
    config = Qwen2_5_VLConfig(
        text_config=_tower(
            vocab_size=len(words),
            num_key_value_heads=2,
            rope_parameters={
                "rope_type": "default",
                "rope_theta": 10_000.0,
                "mrope_section": [2, 3, 3],
            },
        ),
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_heads": 2,
            "out_hidden_size": 32,
            "patch_size": 14,
            "fullatt_block_indexes": [1],
            "window_size": 56,
        },
        image_token_id=identifiers["<|image_pad|>"],
        video_token_id=identifiers["<|video_pad|>"],
        vision_start_token_id=identifiers["<|vision_start|>"],
        vision_end_token_id=identifiers["<|vision_end|>"],
        eos_token_id=3,
        pad_token_id=0,
    )
    _seeded()
    _talkative(Qwen2_5_VLForConditionalGeneration(config)).save_pretrained(folder)
    Qwen2_5_VLProcessor(
        Qwen2VLImageProcessor(size={"shortest_edge": 28 * 28, "longest_edge": 56 * 56}),
        words,
        Qwen2VLVideoProcessor(),
        chat_template=template,
    ).save_pretrained(folder)
    return folder


def stable_diffusion_inpainting(folder: Path) -> Path:
    """The inpainting pipeline with its nine-channel network."""
    from diffusers import (
        AutoencoderKL,
        DDIMScheduler,
        StableDiffusionInpaintPipeline,
        UNet2DConditionModel,
    )
    from transformers import CLIPTextConfig, CLIPTextModel

    words = tokenizer()
    words.model_max_length = 77
    _seeded()
    pipeline = StableDiffusionInpaintPipeline(
        vae=AutoencoderKL(
            block_out_channels=(8, 8, 8, 8),
            norm_num_groups=4,
            down_block_types=("DownEncoderBlock2D",) * 4,
            up_block_types=("UpDecoderBlock2D",) * 4,
            latent_channels=4,
        ),
        text_encoder=CLIPTextModel(
            CLIPTextConfig(
                **_tower(vocab_size=len(words)), bos_token_id=2, eos_token_id=3, pad_token_id=0
            )
        ),
        tokenizer=words,
        unet=UNet2DConditionModel(
            block_out_channels=(8, 16),
            norm_num_groups=4,
            layers_per_block=1,
            sample_size=8,
            in_channels=9,
            out_channels=4,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
            cross_attention_dim=32,
            attention_head_dim=4,
        ),
        scheduler=DDIMScheduler(clip_sample=False, steps_offset=1),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )
    pipeline.save_pretrained(folder)
    return folder


def qwen_image_edit(folder: Path) -> Path:
    """The editing pipeline of the 2509 release."""
    from diffusers import (
        AutoencoderKLQwenImage,
        FlowMatchEulerDiscreteScheduler,
        QwenImageEditPlusPipeline,
        QwenImageTransformer2DModel,
    )
    from transformers import Qwen2_5_VLForConditionalGeneration, Qwen2VLProcessor

    reader = vision_language_model(folder.parent / f"{folder.name}-reader")
    processor = Qwen2VLProcessor.from_pretrained(reader)
    _seeded()
    pipeline = QwenImageEditPlusPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True),
        vae=AutoencoderKLQwenImage(
            base_dim=8,
            z_dim=4,
            dim_mult=[1, 1, 1, 1],
            num_res_blocks=1,
            latents_mean=[0.0] * 4,
            latents_std=[1.0] * 4,
        ),
        text_encoder=Qwen2_5_VLForConditionalGeneration.from_pretrained(reader),
        tokenizer=processor.tokenizer,
        processor=processor,
        transformer=QwenImageTransformer2DModel(
            in_channels=16,
            out_channels=4,
            num_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=32,
            axes_dims_rope=(4, 6, 6),
        ),
    )
    pipeline.save_pretrained(folder)
    return folder
