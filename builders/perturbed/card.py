"""Fill in the dataset card of a suite, whose text is in `card.md.j2`."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from ...core.output import FinishedOutput
from ...core.plan import LEFT_OUT
from ...core.source import source_of
from ...corruptions.registry import check_name, check_text_name, text_corruptions
from ...data_cards.card import Card
from ...data_cards.figures import Strip, contact_sheet, frames_at
from ...evaluation.metrics.text_shift import read_text_shift
from .captions import MODELS
from .render import PLACE
from .settings import settings_of
from .tables import CLEAN, MULTIMODAL, suite_configs, visual_tables

SIDE = 180
EARLY = 25  # last frame for the contact sheet; each of the 90 files is decoded up to it


class PerturbedCard(Card):
    """The card of a suite."""

    folder = Path(__file__).parent

    def front_matter(self, output: FinishedOutput) -> dict[str, Any]:
        """Return the fields of the YAML header that are specific to this benchmark."""
        source, settings = source_of(output.info), output.info["settings"]
        head = super().front_matter(output)
        if not settings["text_perturbations"]:
            head["pretty_name"] += ", visual half"
        elif not settings["perturbations"]:
            head["pretty_name"] += ", text half"
        if not source.drawn:
            head["pretty_name"] += ", built with stressreel"
        if source.key == "captions":
            del head["language"]
        return head

    def fields(self, output: FinishedOutput) -> dict[str, Any]:
        """Compute the fields of the template. No videos are read."""
        info, settings = output.info, output.info["settings"]
        kind = source_of(info).key
        visual, texts = settings["perturbations"], settings["text_perturbations"]
        columns = ["captions", "source_id", "start_s", "end_s", *PLACE]
        clips = list(output.whole(CLEAN, columns))
        decoded = [(row["num_frames"] / row["fps"], row["fps"]) for row in clips if row["num_frames"]]
        lengths = [length for length, _ in decoded] or [
            row["end_s"] - row["start_s"] for row in clips if row["end_s"] is not None
        ]
        changed = {name: changed_by_severity(output, name) for name in visual if settings["render"]}
        return {
            "kind": kind,
            "paper": self.words["paper"].get(kind),
            "severities": settings["severity"],
            "corruptions": [check_name(name) for name in visual],
            "scopes": self.words["scopes"],
            "example": "gaussian_noise" if "gaussian_noise" in visual else [*visual, *texts][0],
            "groups": config_groups(output),
            "rows": {name: sum(splits.values()) for name, splits in info["counts"].items()},
            "visual_rows": sum(sum(info["counts"][name].values()) for name in visual_tables(info)),
            "clips": len(clips),
            "videos": len({row["source_id"] for row in clips}),
            "captions": sum(len(row["captions"]) for row in clips),
            "cut": any(row["start_s"] is not None for row in clips),
            "seconds": sum(lengths) if lengths else None,
            "lengths": sorted(length for length, _ in decoded),
            "rates": sorted(rate for _, rate in decoded),
            "without_effect": {name: shares for name, shares in changed.items() if min(shares.values()) < 1},
            "text": measure_captions(output) if texts else None,
            "jsfusion": any("JSFUSION" in name for name in info["inputs"]),
        }

    def figures(self, output: FinishedOutput, fields: Mapping[str, Any]) -> dict[str, bytes]:
        """Draw the figures, and return PNG files by name."""
        sheet = pixels_png(output)
        return {} if sheet is None else {"pixels.png": sheet}


def changed_by_severity(output: FinishedOutput, name: str) -> dict[int, float]:
    """Return the share of a perturbation's videos that differ from `clean`, by severity."""
    changed: dict[int, list[bool]] = {}
    for row in output.whole(name, ["severity", "changed"]):
        changed.setdefault(row["severity"], []).append(bool(row["changed"]))
    return {severity: sum(flags) / len(flags) for severity, flags in sorted(changed.items())}


def measure_captions(output: FinishedOutput) -> dict[str, Any]:
    """Count the perturbed captions of a suite, and choose an example of each perturbation.

    Returns:
        "tables", each with its perturbation ("corruption"), the number of "captions", the share "changed" and an
        "example" (original, perturbed) or None; "total" captions and the share "changed" of all; "pairs" of
        combinations; "left_out", perturbations that need a language model and are not in the build; and "shift", the
        report of `stressreel score text-shift` or None.
    """
    settings = output.info["settings"]
    names = settings["text_perturbations"]
    tables: list[dict[str, Any]] = []
    for name in names:
        rows = list(output.whole(name, ["caption", "original", "changed"]))
        changed = [(row["original"], row["caption"]) for row in rows if row["changed"]]
        tables.append(
            {
                "corruption": check_text_name(name),
                "captions": len(rows),
                "changed": len(changed) / len(rows),
                "example": changed[len(changed) // 2] if changed else None,
            }
        )
    total = sum(table["captions"] for table in tables)
    need_models = [corruption.name for corruption in text_corruptions().values() if set(corruption.needs) & {*MODELS}]
    return {
        "tables": tables,
        "captions": max(table["captions"] for table in tables),
        "total": total,
        "changed": sum(table["changed"] * table["captions"] for table in tables) / total,
        "pairs": settings["pairs"],
        "rows": sum(output.info["counts"].get(MULTIMODAL, {}).values()),
        "left_out": [name for name in need_models if name not in names],
        "without_bias": not any(table["corruption"].family == "bias" for table in tables),
        "shift": read_text_shift(output.path, output.info["fingerprint"]),
    }


def config_groups(output: FinishedOutput) -> list[dict[str, Any]]:
    """Group the configs that hold perturbations of one family and have equally many rows in every split."""
    settings, counts = output.info["settings"], output.info["counts"]
    names = settings["perturbations"], settings["text_perturbations"]
    families = {name: f"visual perturbations: {check_name(name).family}" for name in names[0]}
    families |= {name: f"text perturbations: {check_text_name(name).family}" for name in names[1]}
    groups: dict[str, dict[str, Any]] = {}
    for config in (*suite_configs(settings_of(output.info)), LEFT_OUT):
        if config.name in counts:
            content = families.get(config.name, config.meaning)
            group = {"names": [], "counts": counts[config.name], "content": content}
            groups.setdefault(f"{content} {counts[config.name]}", group)["names"].append(config.name)
    return list(groups.values())


def pixels_png(output: FinishedOutput) -> bytes | None:
    """Draw a frame of the first clip under every perturbation of pixels and severity, or return None without any."""
    settings = settings_of(output.info)
    corruptions = [corruption for name in settings.perturbations if (corruption := check_name(name)).scope != "index"]
    if not settings.render or not corruptions:
        return None
    columns = ["clip_id", "severity", "num_frames", "video"]
    clean = next(output.whole(CLEAN, columns))
    number = min(EARLY, clean["num_frames"] // 2)
    strips = [Strip("clean", f"frame {number} of clip {clean['clip_id']}", [(frames_at(clean, [number])[0], "")])]
    for corruption in corruptions:
        rows = takewhile(lambda row: row["clip_id"] == clean["clip_id"], output.whole(corruption.name, columns))
        frames = [
            (frames_at(row, [number])[0], f"{row['severity']}: {corruption.level(row['severity'])}") for row in rows
        ]
        strips.append(Strip(corruption.name, corruption.unit, frames))
    return contact_sheet(strips, SIDE)
