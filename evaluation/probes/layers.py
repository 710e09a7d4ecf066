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
    modules = attention_modules(model, attention)
    foreign_names = _foreign(model)
    default_names = [name for name in modules if not (foreign_names & set(_ancestors(name)) or _outside(name))]
    if layers is None:
        selected = default_names
    else:
        patterns = [layers] if isinstance(layers, str | int) else list(layers)
        matches = [_matching(pattern, default_names, list(modules)) for pattern in patterns]
        selected = [name for name in modules if any(name in names for names in matches)]
    if not selected:
        raise ProbeError(
            f"{type(model).__name__} has no attention module that is probed by default. "
            + (f"To probe {shown(modules)}, select them by name with `layers`. " if modules else "")
            + "Modules are recognised by the name of their class (…Attention); pass other classes with `attention`."
        )
    return {name: modules[name] for name in selected}


def attention_modules(model: Module, attention: type | tuple[type, ...] | None) -> dict[str, Module]:
    """Return all attention modules that contain no other attention module, by name."""

    def counts(module: Module) -> bool:
        if attention is not None:
            return isinstance(module, attention)
        return ATTENTION.search(type(module).__name__) is not None

    modules = {name: module for name, module in model.named_modules() if counts(module)}
    containers = {ancestor for name in modules for ancestor in _ancestors(name) if ancestor != name}
    return {name: module for name, module in modules.items() if name not in containers}


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


def _matching(pattern: str | int, default_names: list[str], all_names: list[str]) -> list[str]:
    if isinstance(pattern, str):
        names = [name for name in all_names if fnmatchcase(name, pattern)]
    else:
        names = default_names[pattern : pattern + 1] if pattern >= 0 else []
    if not names:
        raise UsageError(
            f"no attention module matches {pattern!r} in `layers`. Valid indices: 0 to {len(default_names) - 1}. Valid "
            f"names: {shown(all_names, 40)}."
        )
    return names
