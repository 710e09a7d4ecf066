"""Define the options of a CLAVI build."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from ...core.build_options import BuildSettings
from ...core.errors import UsageError
from ...core.options import LARGEST_COUNT, NAME, Need, comma_separated, nested, option, read_settings
from ...core.source_details import SourceDetails
from ...core.tabular import read_columns
from ...video.presets import CRF, PRESET, Preset

COLLECTIONS = ("charades", "causalchaos", "youcook2", "segments")
SHORTEST_S, LONGEST_S, SPAN_S = 4.0, 36.0, 90.0
BALANCED_GAP_S = 2.5  # leaves a filler of at least 0.5 s, as the extensions take at most 80% of the gap
LONGEST_TIME_S = 1e6  # maximum value of options
MOST_PARAPHRASES = 3
ALL_SPLITS = ("train", "validation", "test")
ROUNDING = 1e-6  # by which the sum of shares may differ from 1
RELATIONS = ("sequence", "overlap", "contain")
AMBIGUOUS = "ambiguous"
"""Column that flags questions whose answer depends on which of two intervals of the same action is meant."""
RELATION_STEP = 32  # between the type ids of two relations
SAMPLE = "sample"


def has_sequences(settings: Any) -> bool:
    """Return whether pairs of consecutive actions are used."""
    return "sequence" in settings.relations


OF_CHARADES = Need(
    lambda settings: settings.charades is not None,
    "without --charades, because it concerns only annotations of Charades",
    "use --charades",
)
OF_OTHERS = Need(
    lambda settings: settings.charades is None,
    "with --charades, whose actions and sentences are compared by class and verb",
    "use another dataset",
)
OWN = Need(
    lambda settings: settings.segments not in (None, SAMPLE) or settings.causalchaos is not None,
    "without annotations of your own, as the licence and source of others are known",
    "use --segments FILE",
)
OF_SEGMENTS = Need(
    lambda settings: settings.segments is not None,
    "without --segments, because it concerns only your own segments",
    "use --segments",
)
TIMED_BY_FRAMES = Need(
    lambda settings: settings.segments is not None or settings.causalchaos is not None,
    "without --segments or --causalchaos, because other annotations give times in seconds",
    "use one of them",
)
OF_SENTENCES = Need(lambda settings: settings.source == "sta", "without --source sta", "add --source sta")
SELECTED = Need(
    lambda settings: not settings.pairs,
    "with --pairs, which lists the pairs to rebuild",
    "leave out --pairs",
)
SEQUENTIAL = Need(has_sequences, "without the relation sequence", "add sequence to --relations")
RULED = Need(lambda settings: has_sequences(settings) or settings.longest is None, SEQUENTIAL.why, SEQUENTIAL.remedy)
ORDERED = Need(
    lambda settings: settings.relations != ("contain",),
    "on actions of which one contains the other",
    "add another relation to --relations",
)
WIDE = Need(
    lambda settings: settings.cuts != "balanced" or settings.min_gap >= BALANCED_GAP_S,
    f"below {BALANCED_GAP_S:g} s with --cuts balanced",
    f"increase it to at least {BALANCED_GAP_S:g}",
)
NATURAL = Need(
    lambda settings: settings.wording == "natural",
    "without --wording natural",
    "add --wording natural",
)
RENDERED = Need(
    lambda settings: settings.render, "with --no-render, because no videos are made", "leave out --no-render"
)
OPENED = Need(
    lambda settings: settings.render or settings.causalchaos is not None,
    "with --no-render, because no videos are opened",
    RENDERED.remedy,
)


def read_relations(given: Any) -> tuple[str, ...]:
    """Parse relations separated by commas, and return them in their usual order. Raise ValueError if one is unknown."""
    names = comma_separated(given)
    if unknown := [name for name in names if name not in RELATIONS]:
        raise ValueError(f"contains an unknown relation: {', '.join(unknown)}. Choose from {', '.join(RELATIONS)}")
    return tuple(name for name in RELATIONS if name in names)


def read_shares(given: Any) -> tuple[float, ...]:
    """Parse the shares of train, validation and test, separated by commas. Raise ValueError if one is not allowed."""
    texts = comma_separated(given)
    try:
        shares = tuple(map(float, texts))
    except ValueError as error:
        raise ValueError("must consist of numbers separated by commas, such as .8,.1,.1") from error
    if len(shares) != len(ALL_SPLITS):
        raise ValueError(f"must consist of {len(ALL_SPLITS)} shares, of {', '.join(ALL_SPLITS)}, such as .8,.1,.1")
    if not all(0 < share < 1 for share in shares):
        raise ValueError("must consist of shares between 0 and 1, as no split may be empty")
    if abs(sum(shares) - 1) > ROUNDING:
        raise ValueError(f"must have the sum 1, not {sum(shares):g}, such as .8,.1,.1")
    return shares


@dataclass(frozen=True, kw_only=True)
class ClaviSettings(BuildSettings):
    """Options of a CLAVI build.

    After `decided`, `collection` is the name of the dataset, `shortest` and `implied` are never None, and `rules` is
    None unless pairs are selected from Charades.
    """

    inherited_needs: ClassVar[Mapping[str, tuple[Need, ...]]] = {"allow_missing": (RENDERED,), "max_skip": (RENDERED,)}

    charades: str | None = option(
        None,
        "Folder with the Charades annotations, or `sample` for the built-in sample.",
        content=False,
        write=lambda given: SAMPLE if given == SAMPLE else "CHARADES_DIR",
        found_by="Charades_v1_*.csv",
    )
    causalchaos: Path | None = option(
        None, "Annotations.csv of CausalChaos, to use the events of its questions.", exists=True, content=False
    )
    youcook2: Path | None = option(
        None,
        "youcookii_annotations_trainval.json of YouCook2, to use the steps of its recipes.",
        exists=True,
        content=False,
    )
    segments: str | None = option(
        None,
        "Your own segments: a table (CSV, JSON Lines, JSON, Parquet or .xlsx) with video, start, end and phrase; a "
        "file of ActivityNet Captions, DiDeMo, QVHighlights, TACoS, TVR, HiREST, EPIC-Kitchens or COIN; or the word "
        "`sample`.",
        content=False,
        write=lambda given: f"./{SAMPLE}" if given != SAMPLE and Path(given).name == SAMPLE else Path(given).name,
        found_by=NAME,
    )
    columns: tuple[str, ...] = option(
        (),
        "With --segments: names of columns in your file that differ from the defaults, such as start=start_time.",
        read=read_columns,
        content=False,
        write=lambda given: ",".join(given) or None,
        needs=(OF_SEGMENTS,),
    )
    videos: Path | None = option(
        None,
        "Folder with the videos, if different from the folder with the annotations.",
        content=False,
        record="never",
        needs=(OPENED,),
    )
    charades_sta: Path | None = option(
        None,
        "Folder with charades_sta_train.txt and charades_sta_test.txt, if different from the folder with the "
        "annotations (for --source sta).",
        content=False,
        write=lambda given: "STA_DIR",
        found_by="charades_sta_*.txt",
        needs=(OF_CHARADES, OF_SENTENCES),
    )
    source: Literal["actions", "sta"] = option(
        "actions",
        "Segments of Charades: its action classes, or the sentences of Charades-STA.",
        needs=(OF_CHARADES, SELECTED),
    )
    rules: Literal["released", "paper"] | None = option(
        "released",
        "Rules for selecting pairs from Charades: those of the released benchmark, or the literal rules of the paper.",
        needs=(OF_CHARADES, SELECTED, RULED),
    )
    pairs: tuple[Path, ...] = option(
        (),
        "Released train_annotations.json or test_annotations.json, to rebuild exactly these pairs; may be repeated.",
        exists=True,
        content=False,
        needs=(OF_CHARADES,),
    )
    phrases: Literal["turn", "as-is"] = option(
        "turn",
        "Convert the phrases of --segments to gerund phrases, which the questions need (turn), or use them unchanged.",
        needs=(OF_SEGMENTS,),
    )
    split_shares: tuple[float, ...] | None = option(
        None,
        "Shares of train, validation and test, such as .8,.1,.1, by which the videos of --segments are assigned to "
        "splits at random. The file must have no column split.",
        read=lambda given: read_shares(given),
        metavar="TRAIN,VALIDATION,TEST",
        shown="the column split; without it, all videos are in test",
        needs=(OF_SEGMENTS,),
    )
    fps: float | None = option(
        None,
        "Frame rate of all episodes with --causalchaos (default: the rate of each video, or 25 if it is missing), or "
        "of the videos with --segments if times are given as frame numbers.",
        minimum=1,
        maximum=1000,
        needs=(TIMED_BY_FRAMES,),
    )
    shortest: float | None = option(
        None,
        "Minimum duration of an action, in seconds.",
        minimum=0,
        maximum=LONGEST_TIME_S,
        shown="4",
        needs=(SELECTED,),
    )
    longest: float | None = option(
        None,
        "Maximum duration of an action, in seconds.",
        minimum=0,
        maximum=LONGEST_TIME_S,
        shown="36; no limit for Charades with --rules released",
        needs=(SELECTED,),
    )
    max_span: float | None = option(
        None,
        "Maximum time from the start of A to the end of B, in seconds.",
        minimum=0,
        maximum=LONGEST_TIME_S,
        shown="90; no limit for Charades",
        needs=(SELECTED,),
    )
    min_gap: float = option(
        0.0,
        "Minimum time from the end of A to the start of B, in seconds.",
        minimum=0,
        maximum=LONGEST_TIME_S,
        record="changed",
        needs=(SELECTED, SEQUENTIAL, WIDE),
    )
    max_pairs_per_video: int | None = option(
        None,
        "Maximum number of pairs per source video, sampled from its entire duration.",
        minimum=1,
        maximum=LARGEST_COUNT,
        shown="all",
        needs=(SELECTED,),
    )
    strict: bool = option(
        False,
        "Drop pairs whose action A or B (verb and objects) also occurs elsewhere in the source video.",
        needs=(SELECTED,),
    )
    order: Literal["any", "balanced", "pairs"] = option(
        "any",
        "Drop pairs until every phrase class (verb, or Charades class) occurs first as often as second (balanced), or "
        "until this holds for each pair of classes (pairs).",
        record="changed",
        needs=(SELECTED, ORDERED),
    )
    relations: tuple[str, ...] = option(
        RELATIONS[:1],
        "Which pairs of Charades to use: sequence (A before B), overlap and contain (A around B), separated by commas.",
        read=lambda given: read_relations(given),
        write=",".join,
        names=lambda: RELATIONS,
        shown="sequence",
        record="changed",
        needs=(OF_CHARADES, SELECTED),
    )
    cuts: Literal["release", "balanced"] = option(
        "release",
        "balanced: cut V and V′ at the same three times, by swapping the halves of the filler in both and showing "
        "equal lengths of A and B, so that the cuts do not distinguish them.",
        record="changed",
        needs=(SELECTED,),
    )
    wording: Literal["paper", "natural"] = option(
        "paper",
        "Word the questions as in the paper, or in natural English with a wording sampled for each question.",
        record="changed",
        needs=(OF_CHARADES,),
    )
    paraphrases: int = option(
        1,
        "Number of wordings of each question (with --wording natural).",
        minimum=1,
        maximum=MOST_PARAPHRASES,
        record="changed",
        needs=(OF_CHARADES, NATURAL),
    )
    implied: Literal["keep", "drop"] | None = option(
        None,
        "Keep control questions about an action that another one implies, such as grasping a doorknob while a door is "
        "opened, or drop them: sample another negative control, and leave out questions with `while`.",
        shown="keep with --wording paper, drop with --wording natural",
        record="changed",
        needs=(OF_CHARADES,),
    )
    same_by: Literal["auto", "lemmas", "sbert"] = option(
        "auto",
        "How to compare the meanings of phrases: by the lemmas of the verb and its objects, or also by sentence "
        "embeddings; auto uses embeddings if sentence-transformers is installed.",
        content=False,
        needs=(OF_OTHERS,),
    )
    details: SourceDetails = nested(SourceDetails, OWN)
    render: bool = option(True, "Render the videos, or write only the questions and pairs.")
    crf: int = option(
        CRF, "Constant rate factor of x264; lower values give better quality.", minimum=0, maximum=51, needs=(RENDERED,)
    )
    preset: Preset = option(PRESET, "Preset of x264.", needs=(RENDERED,))
    audio: Literal["drop", "keep"] = option(
        "drop", "Drop the audio, or cut and reorder it with the video.", needs=(RENDERED,)
    )
    split: Literal["train", "validation", "test", "all"] = option("all", "Splits to build.", content=False)
    collection: str = "charades"

    @property
    def selects(self) -> bool:
        """Return whether pairs were selected and not given."""
        return self.rules is not None or self.collection != "charades"

    @property
    def may_recur(self) -> bool:
        """Return whether A or B may have another interval in the clip, as the rules of the release allow it."""
        return self.collection == "charades" and self.rules != "paper" and has_sequences(self) and not self.strict


def decided(settings: ClaviSettings) -> ClaviSettings:
    """Fill in the dataset and the default limits. `rules` becomes None if pairs are given.

    Raises:
        UsageError: Not exactly one dataset is specified, or no length satisfies both limits.
    """
    named = [name for name in COLLECTIONS if getattr(settings, name) is not None]
    if len(named) != 1:
        flags = ", ".join(f"--{name}" for name in COLLECTIONS)
        given = " and ".join(f"--{name}" for name in named) or "none"
        raise UsageError(f"specify exactly one of {flags}; got: {given}.")
    if settings.implied is None:
        settings = replace(settings, implied="drop" if settings.wording == "natural" else "keep")
    if settings.pairs:
        return replace(settings, rules=None)
    if (named[0] != "charades" or settings.rules == "paper") and settings.longest is None:
        settings = replace(settings, longest=LONGEST_S)
    shortest = SHORTEST_S if settings.shortest is None else settings.shortest
    settings = replace(settings, collection=named[0], shortest=shortest)
    if settings.longest is not None and settings.longest < shortest:
        raise UsageError(
            f"--shortest {shortest:g} and --longest {settings.longest:g} exclude every action. --longest must be at "
            "least --shortest."
        )
    if settings.cuts == "balanced":
        if "contain" in settings.relations:
            raise UsageError(
                "--relations contain cannot be combined with --cuts balanced: the cuts around a contained action would "
                "show in which third it lies. Build contained actions with the default cuts."
            )
        settings = replace(settings, min_gap=max(settings.min_gap, BALANCED_GAP_S))
    if named[0] == "charades":
        return settings
    return replace(settings, rules=None, max_span=SPAN_S if settings.max_span is None else settings.max_span)


def settings_of(info: Mapping[str, Any]) -> ClaviSettings:
    """Return the settings with which an output was built, given its `build.json`."""
    return read_settings(ClaviSettings, info["settings"])


SETTINGS = ClaviSettings
HELP = """Build the CLAVI benchmark from Charades, or from any annotated segments.

    Each pair of actions yields two videos, the original segment and its complement with the two actions swapped, and 19
    yes/no questions per video. The output is a Parquet dataset that datasets.load_dataset opens.

    \b
    Examples:
      build-clavi --charades sample --out out/clavi
      build-clavi --charades ~/Charades --dry-run
      build-clavi --charades ~/Charades --out out/clavi --workers 8
      build-clavi --charades ~/Charades --pairs test_annotations.json --out out/clavi-test
      build-clavi --segments annotations.csv --videos ~/videos --out out/own
      build-clavi --causalchaos Annotations.csv --videos ~/episodes --out out/events
      build-clavi --youcook2 youcookii_annotations_trainval.json --no-render --out out/steps
    """
