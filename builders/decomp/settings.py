"""Define the options for building question graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from ...core.build_settings import from_record
from ...core.disputed import Disputable
from ...core.errors import UsageError
from ...core.settings import (
    ITSELF,
    LARGEST_COUNT,
    NOT_CONTENT,
    SAMPLE,
    Input,
    Need,
    Needs,
    OptionalPath,
    parsed,
    to_name,
    within,
)

COLLECTIONS = ("charades", "agqa", "release_hierarchies")


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


@dataclass(frozen=True, kw_only=True)
class DecompSettings(Disputable):
    """Settings for building question graphs. `decided` sets `embed`.

    Attributes:
        charades: Folder with the Charades annotations from which to generate questions, or `sample` for the built-in
            sample.
        agqa: Folder with train_balanced.txt and test_balanced.txt of AGQA 2.0, or one of these files.
        release_hierarchies: Folder with the hierarchies published with AGQA-Decomp: the <video>.json files of one
            split, or both splits.
        graphs: Scene graphs of AGQA for answering sub-questions: AGQA_{train,test}_stsgs.pkl, or the folder with both
            files.
        action_genome: Folder with the Action Genome annotations, which add contact and spatial relations to the actions
            of Charades.
        videos: Folder with the videos, if different from the folder with the annotations.
        embed: Store the videos in the dataset, or only their ids. auto stores only the videos of the built-in sample.
        wording: Wording of sub-questions: ours, or that of the AGQA-Decomp authors' engine. Roots keep their wording.
        max_questions_per_video: Maximum number of generated questions per video, sampled from all templates.
        limit: Use only the first N videos by id, for trial runs. Generated questions are balanced over these videos, or
            over the first 200 if N is smaller.
        split: Splits to build.
    """

    inherited_needs: ClassVar[Mapping[str, Needs]] = {
        **dict.fromkeys(("allow_missing", "max_skip"), Needs(STORED)),
        "seed": Needs(GENERATED),
    }

    charades: Annotated[str | Path | None, parsed(to_name), Input(found_by="Charades_v1_*.csv")] = None
    agqa: Annotated[OptionalPath, Input(found_by="*_balanced.txt", or_file=True)] = None
    release_hierarchies: Annotated[OptionalPath, Input(found_by=ITSELF)] = None
    graphs: Annotated[OptionalPath, Input(found_by="*.pkl", or_file=True), Needs(ASKED_ABOUT_GRAPHS)] = None
    action_genome: Annotated[OptionalPath, Input(found_by="*.pkl"), Needs(GENERATED)] = None
    videos: Annotated[OptionalPath, Input(private=True), Needs(OPENED)] = None
    embed: Literal["auto", "yes", "no"] = "auto"
    wording: Annotated[Literal["ours", "engine"], Needs(DECOMPOSED)] = "ours"
    max_questions_per_video: Annotated[int | None, within(1, LARGEST_COUNT), Needs(GENERATED)] = 40
    limit: Annotated[int | None, within(1, LARGEST_COUNT), NOT_CONTENT] = None
    split: Annotated[Literal["train", "test", "all"], NOT_CONTENT] = "all"

    @property
    def collection(self) -> str:
        """Kind of annotations that is given, one of `COLLECTIONS`."""
        return next((name for name in COLLECTIONS if getattr(self, name) is not None), "charades")


def decided(settings: DecompSettings) -> DecompSettings:
    """Set whether videos are embedded.

    Raises:
        UsageError: No collection is specified, or more than one.
    """
    named = [name for name in COLLECTIONS if getattr(settings, name) is not None]
    if len(named) != 1:
        flags = ", ".join("--" + name.replace("_", "-") for name in COLLECTIONS)
        flags_given = " and ".join("--" + name.replace("_", "-") for name in named) or "none"
        raise UsageError(f"specify exactly one of {flags}; got: {flags_given}.")
    return replace(settings, embed=stored(settings))


def settings_of(info: Mapping[str, Any]) -> DecompSettings:
    """Return the settings with which an output was built, given its `build.json`."""
    return from_record(DecompSettings, info["settings"])
