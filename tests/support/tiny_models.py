"""Image-text models of transformers, tiny and random, saved as a user has them: weights, tokenizer, processor."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = [*SPECIAL, "a", "man", "dog", "sings", "##s", "woman", "horse", "rides", "!"]
LIKELIEST = ["##s", "!", "[SEP]", "woman", "horse", "dog"]  # the first three are not whole words
VISION = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
TEMPLATE = (
    "{% for m in messages %}{% for c in m['content'] %}{% if c['type'] == 'image' %}IMAGE"
    "{% elif c['type'] == 'video' %}VIDEO{% else %}{{ c['text'] }}{% endif %}{% endfor %}{% endfor %}:"
)


def write_tokenizer(folder: Path, specials: tuple[str, ...], image: str, video: str, **named: str) -> Any:
    """Save a tokenizer of single characters, with a chat template, and special tokens as attributes."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    folder.mkdir(parents=True, exist_ok=True)
    letters = [*string.ascii_letters, *string.digits, *" .,:;?!'\n-_"]
    vocabulary = {piece: number for number, piece in enumerate(["<unk>", "<pad>", "<s>", "</s>", *letters])}
    single = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    single.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    single.decoder = decoders.Fuse()
    found = transformers.PreTrainedTokenizerFast(
        tokenizer_object=single,
        unk_token="<unk>",
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        **({"extra_special_tokens": named} if named else {}),
    )
    found.add_special_tokens({"additional_special_tokens": list(specials)})
    found.chat_template = TEMPLATE.replace("IMAGE", image).replace("VIDEO", video)
    found.save_pretrained(folder)
    return found


def write_video_processor(folder: Path, kind: str, **settings: Any) -> None:
    """Save the settings of a video processor, whose class needs torchvision."""
    (folder / "video_preprocessor_config.json").write_text(json.dumps({"video_processor_type": kind, **settings}))


def write_qwen2_vl(folder: Path, seed: int = 0, version: str = "2") -> Path:
    """Save a Qwen2-VL, or with version "2_5" a Qwen2.5-VL, of a few thousand weights."""
    import torch
    import transformers
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    places = (f"<|vision_start|><|{what}_pad|><|vision_end|>" for what in ("image", "video"))
    tokenizer = write_tokenizer(folder, VISION, *places)
    Qwen2VLImageProcessorPil(min_pixels=28 * 28, max_pixels=56 * 56).save_pretrained(folder)
    size = {"shortest_edge": 28 * 28, "longest_edge": 112 * 112}
    write_video_processor(folder, "Qwen2VLVideoProcessor", size=size, cap_pixels_per_frame=False)
    ids = dict(zip(VISION, tokenizer.convert_tokens_to_ids(VISION), strict=True))
    vision = {"depth": 1, "num_heads": 2, "patch_size": 14, "hidden_size": 32, "embed_dim": 16, "mlp_ratio": 2}
    if version == "2_5":
        vision = {
            **{"depth": 1, "num_heads": 2, "patch_size": 14, "hidden_size": 16, "out_hidden_size": 32},
            **{"intermediate_size": 16, "fullatt_block_indexes": [0]},
        }
        (folder / "processor_config.json").write_text('{"processor_class": "Qwen2_5_VLProcessor"}')
    config = getattr(transformers, f"Qwen{version}VLConfig".replace("_5V", "_5_V"))(
        text_config={
            **_text(tokenizer),
            "rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 1e4},
        },
        vision_config=vision,
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
    )
    kind = getattr(transformers, type(config).__name__.replace("Config", "ForConditionalGeneration"))
    return _save(kind, config, folder, seed, torch)


def write_llava_onevision(folder: Path, seed: int = 0) -> Path:
    import torch
    import transformers
    from transformers.models.llava_onevision.image_processing_pil_llava_onevision import LlavaOnevisionImageProcessorPil

    tokenizer = write_tokenizer(folder, ("<image>", "<video>"), "<image>", "<video>")
    size = {"height": 28, "width": 28}
    LlavaOnevisionImageProcessorPil(size=size, image_grid_pinpoints=[[28, 28], [28, 56]]).save_pretrained(folder)
    write_video_processor(folder, "LlavaOnevisionVideoProcessor", size=size)
    image, video = tokenizer.convert_tokens_to_ids(["<image>", "<video>"])
    config = transformers.LlavaOnevisionConfig(
        text_config={"model_type": "qwen2", **_text(tokenizer)},
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


def write_internvl(folder: Path, seed: int = 0) -> Path:
    import torch
    import transformers
    from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import GotOcr2ImageProcessorPil

    named = {
        "start_image_token": "<img>",
        "end_image_token": "</img>",
        "context_image_token": "<IMG_CONTEXT>",
        "video_token": "<video>",
    }
    tokenizer = write_tokenizer(folder, tuple(named.values()), "<IMG_CONTEXT>", "<video>", **named)
    size = {"height": 28, "width": 28}
    GotOcr2ImageProcessorPil(size=size, max_patches=1).save_pretrained(folder)
    write_video_processor(folder, "InternVLVideoProcessor", size=size)
    (folder / "processor_config.json").write_text('{"processor_class": "InternVLProcessor", "image_seq_length": 1}')
    config = transformers.InternVLConfig(
        text_config={"model_type": "qwen2", **_text(tokenizer)},
        vision_config={
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "image_size": [28, 28],
            "patch_size": [14, 14],
        },
        image_token_id=tokenizer.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=1,
    )
    return _save(transformers.InternVLForConditionalGeneration, config, folder, seed, torch)


def write_smolvlm(folder: Path, seed: int = 0) -> Path:
    import torch
    import transformers
    from transformers.models.smolvlm.image_processing_pil_smolvlm import SmolVLMImageProcessorPil

    specials = ("<fake_token_around_image>", "<global-img>", "<image>", "<end_of_utterance>")
    tokenizer = write_tokenizer(folder, specials, "<image>", "<video>")
    side = {"longest_edge": 28}
    SmolVLMImageProcessorPil(size=side, max_image_size=side, do_image_splitting=False).save_pretrained(folder)
    sampling = {"max_frames": 8, "fps": 1, "video_size": side}
    write_video_processor(folder, "SmolVLMVideoProcessor", size=side, max_image_size=side, video_sampling=sampling)
    (folder / "processor_config.json").write_text('{"processor_class": "SmolVLMProcessor", "image_seq_len": 1}')
    config = transformers.SmolVLMConfig(
        text_config={"model_type": "llama", **_text(tokenizer)},
        vision_config={
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "image_size": 28,
            "patch_size": 14,
        },
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        scale_factor=2,
        pad_token_id=1,
    )
    return _save(transformers.SmolVLMForConditionalGeneration, config, folder, seed, torch)


def write_mlm(folder: Path) -> Path:
    """Save a BERT without knowledge, whose output bias makes some pieces likely everywhere."""
    import torch
    import transformers

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    model = transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=len(PIECES), **shape))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        for rank, piece in enumerate(LIKELIEST):
            model.cls.predictions.bias[PIECES.index(piece)] = 10 - rank
    model.save_pretrained(folder)
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def _text(tokenizer: Any) -> dict[str, int]:
    return {
        "hidden_size": 32,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": len(tokenizer),
        "bos_token_id": 2,
        "eos_token_id": 3,
        "pad_token_id": 1,
    }


def _save(kind: Any, config: Any, folder: Path, seed: int, torch: Any) -> Path:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = kind(config)
    model.generation_config.update(eos_token_id=3, pad_token_id=1, bos_token_id=2)
    model.save_pretrained(folder)
    return folder
