"""Image-text models of transformers, tiny and random, saved as a user has them: weights, tokenizer, processor."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

VISION = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
TEMPLATE = (
    "{% for m in messages %}{% for c in m['content'] %}{% if c['type'] == 'image' %}IMAGE{% else %}{{ c['text'] }}"
    "{% endif %}{% endfor %}{% endfor %}:"
)


def write_tokenizer(folder: Path, specials: tuple[str, ...], image: str) -> Any:
    """Save a tokenizer of single characters, with a chat template."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    folder.mkdir(parents=True, exist_ok=True)
    letters = [*string.ascii_letters, *string.digits, *" .,:;?!'\n-_"]
    vocabulary = {piece: number for number, piece in enumerate(["<unk>", "<pad>", "<s>", "</s>", *letters])}
    single = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    single.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    single.decoder = decoders.Fuse()
    found = transformers.PreTrainedTokenizerFast(
        tokenizer_object=single, unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>"
    )
    found.add_special_tokens({"additional_special_tokens": list(specials)})
    found.chat_template = TEMPLATE.replace("IMAGE", image)
    found.save_pretrained(folder)
    return found


def write_qwen2_vl(folder: Path, seed: int = 0) -> Path:
    """Save a Qwen2-VL of a few thousand weights."""
    import torch
    import transformers
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    tokenizer = write_tokenizer(folder, VISION, "<|vision_start|><|image_pad|><|vision_end|>")
    Qwen2VLImageProcessorPil(min_pixels=28 * 28, max_pixels=56 * 56).save_pretrained(folder)
    ids = dict(zip(VISION, tokenizer.convert_tokens_to_ids(VISION), strict=True))
    config = transformers.Qwen2VLConfig(
        text_config={
            "hidden_size": 32,
            "intermediate_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "vocab_size": len(tokenizer),
            "rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 1e4},
            "bos_token_id": 2,
            "eos_token_id": 3,
            "pad_token_id": 1,
        },
        vision_config={
            "depth": 1, "embed_dim": 16, "hidden_size": 32, "num_heads": 2, "mlp_ratio": 2, "patch_size": 14
        },
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
    )  # fmt: skip
    return _save(transformers.Qwen2VLForConditionalGeneration, config, folder, seed, torch)


def write_llava_onevision(folder: Path, seed: int = 0) -> Path:
    """Save a LLaVA-OneVision of a few thousand weights."""
    import torch
    import transformers
    from transformers.models.llava_onevision.image_processing_pil_llava_onevision import (
        LlavaOnevisionImageProcessorPil,
    )

    tokenizer = write_tokenizer(folder, ("<image>", "<video>"), "<image>")
    size = {"height": 28, "width": 28}
    LlavaOnevisionImageProcessorPil(size=size, image_grid_pinpoints=[[28, 28], [28, 56]]).save_pretrained(folder)
    image, video = tokenizer.convert_tokens_to_ids(["<image>", "<video>"])
    config = transformers.LlavaOnevisionConfig(
        text_config={
            "model_type": "qwen2",
            "hidden_size": 32,
            "intermediate_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "vocab_size": len(tokenizer),
            "bos_token_id": 2,
            "eos_token_id": 3,
            "pad_token_id": 1,
        },
        vision_config={
            "model_type": "siglip_vision_model",
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_size": 28,
            "patch_size": 14,
            "vision_use_head": False,
        },
        image_token_index=image,
        video_token_index=video,
        image_grid_pinpoints=[[28, 28], [28, 56]],
        vision_feature_select_strategy="full",
    )
    (folder / "processor_config.json").write_text(
        '{"processor_class": "LlavaOnevisionProcessor", "num_image_tokens": 4, '
        '"vision_feature_select_strategy": "full"}'
    )
    return _save(transformers.LlavaOnevisionForConditionalGeneration, config, folder, seed, torch)


def _save(kind: Any, config: Any, folder: Path, seed: int, torch: Any) -> Path:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = kind(config)
    model.generation_config.update(eos_token_id=3, pad_token_id=1, bos_token_id=2)
    model.save_pretrained(folder)
    return folder
