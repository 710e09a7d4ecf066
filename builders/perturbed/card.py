"""Fill in the dataset card of a suite, whose text is in `card.md.j2`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ...core.left_out import LEFT_OUT
from ...core.output import FinishedOutput
from ...core.schema import Config
from ...core.source import source_of
from ...corruptions.registry import VisualCorruption, check_name, check_text_name
from ...data_cards.card import Card
from .figures import perturbed_figures
from .settings import settings_of
from .statistics import PerturbedStatistics, measure_perturbed
from .tables import suite_configs, visual_tables


class PaperSuite(NamedTuple):
    """A suite, with the paper's numbers of clips, perturbed clips and perturbed captions (0 if not stated)."""

    name: str
    paper: tuple[int, int, int] = (0, 0, 0)


SUITES = {
    "sample": PaperSuite("MSRVTT-P on the built-in sample of stressreel"),
    "msrvtt": PaperSuite("MSRVTT-P", (1_000, 90_000, 35_000)),
    "youcook2": PaperSuite("YouCook2-P", (3_350, 301_500, 103_850)),
    "captions": PaperSuite("Perturbed clips"),
}
NOTES = {
    "clips": "clips read",
    "videos": "videos that they come from",
    "captions": "captions read",
    "captions_repeated_in_their_clip": "captions that their clip has twice",
    "clips_with_the_times_of_another": "clips with the source and times of another",
    "videos_in_several_splits": "videos in more than one split",
    "rows_left_out_empty": "empty rows, left out",
    "rows_left_out_of_zero_length": "rows whose end is their start, left out",
    "rows_left_out_that_end_before_they_start": "rows that end before they start, left out",
    "rows_left_out_without_steps": "videos without steps, left out",
    "rows_left_out_without_annotation": "videos without annotated segments, left out",
    "captions_left_out_past_the_end": "captions that start after the end of their video, left out",
    "videos_left_out_without_clips": "videos without annotated clips, left out",
    "videos_left_out_without_captions": "videos without captions, left out",
    "ends_clamped_to_length": "annotated ends after the end of the video, moved to it",
    "ends_past_the_length": "annotated ends past the video's length",
}
SCOPES = {"frame": "each frame", "clip": "all frames alike", "index": "order of frames", "file": "the whole file"}


def card() -> Card:
    """Return the benchmark's part of the card."""
    return Card(
        Path(__file__).parent / "card.md.j2",
        measure_perturbed,
        context,
        front_matter,
        lambda output, measured: perturbed_figures(output),
        notes=NOTES,
    )


def front_matter(output: FinishedOutput) -> dict[str, Any]:
    """Return the fields of the YAML header that are specific to this benchmark."""
    source, settings = source_of(output.info), output.info["settings"]
    title = SUITES[source.key].name
    if not settings["text_perturbations"]:
        title += ", visual half"
    elif not settings["perturbations"]:
        title += ", text half"
    return {
        "pretty_name": title if source.drawn else f"{title}, built with stressreel",
        **({} if source.key == "captions" else {"language": ["en"]}),
        "task_categories": ["video-text-to-text"],
        "tags": ["video", "text-to-video-retrieval", "robustness", "corruptions", "diagnostic", "stressreel"],
    }


def context(output: FinishedOutput, measured: PerturbedStatistics) -> dict[str, Any]:
    """Return the values for the card template."""
    info = output.info
    visual, texts = info["settings"]["perturbations"], info["settings"]["text_perturbations"]
    kind = source_of(info).key
    corruptions = [check_name(name) for name in visual]
    return {
        "kind": kind,
        "suite": SUITES[kind],
        "text": measured.text,
        "stats": measured,
        "severities": info["settings"]["severity"],
        "corruptions": corruptions,
        "drawn": drawn(corruptions),
        "filed": [corruption.name for corruption in corruptions if corruption.scope == "file"],
        "scopes": SCOPES,
        "example": "gaussian_noise" if "gaussian_noise" in visual else [*visual, *texts][0],
        "groups": config_groups(output),
        "kinds_of_tables": kinds_of_tables(output),
        "visual_rows": sum(sum(info["counts"][name].values()) for name in visual_tables(info)),
        "rows": {name: sum(splits.values()) for name, splits in info["counts"].items()},
        "captions": sum(len(row["captions"]) for row in measured.clips),
        "lengths": sorted({row["num_frames"] / row["fps"] for row in measured.clips if row["num_frames"]}),
        "rates": sorted({row["fps"] for row in measured.clips if row["fps"]}),
        "jsfusion": any("JSFUSION" in name for name in info["inputs"]),
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


def kinds_of_tables(output: FinishedOutput) -> dict[str, Config]:
    """Return one table of each kind, keyed by the sentence that introduces its columns on the card."""
    settings = settings_of(output.info)
    visual, texts, pairs = len(settings.perturbations), settings.text_perturbations, settings.pairs
    configs = suite_configs(settings)
    has_losses = LEFT_OUT.name in output.info["counts"]
    every = f"All tables except `{LEFT_OUT.name}`" if has_losses else "All tables"
    others = every if not texts else "`clean` and the tables of visual perturbations" if visual else "`clean`"
    verb = "has these" if others == "`clean`" else "have the same"
    found = {f"{others} {verb} columns; the first two identify a row.": configs[0]}
    if texts:
        title = "The tables of text perturbations have these columns; `caption_id` identifies a row."
        found[title] = configs[1 + visual]
    if pairs:
        found["`multimodal` has these columns; all of them together identify a row."] = configs[-1]
    if has_losses:
        found["`left_out` has these columns."] = LEFT_OUT
    return found


def drawn(corruptions: Iterable[VisualCorruption]) -> dict[str, list[str]]:
    """Group perturbations by how they use random numbers: new ones for each "frame", for each "clip", or "nothing"."""
    found: dict[str, list[str]] = {"frame": [], "clip": [], "nothing": []}
    for corruption in corruptions:
        kind = "nothing" if not corruption.random else "frame" if corruption.scope == "frame" else "clip"
        found[kind].append(corruption.name)
    return found
