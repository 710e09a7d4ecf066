"""Perturb captions.

Source: Schiappa et al. 2022 (arXiv 2207.02159), section 3.2, appendix A.2, Table 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...annotations.captions import CaptionedClip, caption_id
from ...core.errors import StressreelError
from ...core.files import sha256_file, sha256_text
from ...core.plan import Facts, Unit
from ...core.schema import Row
from ...corruptions.registry import TextCorruption, check_text_name
from ...corruptions.text.engine import TextRecipe

if TYPE_CHECKING:
    from ...corruptions.text.tools import Tools
    from .settings import PerturbedSettings

BLOCK = 500
"""Captions per unit, which is the maximum that an interruption loses."""

MODELS = ("mlm", "translation")
"""Needs that are language models; see `TextCorruption.needs`."""


def text_units(clips: Iterable[CaptionedClip], names: Sequence[str]) -> Iterator[Unit]:
    """Divide captions into units by perturbation, split and block. Unit ids start with a dot, unlike video names."""
    captions: dict[str, list[list[str]]] = {}
    for clip in clips:
        captions.setdefault(clip.split, []).extend(
            [caption_id(clip.id, number), clip.id, text] for number, text in enumerate(clip.captions)
        )
    for split, rows in sorted(captions.items()):
        for number, start in enumerate(range(0, len(rows), BLOCK)):
            block = rows[start : start + BLOCK]
            for name in names:
                payload = {"text": name, "captions": block}
                yield Unit(f".text.{name}.{split}.{number:05d}", split, "", payload, tables=(name,), pieces=len(block))


def is_text(unit: Unit) -> bool:
    """Return whether a unit consists of captions."""
    return "text" in unit.payload


def perturb_texts(unit: Unit, settings: PerturbedSettings, tools: Tools) -> Facts:
    """Perturb the captions of a unit.

    Returns:
        Facts with "texts", one pair per caption: (new text, None), or (None, reason why it is unchanged).

    Raises:
        RuntimeError: A perturbation failed on a caption, which the message quotes.
    """
    texts: list[tuple[str | None, str | None]] = []
    corruption, style = check_text_name(unit.payload["text"]), settings.caption_style or "declarative"
    for key, _, text in unit.payload["captions"]:
        try:
            result = TextRecipe(corruption, settings.seed, key, style, settings.text_mode).apply(text, tools)
        except StressreelError:
            raise
        except Exception as error:
            raise RuntimeError(f"caption {key}, {text!r}: {type(error).__name__}: {error}") from error
        texts.append((result.text, None) if result.changed else (None, result.reason))
    return {"files": {}, "texts": texts}


def text_rows(unit: Unit, facts: Facts) -> Iterator[tuple[str, Row]]:
    """Yield one row for each caption of a unit."""
    for (key, clip, original), (text, reason) in zip(unit.payload["captions"], facts["texts"], strict=True):
        yield (
            unit.payload["text"],
            {
                "caption_id": key,
                "perturbation": unit.payload["text"],
                "clip_id": clip,
                "caption": original if text is None else text,
                "original": original,
                "changed": text is not None,
                "reason": reason,
            },
        )


def text_tables(names: Sequence[str]) -> dict[str, str]:
    """Return the hashes of the declarations and word tables that determine the perturbed captions."""
    if not names:
        return {}
    corruptions = [check_text_name(name) for name in names]
    folder = Path(__file__).parents[2] / "corruptions" / "text"
    files = sorted(path for path in (folder / f"{c.family}.yaml" for c in corruptions) if path.is_file())
    return {
        "text.yaml": sha256_text(repr(corruptions)),
        **{f"text/{path.name}": sha256_file(path) for path in files},
    }


def text_tools(tools: Tools, corruptions: Sequence[TextCorruption], mode: str = "stressreel") -> dict[str, str]:
    """Describe the tools that determine the perturbed captions, for `build.json` and the card.

    Models on the Hub are identified by revision, local folders only by hashes.

    Raises:
        InputError: A required tool is missing.
    """
    return {tool: _one_line(identity) for tool, identity in tools.identity(corruptions, mode).items()}


def _one_line(identity: Any) -> str:
    if isinstance(identity, list):
        return ", ".join(map(_one_line, identity))
    if isinstance(identity, dict):
        hub = bool(identity.get("revision"))
        shown = {key: value for key, value in identity.items() if key != "revision" and (hub or key != "name")}
        if hub:
            shown["name"] = f"{identity['name']}@{identity['revision']}"
        return " ".join(f"{key} {_one_line(value)}" if key != "name" else value for key, value in shown.items())
    return str(identity)
