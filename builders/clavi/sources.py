"""Define the datasets from which pairs are made. To add a dataset, add a class, and a row to `COLLECTIONS`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ...annotations.actions import Action, Annotations, same_doing
from ...annotations.causalchaos import CAUSALCHAOS, read_events, source_of_rows
from ...annotations.charades import CHARADES, read_charades, read_charades_sta
from ...annotations.charades import SAMPLE as CHARADES_SAMPLE
from ...annotations.entries import exact_rate
from ...annotations.samples import cached_sample
from ...annotations.segments import SAMPLE as SEGMENTS_SAMPLE
from ...annotations.segments import SEGMENTS, read_segments
from ...annotations.world.source import drawn_or
from ...annotations.youcook2 import YOUCOOK2_STEPS, read_steps
from ...core.errors import UsageError
from ...core.settings import SAMPLE
from ...core.source import Source, described
from ...core.tabular import columns_of
from ...language import phrases
from ...language.events import Event, event_identity, free_phrase
from ...language.phrases import Gerund
from ..runtime.source_videos import FrameTiming
from .meaning import same_meaning
from .pairs import same_class
from .settings import ALL_SPLITS, ClaviSettings

USUAL_RATE = Fraction(25)
SAMPLE_SEGMENTS = "segments.csv"
OF_CHARADES = ("train", "test")


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
    splits: Sequence[str] = OF_CHARADES
    sentences: Path | None = None
    timing: FrameTiming = FrameTiming()


def as_rate(fps: float) -> Fraction:
    """Convert a number to the exact frame rate. 23.976 and 29.97 become NTSC rates."""
    return exact_rate(Fraction(fps).limit_denominator(1000))


class Collection(ABC):
    """A dataset of annotated videos from which pairs can be made.

    Attributes:
        free: Whether actions are free phrases rather than classes; controls are then phrases of the same split.
        shelves: Additional folders in which the videos are usually stored, as glob patterns.
        framed: Whether times are frame numbers at the rates of the videos.
    """

    source: Source
    free = True
    splits: tuple[str, ...] = ALL_SPLITS
    shelves: tuple[str, ...] = ()
    framed = False

    @abstractmethod
    def read(self, annotations: AnnotationInput) -> Annotations:
        """Load the annotations."""

    def same(self, first: Action, second: Action) -> bool:
        """Return whether two actions are too similar to be A and B."""
        return same_meaning(first, second)

    def wording(self) -> dict[str, str]:
        """Return the factors other than annotations and code that determine the wording of phrases."""
        return event_identity()

    def phrase(self, text: str, *, as_is: bool) -> Gerund | Event | str | None:
        """Convert an annotation's text to a phrase; None if `read` needs more than the text.

        With `as_is`, phrases of own segments are not changed. A text that yields no phrase returns the reason.
        """
        return None


class ActionClasses(Collection):
    """The action classes of Charades."""

    source, free, splits = CHARADES, False, OF_CHARADES

    def read(self, annotations: AnnotationInput) -> Annotations:
        """Load the annotated classes."""
        return read_charades(annotations.path, annotations.splits)

    def same(self, first: Action, second: Action) -> bool:
        """Return whether two actions have the same class."""
        return same_class(first, second)

    def wording(self) -> dict[str, str]:
        """Return nothing, as each class has its phrase."""
        return {}


class Sentences(Collection):
    """The sentences of Charades-STA."""

    source, splits = CHARADES, OF_CHARADES

    def read(self, annotations: AnnotationInput) -> Annotations:
        """Load the sentences, and the videos and classes from Charades."""
        classes = read_charades(annotations.path, annotations.splits)
        return read_charades_sta(annotations.sentences or annotations.path, classes, annotations.splits)

    def same(self, first: Action, second: Action) -> bool:
        """Return whether two sentences describe the same action."""
        return same_doing(first, second)

    def wording(self) -> dict[str, str]:
        """Return the word lists and the parser of gerund phrases."""
        return phrases.phrase_identity()

    def phrase(self, text: str, *, as_is: bool) -> Gerund | str:
        """Convert a sentence to a gerund phrase."""
        return phrases.gerund(text)


class Events(Collection):
    """The events that questions of CausalChaos presuppose."""

    source, framed = CAUSALCHAOS, True

    def read(self, annotations: AnnotationInput) -> Annotations:
        """Load the events."""
        timing, seed = annotations.timing, annotations.settings.seed
        return read_events(annotations.path, seed=seed, rate_of=timing.rates, length_of=timing.lengths)


class RecipeSteps(Collection):
    """The steps of the recipes of YouCook2."""

    source = YOUCOOK2_STEPS
    shelves = ("raw_videos/*/*", "*/*", "raw_videos", "training", "validation")

    def read(self, annotations: AnnotationInput) -> Annotations:
        """Load the steps."""
        return read_steps(annotations.path)

    def wording(self) -> dict[str, str]:
        """Return the word lists and the parser of gerund phrases."""
        return phrases.phrase_identity()

    def phrase(self, text: str, *, as_is: bool) -> Gerund | str:
        """Convert an instruction to a gerund phrase."""
        return phrases.instruction(text)


class OwnSegments(Collection):
    """Segments of the user's own."""

    source = SEGMENTS

    def read(self, annotations: AnnotationInput) -> Annotations:
        """Load the segments."""
        settings = annotations.settings
        return read_segments(
            annotations.path,
            columns=columns_of(settings.columns),
            as_is=settings.phrases == "as-is",
            rate=None if settings.fps is None else as_rate(settings.fps),
            length_of=annotations.timing.lengths,
            shares=None if settings.split_shares is None else tuple(map(float, settings.split_shares)),
            seed=settings.seed,
        )

    def phrase(self, text: str, *, as_is: bool) -> Gerund | Event | str:
        """Convert a text to a gerund phrase, or to a statement if it has a subject."""
        return phrases.phrase(text, as_is=True) if as_is else free_phrase(text)


COLLECTIONS: dict[str, Collection] = {
    "actions": ActionClasses(),
    "sta": Sentences(),
    "causalchaos": Events(),
    "youcook2": RecipeSteps(),
    "segments": OwnSegments(),
}


def collection_of(settings: ClaviSettings) -> Collection:
    """Return the dataset that the settings name after `decided`."""
    return COLLECTIONS[settings.source if settings.collection == "charades" else settings.collection]


def source_named(settings: ClaviSettings, hashes: Mapping[str, str]) -> Source:
    """Return where the annotations come from, with what the user says about own ones.

    Raises:
        UsageError: The user describes a known dataset.
        InputError: The BibTeX file cannot be read.
    """
    if settings.charades == SAMPLE:
        source = CHARADES_SAMPLE
    elif settings.segments == SAMPLE:
        source = SEGMENTS_SAMPLE
    elif settings.collection == "causalchaos":
        source = source_of_rows(hashes, sample=False)
    else:
        source = drawn_or(collection_of(settings).source, annotation_path(settings), hashes)
    return described(source, settings)


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
        problem = f"{path} is a folder" if path.is_dir() else f"there is no file {path}"
        raise UsageError(f"{problem}. Use --{settings.collection} to specify an annotation file.")
    return path


def folders_in(roots: Sequence[Path], collection: Collection) -> list[Path]:
    """Return the folders in which a dataset usually stores its videos."""
    folders: list[Path] = []
    for root in roots:
        folders += [root / name for name in collection.source.video_folders]
        for pattern in collection.shelves:
            folders += sorted(path for path in root.glob(pattern) if path.is_dir())
    return list(dict.fromkeys(folders))
