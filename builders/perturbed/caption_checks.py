"""Checks of the perturbed captions and combinations of a finished suite, from its rows alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ...corruptions.registry import check_text_name
from ...corruptions.text.tools import Tools
from ...errors import InputError
from ...records.checks import Check, Finding, NotChecked
from ...records.output import FinishedOutput
from ...sources.captions import caption_id
from .captions import MODELS, text_recipe, text_tools
from .combinations import MULTIMODAL, combinations
from .settings import settings_of
from .tables import CLEAN


def check_captions(output: FinishedOutput) -> Iterator[str]:
    """Every table of captions has each caption of `clean` once, in the same split and with the same words.

    Captions of clips that were skipped because of their videos may stay: `build.json` lists them, or their source.
    """
    clean = {
        caption_id(row["clip_id"], number): (split, row["clip_id"], text)
        for split in output.splits(CLEAN)
        for row in output.rows(CLEAN, ["clip_id", "captions"], split)
        for number, text in enumerate(row["captions"])
    }
    skips = output.info["skips"]["count"]
    first: dict[str, tuple[str, str, str]] = {}
    for name in output.info["settings"]["text_perturbations"]:
        counts: Counter[str] = Counter()
        for split in output.splits(name):
            for row in output.rows(name, ["caption_id", "perturbation", "clip_id", "original"], split):
                if row["perturbation"] != name:
                    yield f"{name}: {row['caption_id']}: perturbation is {row['perturbation']}, not {name}"
                found = (split, row["clip_id"], row["original"])
                expected = clean.get(row["caption_id"]) or first.setdefault(row["caption_id"], found)
                counts[row["caption_id"]] += 1
                if found != expected:
                    yield f"{name}: {row['caption_id']} is {_place(found)}; it should be {_place(expected)}"
                if row["caption_id"] not in clean and not skips:
                    yield f"{name}: {row['caption_id']} is no caption of {CLEAN}"
        for key in {**clean, **first}:
            if counts[key] != 1:
                yield f"{name}: caption {key} comes {counts[key]} times"


def _place(found: tuple[str, str, str]) -> str:
    split, clip, text = found
    return f"{text!r} of clip {clip} in {split}"


def check_changed(output: FinishedOutput) -> Iterator[str]:
    """A caption is marked changed exactly if it differs from its original, and has a reason exactly if it does not."""
    for name in output.info["settings"]["text_perturbations"]:
        for row in output.rows(name, ["caption_id", "caption", "original", "changed", "reason"]):
            if not row["caption"]:
                yield f"{name}: {row['caption_id']} is empty"
            if row["changed"] != (row["caption"] != row["original"]):
                yield f"{name}: {row['caption_id']} says changed={row['changed']}, but is {row['caption']!r}"
            if bool(row["reason"]) == row["changed"]:
                given = f"the reason {row['reason']!r}" if row["reason"] else "no reason"
                yield f"{name}: {row['caption_id']} has changed={row['changed']} and {given}"


def check_recipes(output: FinishedOutput) -> Iterator[Finding]:
    """Every caption made again from its recipe is the same, and so is the reason of one that stays.

    A table is left open where this machine has not the tagger or data that `build.json` names, or where it needs a
    language model.
    """
    settings = settings_of(output.info)
    tagger = output.info["tools"].get("tagger", "")
    tools = Tools("pattern" if tagger.startswith("pattern") else "nltk")
    for name in settings.text_perturbations:
        lacking = lacking_tools(tools, name, output.info["tools"])
        if lacking:
            yield NotChecked(f"{name}: {lacking}")
            continue
        for row in output.rows(name):
            result = text_recipe(settings, name, row["caption_id"]).apply(row["original"], tools)
            if (result.text, result.changed) != (row["caption"], row["changed"]):
                yield f"{name}: {row['caption_id']} is {row['caption']!r}; its recipe gives {result.text!r}"
            elif not result.changed and result.reason != row["reason"]:
                yield f"{name}: {row['caption_id']} has the reason {row['reason']!r}, not {result.reason!r}"


def lacking_tools(tools: Tools, name: str, recorded: Mapping[str, str]) -> str:
    """Describe what of that which a perturbation uses is not here as it was when the suite was built; "" if all is."""
    corruption = check_text_name(name)
    if {*MODELS} & {*corruption.needs}:  # nothing is fetched, and nothing takes minutes
        return "it needs a language model, which is not run again"
    try:
        here = text_tools(tools, [corruption])
    except InputError as error:
        return str(error)
    other = [tool for tool, version in here.items() if recorded.get(tool) != version]
    return f"another {', '.join(other)} than when it was built" if other else ""


def check_combinations(output: FinishedOutput) -> Iterator[str]:
    """Every clip has every combination with each of its captions once, and both rows that it names are there."""
    severity, _ = combinations()
    pairs = output.info["settings"]["pairs"]
    rows: dict[str, set[str]] = {}
    texts: dict[str, set[str]] = {}
    captions: dict[str, int] = {
        row["clip_id"]: len(row["captions"]) for row in output.rows(CLEAN, ["clip_id", "captions"])
    }
    for visual, text in (pair.split(":") for pair in pairs):
        if visual not in rows:
            found = output.rows(visual, ["clip_id", "severity"])
            rows[visual] = {row["clip_id"] for row in found if row["severity"] == severity}
        if text not in texts:
            texts[text] = {row["caption_id"] for row in output.rows(text, ["caption_id"])}
    counts: Counter[tuple[str, str]] = Counter()
    for row in output.rows(MULTIMODAL):
        pair, clip, caption = row["perturbation"], row["clip_id"], row["caption_id"]
        title = f"{pair}: {caption}"
        counts[pair, caption] += 1
        if pair not in pairs or pair != f"{row['visual']}:{row['text']}" or row["severity"] != severity:
            yield f"{title} is not part of the build ({row['visual']}, severity {row['severity']}, {row['text']})"
            continue
        if clip not in rows[row["visual"]]:
            yield f"{title}: {row['visual']} has no clip {clip} at severity {severity}"
        if caption not in texts[row["text"]]:
            yield f"{title}: {row['text']} has no such caption"
        if caption.rpartition("#")[0] != clip:
            yield f"{title} is no caption of clip {clip}"
    for pair in pairs:
        for clip in rows[pair.split(":")[0]]:
            for number in range(captions.get(clip, 0)):
                count = counts[pair, caption_id(clip, number)]
                if count != 1:
                    yield f"{pair}: {caption_id(clip, number)} comes {count} times"


def text_checks(info: Mapping[str, Any]) -> dict[str, Check]:
    """Return the checks by name that fit a build: none if it has no captions of its own.

    Args:
        info: The content of `build.json`.
    """
    checks: dict[str, Check] = {}
    if info["settings"].get("text_perturbations"):
        checks |= {"captions": check_captions, "changed": check_changed, "recipes": check_recipes}
    if info["settings"].get("pairs"):
        checks["combinations"] = check_combinations
    return checks
