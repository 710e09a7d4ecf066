"""Define the options for building question graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from ...core.build_options import BuildSettings
from ...core.errors import UsageError
from ...core.options import ITSELF, LARGEST_COUNT, Need, option, read_settings

COLLECTIONS = ("charades", "agqa", "release_hierarchies")
SAMPLE = "sample"


def stored(settings: Any) -> Literal["yes", "no"]:
    """Return "yes" or "no" for whether the videos are stored in the dataset."""
    if settings.embed == "auto":
        return "yes" if settings.charades == SAMPLE else "no"
    chosen: Literal["yes", "no"] = settings.embed
    return chosen


GENERATED = Need(
    lambda settings: settings.charades is not None,
    "without --charades, because no questions are generated",
    "use --charades",
)
DECOMPOSED = Need(
    lambda settings: settings.release_hierarchies is None,
    "with --release-hierarchies, because the published graphs are used unchanged",
    "use --charades or --agqa",
)
ASKED_ABOUT_GRAPHS = Need(lambda settings: settings.agqa is not None, "without --agqa", "use --agqa")
STORED = Need(
    lambda settings: stored(settings) == "yes",
    "if the videos are not stored in the dataset",
    "add --embed yes",
)
OPENED = Need(
    lambda settings: stored(settings) == "yes" or settings.action_genome is not None,
    STORED.why,
    STORED.remedy,
)


def folder_or_file(given: Path, folder: str) -> str:
    """Return a path as recorded in the command, where a file is found by its name and a folder by what it contains."""
    return folder if given.is_dir() or given.name == folder else given.name


@dataclass(frozen=True, kw_only=True)
class DecompSettings(BuildSettings):
    """Options for building question graphs. `decided` sets `collection` (one of `COLLECTIONS`) and `embed`."""

    inherited_needs: ClassVar[Mapping[str, tuple[Need, ...]]] = {
        "allow_missing": (STORED,),
        "max_skip": (STORED,),
        "seed": (GENERATED,),
    }

    charades: str | None = option(
        None,
        "Folder with the Charades annotations from which to generate questions, or `sample` for the built-in sample.",
        content=False,
        write=lambda given: SAMPLE if given == SAMPLE else "CHARADES_DIR",
        found_by="Charades_v1_*.csv",
    )
    agqa: Path | None = option(
        None,
        "Folder with train_balanced.txt and test_balanced.txt of AGQA 2.0, or one of these files.",
        content=False,
        write=lambda given: folder_or_file(given, "AGQA_DIR"),
        found_by="*_balanced.txt",
    )
    release_hierarchies: Path | None = option(
        None,
        "Folder with the hierarchies published with AGQA-Decomp: the <video>.json files of one split, or both splits.",
        content=False,
        write=lambda given: "HIERARCHIES_DIR",
        found_by=ITSELF,
    )
    graphs: Path | None = option(
        None,
        "Scene graphs of AGQA for answering sub-questions: AGQA_{train,test}_stsgs.pkl, or the folder with both files.",
        content=False,
        write=lambda given: folder_or_file(given, "GRAPHS_DIR"),
        found_by="*.pkl",
        needs=(ASKED_ABOUT_GRAPHS,),
    )
    action_genome: Path | None = option(
        None,
        "Folder with the Action Genome annotations, which add contact and spatial relations to the actions of "
        "Charades.",
        content=False,
        write=lambda given: "ACTION_GENOME_DIR",
        found_by="*.pkl",
        needs=(GENERATED,),
    )
    videos: Path | None = option(
        None,
        "Folder with the videos, if different from the folder with the annotations.",
        content=False,
        record="never",
        needs=(OPENED,),
    )
    embed: Literal["auto", "yes", "no"] = option(
        "auto",
        "Store the videos in the dataset, or only their ids. auto stores only the videos of the built-in sample.",
    )
    wording: Literal["ours", "engine"] = option(
        "ours",
        "Wording of sub-questions: ours, or that of the AGQA-Decomp authors' engine. Roots keep their wording.",
        needs=(DECOMPOSED,),
    )
    most_per_video: int | None = option(
        40,
        "Maximum number of generated questions per video, sampled from all templates.",
        name="max-questions-per-video",
        minimum=1,
        maximum=LARGEST_COUNT,
        needs=(GENERATED,),
    )
    limit: int | None = option(
        None,
        "Use only the first N videos by id, for trial runs. Generated questions are balanced over these videos, or "
        "over the first 200 if N is smaller.",
        minimum=1,
        maximum=LARGEST_COUNT,
        content=False,
    )
    split: Literal["train", "test", "all"] = option("all", "Splits to build.", content=False)
    collection: str = "charades"


def decided(settings: DecompSettings) -> DecompSettings:
    """Set the collection, and whether videos are embedded.

    Raises:
        UsageError: No collection is specified, or more than one.
    """
    named = [name for name in COLLECTIONS if getattr(settings, name) is not None]
    if len(named) != 1:
        flags = ", ".join("--" + name.replace("_", "-") for name in COLLECTIONS)
        given = " and ".join("--" + name.replace("_", "-") for name in named) or "none"
        raise UsageError(f"specify exactly one of {flags}; got: {given}.")
    return replace(settings, collection=named[0], embed=stored(settings))


def settings_of(info: Mapping[str, Any]) -> DecompSettings:
    """Return the settings with which an output was built, given its `build.json`."""
    return read_settings(DecompSettings, info["settings"])


SETTINGS = DecompSettings
HELP = """Decompose compositional questions about videos into graphs of sub-questions.

    The questions are AGQA's, or are generated from Charades' actions; published graphs can also be read. In a graph,
    parents are composed of their children, so scores show where a model's answer goes wrong and where it contradicts
    itself.

    \b
    Examples:
      build-decomp --charades sample --out out/decomp
      build-decomp --charades ~/Charades --out out/charades-graphs
      build-decomp --agqa ~/AGQA_balanced --graphs ~/AGQA_scene_graphs --out out/agqa-decomp
      build-decomp --release-hierarchies ~/test_hierarchies --out out/published
    """
