"""Define the datasets from which pairs are made. To add a dataset, add a row to `COLLECTIONS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ...annotations.actions import Annotations, same_doing
from ...annotations.causalchaos import CAUSALCHAOS, read_events, source_of_rows
from ...annotations.charades import CHARADES, read_charades, read_charades_sta
from ...annotations.charades import SAMPLE as CHARADES_SAMPLE
from ...annotations.entries import exact_rate
from ...annotations.samples.cache import cached_sample
from ...annotations.segments import SAMPLE as SEGMENTS_SAMPLE
from ...annotations.segments import SEGMENTS, read_segments
from ...annotations.youcook2 import YOUCOOK2_STEPS, read_steps
from ...core.errors import UsageError
from ...core.settings import SAMPLE
from ...core.source import Source
from ...core.source_details import described
from ...core.tabular import columns_of
from ...language import phrases
from ...language.events import Event, event_identity, free_phrase
from ...language.phrases import Gerund
from ..frame_timing import FrameTiming
from .meaning import same_meaning
from .pairs import SameAction, same_key
from .settings import ALL_SPLITS, ClaviSettings

USUAL_RATE = Fraction(25)
SAMPLE_SEGMENTS = "segments.csv"


@dataclass(frozen=True)
class AnnotationInput:
    """Which annotations to load, and how.

    Attributes:
        path: File of the annotations, or the folder of Charades.
        splits: Splits of Charades to load.
        sentences: Folder of Charades-STA.
        timing: Rates and lengths of videos.
    """

    path: Path
    settings: ClaviSettings
    splits: Sequence[str] = ("train", "test")
    sentences: Path | None = None
    timing: FrameTiming = FrameTiming()


@dataclass(frozen=True)
class ClaviCollection:
    """A dataset of annotated videos from which pairs can be made.

    Attributes:
        read: Function that loads the annotations.
        same: Test for two actions that are too similar to be A and B.
        free: Whether actions are free phrases rather than classes; controls are then phrases of the same split.
        shelves: Additional folders in which the videos are usually stored, as glob patterns.
        framed: Whether times are frame numbers at the rates of the videos.
        wording: Function that returns the factors other than annotations and code that determine the wording of
            phrases.
        turn: Function that converts an annotation's text to a phrase, or returns it unchanged if the flag is set; None
            if the loader needs more than the text.
    """

    read: Callable[[AnnotationInput], Annotations]
    source: Source
    same: SameAction = same_meaning
    free: bool = True
    splits: tuple[str, ...] = ALL_SPLITS
    shelves: tuple[str, ...] = ()
    framed: bool = False
    wording: Callable[[], dict[str, str]] = phrases.phrase_identity
    turn: Callable[[str, bool], Gerund | Event | str] | None = None


def as_rate(fps: float) -> Fraction:
    """Convert a number to the exact frame rate. 23.976 and 29.97 become NTSC rates."""
    return exact_rate(Fraction(fps).limit_denominator(1000))


def _read_sentences(given: AnnotationInput) -> Annotations:
    classes = read_charades(given.path, given.splits)
    return read_charades_sta(given.sentences or given.path, classes, given.splits)


def _read_events(given: AnnotationInput) -> Annotations:
    rates, seed = given.timing.rates, given.settings.seed
    return read_events(given.path, seed=seed, rate_of=rates, length_of=given.timing.lengths)


def _read_segments(given: AnnotationInput) -> Annotations:
    settings = given.settings
    rate = None if settings.fps is None else as_rate(settings.fps)
    return read_segments(
        given.path,
        columns=columns_of(settings.columns),
        as_is=settings.phrases == "as-is",
        rate=rate,
        length_of=given.timing.lengths,
        shares=None if settings.split_shares is None else tuple(map(float, settings.split_shares)),
        seed=settings.seed,
    )


def _own_phrase(text: str, as_is: bool) -> Gerund | Event | str:
    return phrases.phrase(text, as_is=True) if as_is else free_phrase(text)


OF_CHARADES = ("train", "test")
COLLECTIONS = {
    "actions": ClaviCollection(
        lambda given: read_charades(given.path, given.splits),
        CHARADES,
        same_key,
        free=False,
        splits=OF_CHARADES,
        wording=dict,
    ),
    "sta": ClaviCollection(_read_sentences, CHARADES, same_doing, splits=OF_CHARADES, wording=phrases.phrase_identity),
    "causalchaos": ClaviCollection(_read_events, CAUSALCHAOS, framed=True, wording=event_identity),
    "youcook2": ClaviCollection(
        lambda given: read_steps(given.path),
        YOUCOOK2_STEPS,
        shelves=("raw_videos/*/*", "*/*", "raw_videos", "training", "validation"),
        turn=lambda text, as_is: phrases.instruction(text),
    ),
    "segments": ClaviCollection(_read_segments, SEGMENTS, wording=event_identity, turn=_own_phrase),
}


def collection_of(settings: ClaviSettings) -> ClaviCollection:
    """Return the dataset that the settings name after `decided`."""
    return COLLECTIONS[settings.source if settings.collection == "charades" else settings.collection]


def source_named(settings: ClaviSettings, hashes: Mapping[str, str]) -> Source:
    """Return where the annotations come from, with what the user says about own ones.

    Raises:
        UsageError: The user describes a known dataset.
        InputError: The BibTeX file cannot be read.
    """
    return described(_source_named(settings, hashes), settings)


def _source_named(settings: ClaviSettings, hashes: Mapping[str, str]) -> Source:
    if settings.collection == "charades":
        return CHARADES_SAMPLE if settings.charades == SAMPLE else CHARADES
    if settings.collection == "causalchaos":
        return source_of_rows(hashes, sample=False)
    return SEGMENTS_SAMPLE if settings.segments == SAMPLE else collection_of(settings).source


def annotation_path(settings: ClaviSettings) -> Path:
    """Return the path of the annotations.

    Raises:
        UsageError: The file does not exist.
    """
    if settings.collection == "charades":
        return cached_sample("charades") if settings.charades == SAMPLE else Path(settings.charades or "")
    if settings.segments == SAMPLE:
        return cached_sample("charades") / SAMPLE_SEGMENTS
    path = Path(settings.causalchaos or settings.youcook2 or settings.segments or "").expanduser()
    if not path.is_file():
        given = f"{path} is a folder" if path.is_dir() else f"there is no file {path}"
        raise UsageError(f"{given}. Use --{settings.collection} to specify an annotation file.")
    return path


def video_shelves(place: Path, collection: ClaviCollection) -> list[str]:
    """Return the subfolders that may contain the videos of a dataset, as relative paths."""
    found = list(collection.source.video_folders)
    for pattern in collection.shelves:
        found += sorted(path.relative_to(place).as_posix() for path in place.glob(pattern) if path.is_dir())
    return list(dict.fromkeys(found))


def folders_in(places: Sequence[Path], collection: ClaviCollection) -> list[Path]:
    """Return the folders in which a dataset usually stores its videos."""
    return [place / shelf for place in places for shelf in video_shelves(place, collection)]
