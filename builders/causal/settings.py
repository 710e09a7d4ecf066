"""Define the options of a CausalChaos build."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from ...core.build_options import BuildSettings
from ...core.options import NAME, Need, comma_separated, nested, option, read_settings
from ...core.source_details import SourceDetails
from ...core.tabular import read_columns
from ...negatives.settings import MiningSettings, PoolSettings, strict
from ...video.presets import CRF, PRESET, Preset

Scheme = Literal["ud", "ps", "un"]
SAMPLE = "sample"
SCHEMES: tuple[Scheme, ...] = ("ud", "ps", "un")


def read_schemes(given: Any) -> tuple[Scheme, ...]:
    """Parse divisions such as "UD,PS" or ("UD", "PS"). They are returned in the order UD, PS, UN.

    Raises:
        ValueError: A division is unknown.
    """
    named = {name.lower() for name in comma_separated(given)}
    unknown = sorted(name.upper() for name in named - set(SCHEMES))
    if unknown:
        raise ValueError(f"contains an unknown division: {', '.join(unknown)}. Choose from UD, PS, UN.")
    return tuple(scheme for scheme in SCHEMES if scheme in named)


def annotations_written(given: str) -> str:
    """Return the annotations as they appear in the recorded command."""
    if given != SAMPLE and Path(given).is_dir():
        return "ANNOTATIONS_DIR"
    return f"./{SAMPLE}" if given != SAMPLE and Path(given).name == SAMPLE else Path(given).name


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
class CausalSettings(PoolSettings, BuildSettings):
    """Options of a CausalChaos build.

    `only` is a copy of `split` that is stored in the plan.
    """

    inherited_needs: ClassVar[Mapping[str, tuple[Need, ...]]] = {"allow_missing": (CUT,), "max_skip": (CUT,)}

    annotations: str = option(
        "",
        "Annotations.csv of CausalChaos, a CSV or JSON Lines file with the same columns, or `sample` for the built-in "
        "sample.",
        required=True,
        content=False,
        write=lambda given: annotations_written(given),
        found_by=NAME,
    )
    columns: tuple[str, ...] = option(
        (),
        "Names of columns in your file that differ from the defaults, such as question=Q,answer=A.",
        read=read_columns,
        content=False,
        write=lambda given: ",".join(given) or None,
    )
    videos: Path | None = option(
        None,
        "Folder with the episodes, if different from the folder with the annotations.",
        content=False,
        record="never",
        needs=(CUT,),
    )
    fps_map: Path | None = option(
        None,
        "File with the frame rate at which the annotated frames of each episode were counted: lines such as "
        "S01E01=23.976, or JSON. Frames are then located by time instead of by number.",
        exists=True,
        content=False,
        needs=(CUT,),
    )
    offsets: Path | None = option(
        None,
        "CSV file with the columns Episode and Offset (frames to add for your copies), or with your own frame numbers "
        "in the layout of Video_synchonization_frames.csv.",
        exists=True,
        content=False,
        needs=(CUT,),
    )
    released_offsets: Path | None = option(
        None,
        "The released Video_synchonization_frames.csv, if --offsets has that layout.",
        exists=True,
        content=False,
        needs=(CUT, Need(lambda settings: settings.offsets is not None, "without --offsets", "add --offsets FILE")),
    )
    splits: tuple[Scheme, ...] = option(
        SCHEMES,
        "Divisions, each 70:15:15: UD at random, PS by position in the episode, UN by episodes; also `--splits UD PS`.",
        read=read_schemes,
        shown="UD,PS,UN",
        spread=True,
        write=lambda given: ",".join(scheme.upper() for scheme in given),
    )
    places: Literal["frames", "rows"] = option(
        "frames",
        "Assign clips to PS by their midpoint, or by row number, as in the release.",
        name="ps-by",
        needs=(Need(lambda settings: "ps" in settings.splits, "without the division PS", "add PS to --splits"),),
    )
    mining: MiningSettings = nested(MiningSettings)
    confuse: int = option(
        2,
        "Maximum number of distractors that causal_confusion replaces per question. 0 skips that config.",
        minimum=0,
        maximum=2,
        needs=(TESTED,),
    )
    twins: Literal["balanced", "right"] = option(
        "balanced",
        "Confuse correct options and distractors alike, so that a counterpart reveals nothing; or only correct ones, "
        "as in the paper. --imitate-release and --llm-model imply right.",
        needs=(TESTED, CONFUSED),
    )
    cast: Path | None = option(
        None,
        "Names in addition to those found in the annotations: one per line, optionally with `, female` or `, male`.",
        exists=True,
        content=False,
        needs=(PARSED,),
    )
    llm_base_url: str | None = option(
        None,
        "URL of an OpenAI-compatible endpoint that writes the confusions.",
        content=False,
        write=lambda given: "URL",
        needs=(
            TESTED,
            CONFUSED,
            Need(
                lambda settings: settings.llm_model is not None,
                "without --llm-model, the name of the model at that endpoint",
                "add --llm-model NAME",
            ),
        ),
    )
    llm_model: str | None = option(
        None,
        "Name of the model at the endpoint or, without --llm-base-url, folder with a transformers model.",
        content=False,
        write=lambda given: Path(given).name,
        needs=(TESTED, CONFUSED),
        implies={"twins": "right"},
    )
    details: SourceDetails = nested(SourceDetails, OWN)
    render: bool = option(True, "Cut the clips, or write only the other tables.")
    crf: int = option(
        CRF, "Constant rate factor of x264; lower values give better quality.", minimum=0, maximum=51, needs=(CUT,)
    )
    preset: Preset = option(PRESET, "Preset of x264.", needs=(CUT,))
    audio: Literal["drop", "keep"] = option("drop", "Drop or keep the audio.", needs=(CUT,))
    split: Literal["train", "validation", "test", "all"] = option("all", "Splits to build.", content=False)
    only: str = "all"


def decided(settings: CausalSettings) -> CausalSettings:
    """Return the settings for the plan, with the split, and without confusions if no test split is built."""
    return replace(settings, only=settings.split, confuse=settings.confuse if confused(settings) else 0)


def settings_of(info: Mapping[str, Any]) -> CausalSettings:
    """Return the settings with which an output was built, given its `build.json`."""
    return read_settings(CausalSettings, info["settings"])


SETTINGS = CausalSettings
HELP = """Build CausalChaos: why-questions with five answers and five explanations to choose from, and the clips.

    Each division becomes a config (`ud`, `ps`, `un`) of a Parquet dataset that datasets.load_dataset opens, next to
    `causal_confusion`, `open_ended` and `clips`. Distractors are the correct options of similar questions.

    \b
    Examples:
      build-causal --annotations sample --out out/causal
      build-causal --annotations Annotations.csv --no-render --out out/causalchaos
      build-causal --annotations Annotations.csv --videos ~/episodes --splits UD --out out/ud --workers 8
      build-causal --annotations Annotations.csv --no-render --ps-by rows --imitate-release --out out/as-released
    """
