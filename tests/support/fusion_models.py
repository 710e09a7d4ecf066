"""Tiny random models that fuse video and text, of transformers and of torch alone, with inputs and labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import torch
import transformers
from stressreel.evaluation.probes import TEXT, VIDEO, labels_for, labels_of_parts, labels_of_types, quag
from transformers.modeling_outputs import BaseModelOutput

V, T = VIDEO, TEXT
BATCH, HEADS = 2, 2
SMALL: dict[str, Any] = {
    **{"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": HEADS, "intermediate_size": 16},
    **{"vocab_size": 40, "max_position_embeddings": 64},
}
PADDING = 11


def words(length: int) -> Any:
    return torch.randint(5, 40, (BATCH, length), generator=torch.Generator().manual_seed(length))


def numbers(*shape: int) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(7))


def padded(length: int, by: int = 2) -> Any:
    """A mask whose second row ends in padding."""
    mask = torch.ones(BATCH, length, dtype=torch.long)
    mask[1, length - by :] = 0
    return mask


@dataclass
class Case:
    """A model, what it is called with, labels, and how many layers are probed."""

    model: Any
    inputs: dict[str, Any]
    labels: Any
    count: int = 2

    def run(self) -> Any:
        torch.random.default_generator.manual_seed(0)  # ViLT draws its patches
        with torch.no_grad():
            out = self.model(**self.inputs)
        return out.last_hidden_state if hasattr(out, "last_hidden_state") else out.logits

    def probe(self, quadrants: Any, **options: Any) -> tuple[Any, Any]:
        with quag(self.model, quadrants, **{"modality": self.labels, **options}) as report:
            out = self.run()
        return out, report

    def hooks(self) -> int:
        return sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in self.model.modules())


def made(name: str, kind: str = "Model", **config: Any) -> Any:
    """A model by the name of its classes in transformers."""
    return getattr(transformers, f"{name}{kind}")(getattr(transformers, f"{name}Config")(**config))


def bert() -> Case:
    types = torch.tensor([[0] * 4 + [1] * 5] * BATCH)
    labels = labels_of_types(types, {0: T, 1: V}, attention_mask=padded(9))
    inputs = {"input_ids": words(9), "token_type_ids": types, "attention_mask": padded(9)}
    return Case(made("Bert", **SMALL), inputs, labels)


def video_first(model: Any) -> Case:
    labels = labels_of_parts((V, padded(9)[:, :4]), (T, padded(9)[:, 4:]))
    return Case(model, {"input_ids": words(9), "attention_mask": padded(9)}, labels)


def deberta() -> Case:
    return video_first(made("DebertaV2", **SMALL, relative_attention=True, pos_att_type=["p2c", "c2p"]))


def t5() -> Case:
    shape = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 2, "num_heads": HEADS, "vocab_size": 40}
    one = video_first(made("T5", "ForConditionalGeneration", **shape, decoder_start_token_id=0))
    return Case(one.model, {**one.inputs, "decoder_input_ids": words(6)}, [one.labels, np.full((BATCH, 6), T)], 6)


def labelled(model: Any, inputs: dict[str, Any], count: int = 2, config: Any = None) -> Case:
    return Case(model, inputs, labels_for(config or model.config, inputs), count)


def visual_bert() -> Case:
    inputs = {"input_ids": words(5), "attention_mask": padded(5)}
    inputs |= {"visual_embeds": numbers(BATCH, 4, 6), "visual_attention_mask": padded(4, 1)}
    return labelled(made("VisualBert", **SMALL, visual_embedding_dim=6), inputs)


def vilt() -> Case:
    mask = torch.ones(BATCH, 16, 16, dtype=torch.long)
    mask[1, :, 8:] = 0
    inputs = {"input_ids": words(5), "attention_mask": padded(5)}
    inputs |= {"pixel_values": numbers(BATCH, 3, 16, 16), "pixel_mask": mask}
    return labelled(made("Vilt", **SMALL, image_size=16, patch_size=8, max_image_length=-1), inputs)


class Lxmert(torch.nn.Module):
    """LXMERT with both streams as one tensor."""

    def __init__(self) -> None:
        super().__init__()
        some = {name: value for name, value in SMALL.items() if name != "num_hidden_layers"}
        self.inner = made("Lxmert", **some, l_layers=1, x_layers=2, r_layers=1, visual_feat_dim=6)

    def forward(self, **inputs: Any) -> Any:
        out = self.inner(**inputs)
        return BaseModelOutput(last_hidden_state=torch.cat([out.language_output, out.vision_output], 1))


def lxmert() -> Case:
    model = Lxmert()
    inputs = {"input_ids": words(5), "attention_mask": padded(5), "visual_attention_mask": padded(4, 1)}
    inputs |= {"visual_feats": numbers(BATCH, 4, 6), "visual_pos": torch.rand(BATCH, 4, 4)}
    return labelled(model, inputs, 8, model.inner.config)


def qwen2_vl() -> Case:
    text = {**SMALL, "num_key_value_heads": 1, "rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2]}}
    vision = {"depth": 1, "embed_dim": 16, "num_heads": 2, "hidden_size": 16, "mlp_ratio": 1, "patch_size": 4}
    special = {"image_token_id": 1, "video_token_id": 2, "vision_start_token_id": 3, "vision_end_token_id": 4}
    model = made("Qwen2VL", "ForConditionalGeneration", text_config=text, vision_config=vision, **special)
    ids = torch.tensor([[5, 6, 3, *[2] * 8, 4, 7, 8, 9, 10]] * BATCH)
    ids[1, -2:] = PADDING
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    inputs |= {
        "pixel_values_videos": numbers(BATCH * 32, 3 * 2 * 4 * 4),
        "mm_token_type_ids": torch.where(ids == 2, 2, 0),
    }
    # 2 times, 16 patches each, merged by 4: 8 tokens
    return labelled(model, {**inputs, "video_grid_thw": torch.tensor([[2, 4, 4]] * BATCH)})


def llava_onevision() -> Case:
    """Two videos of two frames each; the second question is padded on the right."""
    vision = {
        **{"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2},
        **{"image_size": 16, "patch_size": 4, "model_type": "siglip_vision_model", "vision_use_head": False},
    }
    text = {**SMALL, "model_type": "qwen2", "num_key_value_heads": 1}
    special = {"image_token_index": 1, "video_token_index": 2}
    model = made("LlavaOnevision", "ForConditionalGeneration", text_config=text, vision_config=vision, **special)
    video = 2 * 4 + 1  # 2 frames, 16 patches each, pooled to 4; and the token of a new line
    ids = torch.tensor([[5, 6, *[2] * video, 7, 8, 9, 10]] * BATCH)
    ids[1, -2:] = PADDING
    videos = numbers(BATCH, 2, 3, 16, 16)
    return labelled(model, {"input_ids": ids, "attention_mask": padded(ids.shape[1], 1), "pixel_values_videos": videos})


class SomeAttention(torch.nn.Module):
    """Attention by `kind`: fused, with batch and heads as one axis, with a second softmax, or without any."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind, self.inner = kind, torch.nn.Linear(16, 48)

    def forward(self, x: Any) -> Any:
        q, k, v = self.inner(x).view(BATCH, -1, 3, HEADS, 8).permute(2, 0, 3, 1, 4)
        if self.kind == "fused":
            out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        elif self.kind == "folded":
            q, k, v = (one.reshape(BATCH * HEADS, -1, 8) for one in (q, k, v))
            out = ((q @ k.transpose(1, 2) / 3).softmax(dim=-1) @ v).view(BATCH, HEADS, -1, 8)
        elif self.kind == "twice":
            out = ((q @ k.transpose(-1, -2)).softmax(-1) @ v).softmax(-1)
        else:
            powers = (q @ k.transpose(-1, -2)).exp()
            out = powers / powers.sum(-1, keepdim=True) @ v
        return out.transpose(1, 2).reshape(BATCH, -1, 16)


