"""Select which attention modules of a model to probe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ...core.errors import ProbeError, UsageError

if TYPE_CHECKING:
    from torch.nn import Module

ATTENTION = re.compile(r"(?:Attention|Attn|MHA|MHSA)(?:V?\d+)?$")
"""Pattern for class names of attention modules."""
OUTSIDE = re.compile(
    r"(?:vision|visual|image|video|audio|speech)(?:_(?:tower|model|encoder|backbone|resampler))?"
    r"|(?:mm_|multi_modal_)?(?:projector|connector|resampler)|(?:perceiver|q_?former)(?:_.+)?|(?:.+_)?(?:pooler|pooling)"
    r"|(?:.+_)?(?:router|sampler)"
)
"""Pattern for parts of module names whose attention does not fuse modalities. They must be selected by name."""
OWN_CONFIGS = ("vision_config", "audio_config", "video_config", "image_config", "qformer_config", "perceiver_config")


def chosen_layers(
    model: Module, layers: str | int | Sequence[str | int] | None, attention: type | tuple[type, ...] | None
) -> dict[str, Module]:
    """Return the selected attention modules by name, in the order of the model; see `quag`."""
    every = attention_modules(model, attention)
    foreign = _foreign(model)
    usual = [name for name in every if not (foreign & set(_ancestors(name)) or _outside(name))]
    if layers is None:
        wanted = usual
    else:
        asked = [layers] if isinstance(layers, str | int) else list(layers)
        found = [_matching(one, usual, list(every)) for one in asked]
        wanted = [name for name in every if any(name in names for names in found)]
    if not wanted:
        raise ProbeError(
            f"{type(model).__name__} has no attention module that is probed by default. "
            + (f"To probe {shown(every)}, select them by name with `layers`. " if every else "")
            + "Modules are recognised by the name of their class (…Attention); pass other classes with `attention`."
        )
    return {name: every[name] for name in wanted}


def attention_modules(model: Module, attention: type | tuple[type, ...] | None) -> dict[str, Module]:
    """Return all attention modules that contain no other attention module, by name."""

    def counts(module: Module) -> bool:
        if attention is not None:
            return isinstance(module, attention)
        return ATTENTION.search(type(module).__name__) is not None

    found = {name: module for name, module in model.named_modules() if counts(module)}
    holding = {above for name in found for above in _ancestors(name) if above != name}
    return {name: module for name, module in found.items() if name not in holding}


def shown(names: Iterable[str], limit: int = 8) -> str:
    """Join up to `limit` names for a message."""
    listed = [name or "the model itself" for name in names]
    return ", ".join(listed[:limit]) + (f" and {len(listed) - limit} more" if len(listed) > limit else "")


def _ancestors(name: str) -> list[str]:
    parts = name.split(".") if name else []
    return ["", *(".".join(parts[: count + 1]) for count in range(len(parts)))]


def _outside(name: str) -> bool:
    return any(OUTSIDE.fullmatch(part) for part in name.split("."))


def _foreign(model: Module) -> set[str]:
    configs = {
        id(inner)
        for module in model.modules()
        for key in OWN_CONFIGS
        if (inner := getattr(getattr(module, "config", None), key, None)) is not None
    }
    return {name for name, module in model.named_modules() if name and id(getattr(module, "config", None)) in configs}


def _matching(asked: str | int, usual: list[str], every: list[str]) -> list[str]:
    if isinstance(asked, str):
        names = [name for name in every if fnmatchcase(name, asked)]
    else:
        names = usual[asked : asked + 1] if asked >= 0 else []
    if not names:
        raise UsageError(
            f"no attention module matches {asked!r} in `layers`. Valid indices: 0 to {len(usual) - 1}. Valid names: "
            f"{shown(every, 40)}."
        )
    return names
