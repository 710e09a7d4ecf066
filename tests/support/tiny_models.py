"""Image-text models of transformers, tiny and random, saved as a user has them: weights, tokenizer, processor."""

from __future__ import annotations

import json
import string
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import yaml

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = [*SPECIAL, "a", "man", "dog", "sings", "##s", "woman", "horse", "rides", "!"]
LIKELIEST = ["##s", "!", "[SEP]", "woman", "horse", "dog"]  # the first three are not whole words
TEMPLATE = (
    "{% for m in messages %}{% for c in m['content'] %}{% if c['type'] == 'image' %}IMAGE"
    "{% elif c['type'] == 'video' %}VIDEO{% else %}{{ c['text'] }}{% endif %}{% endfor %}{% endfor %}:"
)


def write(name: str, folder: Path, seed: int = 0) -> Path:
    """Save a model of `tiny_models.yaml`, of a few thousand weights."""
    import torch
    import transformers

    about = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))[name]
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = write_tokenizer(folder, about)
    getattr(transformers, about["image_processor"])(**about["image"]).save_pretrained(folder)
    processors = {  # whose classes need torchvision
        "video_preprocessor_config": {"video_processor_type": about["video_processor"], **about["video"]},
        "processor_config": {"processor_class": f"{name}Processor", **about.get("processor", {})},
    }
    for file, content in processors.items():
        (folder / f"{file}.json").write_text(json.dumps(content))
    config = getattr(transformers, f"{name}Config")(**_with_ids(about["config"], vocabulary))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = getattr(transformers, f"{name}ForConditionalGeneration")(config)
    model.generation_config.update(eos_token_id=3, pad_token_id=1, bos_token_id=2)
    model.save_pretrained(folder)
    return folder


write_llava_onevision, write_internvl, write_smolvlm = (
    partial(write, name) for name in ("LlavaOnevision", "InternVL", "SmolVLM")
)


def write_qwen2_vl(folder: Path, seed: int = 0, version: str = "2") -> Path:
    """Save a Qwen2-VL, or with version "2_5" a Qwen2.5-VL."""
    return write("Qwen2VL" if version == "2" else "Qwen2_5_VL", folder, seed)


def write_tokenizer(folder: Path, about: Mapping[str, Any]) -> dict[str, int]:
    """Save a tokenizer of single characters, with a chat template, and special tokens as attributes."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    specials = about["specials"].values() if isinstance(about["specials"], dict) else about["specials"]
    pieces = ["<unk>", "<pad>", "<s>", "</s>", *string.ascii_letters, *string.digits, *" .,:;?!'\n-_"]
    single = Tokenizer(models.WordLevel({piece: at for at, piece in enumerate(pieces)}, unk_token="<unk>"))
    single.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    single.decoder = decoders.Fuse()
    common = {"unk_token": "<unk>", "pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
    attributes = {"extra_special_tokens": about["attributes"]} if "attributes" in about else {}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=single, **common, **attributes)
    tokenizer.add_special_tokens({"additional_special_tokens": list(specials)})
    image, video = about["shown"]
    tokenizer.chat_template = TEMPLATE.replace("IMAGE", image).replace("VIDEO", video)
    tokenizer.save_pretrained(folder)
    return {**tokenizer.get_vocab(), "VOCABULARY": len(tokenizer)}


def _with_ids(value: Any, ids: Mapping[str, int]) -> Any:
    if isinstance(value, dict):
        return {name: _with_ids(each, ids) for name, each in value.items()}
    return ids.get(value, value) if isinstance(value, str) else value


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