class Own(torch.nn.Module):
    """No model of transformers; "torch": torch's own encoder."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        if kind == "torch":
            layer = torch.nn.TransformerEncoderLayer(16, HEADS, 16, batch_first=True)
            self.layers: Any = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        else:
            self.layers = torch.nn.Sequential(SomeAttention(kind), SomeAttention(kind))
        self.router = torch.nn.Linear(16, 9)

    def forward(self, x: Any) -> Any:
        out = self.layers(x)
        routed = torch.softmax(self.router(out), -1)  # its axes match by luck
        return BaseModelOutput(last_hidden_state=out + routed.sum(-1, keepdim=True))


def own(kind: str) -> Case:
    return Case(Own(kind), {"x": numbers(BATCH, 9, 16)}, [V] * 4 + [T] * 5)


CASES: dict[str, Callable[[], Case]] = {
    **{make.__name__: make for make in (bert, deberta, visual_bert, vilt, lxmert, t5, qwen2_vl, llava_onevision)},
    **{f"own {kind}": partial(own, kind) for kind in ("fused", "folded", "torch")},
}


@cache
def case(name: str) -> Case:
    with torch.random.fork_rng():
        torch.random.default_generator.manual_seed(0)
        found = CASES[name]()
        found.model.eval()
        with torch.no_grad():
            for parameter in found.model.parameters():  # attention far from uniform
                if parameter.ndim > 1:
                    parameter.normal_(0, 0.6)
    return found
