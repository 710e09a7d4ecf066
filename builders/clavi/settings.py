"""Define the options of a CLAVI build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from cyclopts import Parameter

from ...core.build_settings import from_record
from ...core.disputed import Disputable
from ...core.errors import UsageError
from ...core.settings import (
    LARGEST_COUNT,
    NOT_CONTENT,
    SAMPLE,
    ColumnNames,
    Input,
    InputFile,
    Need,
    Needs,
    OptionalPath,
    after_commas,
    existing_files,
    parsed,
    to_name,
    within,
)
from ...core.source import DETAILS, SourceDetails
from ...core.tabular import comma_separated
from ...video import CRF, PRESET, Preset

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
RULED = Need(
    lambda settings: has_sequences(settings) or settings.longest in (None, LONGEST_S),  # which the rules set
    SEQUENTIAL.why,
    SEQUENTIAL.remedy,
)
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


def read_relations(value: Any) -> tuple[str, ...]:
    """Parse relations separated by commas, and return them in their usual order. Raise ValueError if one is unknown."""
    names = comma_separated(value)
    if unknown := [name for name in names if name not in RELATIONS]:
        raise ValueError(f"contains an unknown relation: {', '.join(unknown)}. Choose from {', '.join(RELATIONS)}")
    return tuple(name for name in RELATIONS if name in names)


def read_shares(value: Any) -> tuple[float, ...]:
    """Parse the shares of train, validation and test, separated by commas. Raise ValueError if one is not allowed."""
    texts = comma_separated(value)
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
class ClaviSettings(SourceDetails, Disputable):
    """Settings of a CLAVI build.

    After `decided`, `shortest` and `implied` are never None, and `rules` is None unless pairs are selected from
    Charades.

    Attributes:
        charades: Folder with the Charades annotations, or `sample` for the built-in sample.
        causalchaos: Annotations.csv of CausalChaos, to use the events of its questions.
        youcook2: youcookii_annotations_trainval.json of YouCook2, to use the steps of its recipes.
        segments: Your own segments: a table (CSV, JSON Lines, JSON, Parquet or .xlsx) with video, start, end and
            phrase; a file of ActivityNet Captions, DiDeMo, QVHighlights, TACoS, TVR, HiREST, EPIC-Kitchens or COIN; or
            the word `sample`.
        columns: With --segments: names of columns in your file that differ from the defaults, such as start=start_time.
        videos: Folder with the videos, if different from the folder with the annotations.
        charades_sta: Folder with charades_sta_train.txt and charades_sta_test.txt, if different from the folder with
            the annotations (for --source sta).
        source: Segments of Charades: its action classes, or the sentences of Charades-STA.
        rules: Rules for selecting pairs from Charades: those of the released benchmark, or the literal rules of the
            paper.
        pairs: Released train_annotations.json or test_annotations.json, to rebuild exactly these pairs; may be
            repeated.
        phrases: Convert the phrases of --segments to gerund phrases, which the questions need (turn), or use them
            unchanged.
        split_shares: Shares of train, validation and test, such as .8,.1,.1, by which the videos of --segments are
            assigned to splits at random. The file must have no column split.
        fps: Frame rate of all episodes with --causalchaos (default: the rate of each video, or 25 if it is missing), or
            of the videos with --segments if times are given as frame numbers.
        shortest: Minimum duration of an action, in seconds.
        longest: Maximum duration of an action, in seconds.
        max_span: Maximum time from the start of A to the end of B, in seconds.
        min_gap: Minimum time from the end of A to the start of B, in seconds.
        max_pairs_per_video: Maximum number of pairs per source video, sampled from its entire duration.
        strict: Drop pairs whose action A or B (verb and objects) also occurs elsewhere in the source video.
        order: Drop pairs until every phrase class (verb, or Charades class) occurs first as often as second (balanced),
            or until this holds for each pair of classes (pairs).
        relations: Which pairs of Charades to use: sequence (A before B), overlap and contain (A around B), separated by
            commas.
        cuts: balanced: cut V and V′ at the same three times, by swapping the halves of the filler in both and showing
            equal lengths of A and B, so that the cuts do not distinguish them.
        wording: Word the questions as in the paper, or in natural English with a wording sampled for each question.
        paraphrases: Number of wordings of each question (with --wording natural).
        implied: Keep control questions about an action that another one implies, such as grasping a doorknob while a
            door is opened, or drop them: sample another negative control, and leave out questions with `while`.
        controls: Sample negative controls from all classes or phrases, or from those of A and B in the pairs of their
            split, as often as they occur there, so that the names of actions are no cue.
        same_by: How to compare the meanings of phrases: by the lemmas of the verb and its objects, or also by sentence
            embeddings; auto uses embeddings if sentence-transformers is installed.
        render: Render the videos, or write only the questions and pairs.
        crf: Constant rate factor of x264; lower values give better quality.
        preset: Preset of x264.
        audio: Drop the audio, or cut and reorder it with the video.
        split: Splits to build.
    """

    inherited_needs: ClassVar[Mapping[str, Needs]] = {
        **dict.fromkeys(("allow_missing", "max_skip"), Needs(RENDERED)),
        **dict.fromkeys(DETAILS, Needs(OWN)),
    }

    charades: Annotated[str | Path | None, parsed(to_name), Input(found_by="Charades_v1_*.csv")] = None
    causalchaos: InputFile = None
    youcook2: InputFile = None
    segments: Annotated[str | Path | None, parsed(to_name), Input()] = None
    columns: Annotated[ColumnNames, NOT_CONTENT, Needs(OF_SEGMENTS)] = ()
    videos: Annotated[OptionalPath, Input(private=True), Needs(OPENED)] = None
    charades_sta: Annotated[OptionalPath, Input(found_by="charades_sta_*.txt"), Needs(OF_CHARADES, OF_SENTENCES)] = None
    source: Annotated[Literal["actions", "sta"], Needs(OF_CHARADES, SELECTED)] = "actions"
    rules: Annotated[Literal["released", "paper"] | None, Needs(OF_CHARADES, SELECTED, RULED)] = "released"
    pairs: Annotated[Sequence[Path | str], parsed(existing_files), Input(), Needs(OF_CHARADES)] = ()
    phrases: Annotated[Literal["turn", "as-is"], Needs(OF_SEGMENTS)] = "turn"
    split_shares: Annotated[
        Sequence[float] | str | None,
        parsed(read_shares, show_default="the column split; without it, all videos are in test"),
        Needs(OF_SEGMENTS),
    ] = None
    fps: Annotated[float | None, within(1, 1000), Needs(TIMED_BY_FRAMES)] = None
    shortest: Annotated[float | None, within(0, LONGEST_TIME_S, show_default="4"), Needs(SELECTED)] = None
    longest: Annotated[
        float | None,
        within(0, LONGEST_TIME_S, show_default="36; no limit for Charades with --rules released"),
        Needs(SELECTED),
    ] = None
    max_span: Annotated[
        float | None, within(0, LONGEST_TIME_S, show_default="90; no limit for Charades"), Needs(SELECTED)
    ] = None
    min_gap: Annotated[float, within(0, LONGEST_TIME_S), Needs(SELECTED, SEQUENTIAL, WIDE)] = 0.0
    max_pairs_per_video: Annotated[int | None, within(1, LARGEST_COUNT, show_default="all"), Needs(SELECTED)] = None
    strict: Annotated[bool, Needs(SELECTED)] = False
    order: Annotated[Literal["any", "balanced", "pairs"], Needs(SELECTED, ORDERED)] = "any"
    relations: Annotated[
        Sequence[str],
        parsed(read_relations, completer=after_commas(partial(iter, RELATIONS)), show_default="sequence"),
        Needs(OF_CHARADES, SELECTED),
    ] = RELATIONS[:1]
    cuts: Annotated[Literal["release", "balanced"], Needs(SELECTED)] = "release"
    wording: Annotated[Literal["paper", "natural"], Needs(OF_CHARADES)] = "paper"
    paraphrases: Annotated[int, within(1, MOST_PARAPHRASES), Needs(OF_CHARADES, NATURAL)] = 1
    implied: Annotated[
        Literal["keep", "drop"] | None,
        Parameter(show_default="keep with --wording paper, drop with --wording natural"),
        Needs(OF_CHARADES),
    ] = None
    controls: Annotated[Literal["all", "pairs"], Needs(OF_CHARADES, SELECTED)] = "all"
    same_by: Annotated[Literal["auto", "lemmas", "sbert"], NOT_CONTENT, Needs(OF_OTHERS)] = "auto"
    render: bool = True
    crf: Annotated[int, within(0, 51), Needs(RENDERED)] = CRF
    preset: Annotated[Preset, Needs(RENDERED)] = PRESET
    audio: Annotated[Literal["drop", "keep"], Needs(RENDERED)] = "drop"
    split: Annotated[Literal["train", "validation", "test", "all"], NOT_CONTENT] = "all"

    @property
    def collection(self) -> str:
        """Name of the dataset that is given, one of `COLLECTIONS`."""
        return next((name for name in COLLECTIONS if getattr(self, name) is not None), "charades")

    @property
    def selects(self) -> bool:
        """Return whether pairs were selected and not given."""
        return self.rules is not None or self.collection != "charades"

    @property
    def may_recur(self) -> bool:
        """Return whether A or B may have another interval in the clip, as the rules of the release allow it."""
        return self.collection == "charades" and self.rules != "paper" and has_sequences(self) and not self.strict


def decided(settings: ClaviSettings) -> ClaviSettings:
    """Fill in the default limits. `rules` becomes None if pairs are given.

    Raises:
        UsageError: Not exactly one dataset is specified, or no length satisfies both limits.
    """
    named = [name for name in COLLECTIONS if getattr(settings, name) is not None]
    if len(named) != 1:
        flags = ", ".join(f"--{name}" for name in COLLECTIONS)
        flags_given = " and ".join(f"--{name}" for name in named) or "none"
        raise UsageError(f"specify exactly one of {flags}; got: {flags_given}.")
    if settings.implied is None:
        settings = replace(settings, implied="drop" if settings.wording == "natural" else "keep")
    if settings.pairs:
        return replace(settings, rules=None)
    if (named[0] != "charades" or settings.rules == "paper") and settings.longest is None:
        settings = replace(settings, longest=LONGEST_S)
    shortest = SHORTEST_S if settings.shortest is None else settings.shortest
    settings = replace(settings, shortest=shortest)
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
    return from_record(ClaviSettings, info["settings"])
