"""Define the options of a CausalChaos build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from ...core.build_settings import from_record
from ...core.disputed import Disputable
from ...core.settings import (
    NOT_CONTENT,
    SAMPLE,
    ColumnNames,
    Implies,
    Input,
    InputFile,
    Need,
    Needs,
    OptionalPath,
    parsed,
    to_name,
    within,
)
from ...core.source import DETAILS, SourceDetails
from ...core.tabular import comma_separated
from ...negatives.settings import MiningSettings, strict
from ...video import CRF, PRESET, Preset

Scheme = Literal["ud", "ps", "un"]
SCHEMES: tuple[Scheme, ...] = ("ud", "ps", "un")


def read_schemes(value: Any) -> tuple[Scheme, ...]:
    """Parse divisions such as "UD,PS" or ("UD", "PS"). They are returned in the order UD, PS, UN.

    Raises:
        ValueError: A division is unknown.
    """
    named = {name.lower() for name in comma_separated(value)}
    unknown = sorted(name.upper() for name in named - set(SCHEMES))
    if unknown:
        raise ValueError(f"contains an unknown division: {', '.join(unknown)}. Choose from UD, PS, UN.")
    return tuple(scheme for scheme in SCHEMES if scheme in named)


def tested(settings: Any) -> bool:
    """Return whether the test split is built, the only one whose questions are confused."""
    return settings.split in ("test", "all")


def confused(settings: Any) -> bool:
    """Return whether the table with confusions is built."""
    return bool(settings.confuse) and tested(settings)


OWN = Need(
    lambda settings: settings.annotations != SAMPLE,
    "with the built-in sample, as its licence and source are known",
    "use annotations of your own",
)
CUT = Need(lambda settings: settings.render, "with --no-render, because no clips are cut", "leave out --no-render")
TESTED = Need(tested, "without the test split, the only one whose questions are confused", "choose --split test or all")
CONFUSED = Need(lambda settings: settings.confuse, "with --confuse 0", "leave out --confuse")
PARSED = Need(
    lambda settings: confused(settings) or strict(settings),
    "if options are neither confused nor balanced",
    "build the test split with --confuse 1 or 2",
)


@dataclass(frozen=True, kw_only=True)
class CausalSettings(MiningSettings, SourceDetails, Disputable):
    """Settings of a CausalChaos build.

    Attributes:
        annotations: Annotations.csv of CausalChaos, a CSV or JSON Lines file with the same columns, or `sample` for the
            built-in sample.
        columns: Names of columns in your file that differ from the defaults, such as question=Q,answer=A.
        videos: Folder with the episodes, if different from the folder with the annotations.
        fps_map: File with the frame rate at which the annotated frames of each episode were counted: lines such as
            S01E01=23.976, or JSON. Frames are then located by time instead of by number.
        offsets: CSV file with the columns Episode and Offset (frames to add for your copies), or with your own frame
            numbers in the layout of Video_synchonization_frames.csv.
        released_offsets: The released Video_synchonization_frames.csv, if --offsets has that layout.
        splits: Divisions, each 70:15:15: UD at random, PS by position in the episode, UN by episodes; also `--splits UD
            PS`.
        ps_by: Assign clips to PS by their midpoint, or by row number, as in the release.
        confuse: Maximum number of distractors that causal_confusion replaces per question. 0 skips that config.
        twins: Confuse correct options and distractors alike, so that a counterpart reveals nothing; or only correct
            ones, as in the paper. --imitate-release and --llm-model imply right.
        cast: Names in addition to those found in the annotations: one per line, optionally with `, female` or `, male`.
        llm_base_url: URL of an OpenAI-compatible endpoint that writes the confusions.
        llm_model: Name of the model at the endpoint or, without --llm-base-url, folder with a transformers model.
        render: Cut the clips, or write only the other tables.
        crf: Constant rate factor of x264; lower values give better quality.
        preset: Preset of x264.
        audio: Drop or keep the audio.
        split: Splits to build.
    """

    inherited_needs: ClassVar[Mapping[str, Needs]] = {
        **dict.fromkeys(("allow_missing", "max_skip"), Needs(CUT)),
        **dict.fromkeys(DETAILS, Needs(OWN)),
    }

    annotations: Annotated[str | Path, parsed(to_name), Input()]
    columns: Annotated[ColumnNames, NOT_CONTENT] = ()
    videos: Annotated[OptionalPath, Input(private=True), Needs(CUT)] = None
    fps_map: Annotated[InputFile, Needs(CUT)] = None
    offsets: Annotated[InputFile, Needs(CUT)] = None
    released_offsets: Annotated[
        InputFile,
        Needs(CUT, Need(lambda settings: settings.offsets is not None, "without --offsets", "add --offsets FILE")),
    ] = None
    splits: Annotated[Sequence[str], parsed(read_schemes, spread=True, show_default="UD,PS,UN")] = SCHEMES
    ps_by: Annotated[
        Literal["frames", "rows"],
        Needs(Need(lambda settings: "ps" in settings.schemes, "without the division PS", "add PS to --splits")),
    ] = "frames"
    confuse: Annotated[int, within(0, 2), Needs(TESTED)] = 2
    twins: Annotated[Literal["balanced", "right"], Needs(TESTED, CONFUSED)] = "balanced"
    cast: Annotated[InputFile, Needs(PARSED)] = None
    llm_base_url: Annotated[
        str | None,
        Input(private=True),
        Needs(
            TESTED,
            CONFUSED,
            Need(
                lambda settings: settings.llm_model is not None,
                "without --llm-model, the name of the model at that endpoint",
                "add --llm-model NAME",
            ),
        ),
    ] = None
    llm_model: Annotated[str | None, Input(private=True), Needs(TESTED, CONFUSED), Implies({"twins": "right"})] = None
    render: bool = True
    crf: Annotated[int, within(0, 51), Needs(CUT)] = CRF
    preset: Annotated[Preset, Needs(CUT)] = PRESET
    audio: Annotated[Literal["drop", "keep"], Needs(CUT)] = "drop"
    split: Literal["train", "validation", "test", "all"] = "all"

    @property
    def schemes(self) -> tuple[Scheme, ...]:
        """The divisions to build."""
        return read_schemes(self.splits) if self.splits else ()


def decided(settings: CausalSettings) -> CausalSettings:
    """Return the settings for the plan, without confusions if no test split is built."""
    return settings if confused(settings) else replace(settings, confuse=0)


def settings_of(info: Mapping[str, Any]) -> CausalSettings:
    """Return the settings with which an output was built, given its `build.json`."""
    return from_record(CausalSettings, info["settings"])
