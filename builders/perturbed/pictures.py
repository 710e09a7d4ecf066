"""Whether the pictures of a perturbed clip are those of its recipe, as far as the clean clip beside it can tell.

The clean clip of a suite went through the encoder too, so what is made again from it is not what was perturbed, but
near. A few frames of it are perturbed again at every severity and encoded as the suite was; then three questions are
asked of the frames that the suite has there:

* Which severity is nearest? It must be the one that the row names (mean square distance of the luma).
* Did the same happen to the same samples? What the perturbation changed must correlate with what its recipe changes.
  That fails where nothing was done, and for other draws: of another clip, frame, perturbation or seed. (What a codec
  changes depends on frames before, which a part of a clip does not have: it must be nearer to its recipe than to the
  clean clip.)
* How far is it? No further than the encoder's own loss explains.

All three are measured against what the encoder leaves of these very frames, so a black scene, in which nothing can be
seen, asks for nothing. `benchmarks/pictures.py` measures how far right and wrong videos are from the limits below.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...corruptions.registry import SEVERITIES, VisualCorruption, check_name, visual_corruptions
from ...errors import VideoError
from ...video.decode import decode
from ...video.encode import EncodeSettings, Mp4Writer
from ...video.index import FrameIndex, index_frames
from ...video.pyav import Frame, to_rgb
from ...video.store import FrameStore
from ...video.thumbnails import frames_of, samples_of
from .render import Picture, as_encoded, perturbed_frames, recipe_for
from .tables import CLEAN

STRETCH = 4
"""Frames that are compared at each place."""

TIED = 1.1
"""How many times the smallest a distance may be: in dark clips the encoder removes most of the noise."""

TIED_RECODED = 1.5
"""The same for codecs in lossless suites: they were fed yuv420p, which RGB gives back with other roundings."""

CORRELATED = 0.5
"""What share of the correlation that the encoder leaves must be found."""

UNRELATED = 0.05
"""A correlation that unrelated pictures reach."""

FURTHEST = 2.0
"""How many times the encoder's loss a distance may be."""

FURTHEST_CODED = 6.0
"""The same for the family "digital": a coarse quantiser magnifies what the encoder did to the clean clip."""

ROUNDED = 4.0
"""Mean square that is always allowed: conversions between RGB and yuv420p."""

MOST_SAMPLES = 400_000
"""Samples of a frame that are compared; of larger ones whole rows are left out at equal distances."""

Samples = NDArray[np.uint8]
"""uint8, shape (frames, rows, width): luma, or green of RGB."""


@dataclass(frozen=True)
class Likeness:
    """What to compare a perturbed clip with.

    Attributes:
        clean: The file of the clean clip.
        name: The perturbation.
        severity: Its severity.
        seed: Of the suite.
        key: What is perturbed as a whole; see `Recipe`.
        first_frame: Number in that of the clip's first frame.
        rate: Frames per second.
        encode: How the suite was encoded.
        places: Where stretches of `STRETCH` frames begin, or of as many as the clip has.
    """

    clean: Path
    name: str
    severity: int
    seed: int
    key: str
    first_frame: int
    rate: Fraction
    encode: EncodeSettings
    places: tuple[int, ...]

    @property
    def frames(self) -> list[int]:
        """The frames that are compared; those past the end of a clip do not count."""
        return [place + number for place in self.places for number in range(STRETCH)]


def places_in(num_frames: int, fingerprint: str, clip_id: str) -> tuple[int, ...]:
    """Choose the beginning of a clip, where codecs begin, and a place that whoever changes a row moves."""
    room = num_frames - 2 * STRETCH
    if room < 0:
        return (0,)
    drawn = hashlib.sha256(f"{fingerprint}\0{clip_id}".encode()).digest()
    return (0, STRETCH + int.from_bytes(drawn[:8], "big") % (room + 1))


def unlike(shown: dict[int, Samples], likeness: Likeness) -> str:
    """Describe in what a perturbed clip is not what its recipe gives; "" if nothing is found.

    Args:
        shown: Samples of its frames by number, those that `Likeness.frames` names.
        likeness: What to compare with.
    """
    try:
        made = tuple(make_again(likeness, place) for place in likeness.places)
    except (VideoError, ValueError, OSError):
        return ""  # the clean clip cannot be decoded, which another check says
    stretches = []
    for place, stretch in zip(likeness.places, made, strict=True):
        numbers = range(place, place + len(stretch.clean))
        if any(number not in shown or shown[number].shape != stretch.clean[0].shape for number in numbers):
            return ""  # of another size or length, which another check says
        stretches.append((np.stack([shown[number] for number in numbers]), stretch))
    corruption = check_name(likeness.name)
    for place, (frames, stretch) in zip(likeness.places, stretches, strict=True):
        found = _judge(frames, stretch, corruption, likeness)
        if found:
            return f"from frame {place} on {found}"
    return _other_severity(stretches, likeness)


def _judge(frames: Samples, stretch: Stretch, corruption: VisualCorruption, likeness: Likeness) -> str:
    own = stretch.severities[likeness.severity]
    tied = TIED_RECODED if likeness.encode.lossless and corruption.scope == "file" else TIED
    distance = apart(frames, own.encoded)
    times = FURTHEST_CODED if corruption.family == "digital" else FURTHEST
    allowed = times * (own.loss + stretch.loss) + ROUNDED
    if corruption.scope == "file":  # two passes of a codec, each in another state, are that far apart
        allowed += FURTHEST * apart(own.exact, stretch.clean)
    if distance > allowed:
        return (
            f"it is further from what its recipe gives than the encoder explains (mean square {distance:.1f}, at most "
            f"{allowed:.1f})"
        )
    for other in stretch.others:
        if apart(frames, other.encoded) * tied < distance:
            return f"it is nearer to {other.name} at severity {other.severity} than to its own recipe"
    if corruption.scope == "file":
        nothing = apart(frames, stretch.unchanged) * tied < distance
        return "it is nearer to the clean clip than to its recipe" if nothing else ""
    wanted = CORRELATED * correlation(own.encoded, own.exact, stretch.clean) - UNRELATED
    found = correlation(frames, own.exact, stretch.clean)
    if found < wanted:
        return (
            "what was changed is not what its recipe changes, or nothing was (correlation "
            f"{found:.2f}, at least {wanted:.2f})"
        )
    return ""


def _other_severity(stretches: Sequence[tuple[Samples, Stretch]], likeness: Likeness) -> str:
    """Describe whether a clip looks like another severity, all comparable places taken together."""
    if check_name(likeness.name).scope == "file":
        known = likeness.first_frame == 0 and not likeness.encode.lossless  # elsewhere a codec's state is unknown
        stretches = stretches[:1] if known else ()
    total = dict.fromkeys(SEVERITIES, 0.0)
    for frames, stretch in stretches:
        for severity in SEVERITIES:
            total[severity] += len(frames) * apart(frames, stretch.severities[severity].encoded)
    nearest = min(total, key=total.__getitem__)
    if total[likeness.severity] <= TIED * total[nearest] or _clamped(likeness.name, likeness.severity, nearest):
        return ""
    return f"it looks like severity {nearest}"


def _clamped(name: str, *severities: int) -> bool:
    """Whether all these severities write the same quantiser, so that their pictures hardly differ."""
    corruption = check_name(name)
    written = {corruption.written_quantiser(severity) for severity in severities}
    return len(written) == 1 and None not in written


@dataclass(frozen=True)
class Expected:
    """Frames of the clean clip, perturbed again.

    Attributes:
        name: The perturbation, or "clean".
        severity: Its severity.
        exact: As the recipe gives them.
        encoded: As they come back from the encoder.
        loss: Mean square of the difference.
    """

    name: str
    severity: int
    exact: Samples
    encoded: Samples
    loss: float


@dataclass(frozen=True)
class Stretch:
    """All that some frames of a clip are compared with.

    Attributes:
        clean: The frames of the clean clip.
        unchanged: These as they come back from the encoder.
        loss: Mean square of what encoding these once more loses: an estimate of what they lost.
        severities: The perturbation at every severity.
        others: Perturbations that could be taken for it.
    """

    clean: Samples
    unchanged: Samples
    loss: float
    severities: dict[int, Expected]
    others: tuple[Expected, ...]


def make_again(likeness: Likeness, place: int) -> Stretch:
    """Perturb and encode the frames of a clean clip at a place at every severity; remembered for the next rows.

    Raises:
        VideoError: The clean clip cannot be decoded.
    """
    given = (likeness.seed, likeness.key, likeness.first_frame, likeness.rate, likeness.encode)
    return _make(likeness.clean, likeness.name, place, *given)


@lru_cache(maxsize=4)  # the severities of a clip come one after the other
def _make(
    clean: Path, name: str, place: int, seed: int, key: str, first_frame: int, rate: Fraction, encode: EncodeSettings
) -> Stretch:
    index = index_frames(clean)
    frames = range(place, min(place + STRETCH, index.num_frames))
    kind = ExactStore if encode.lossless else FrameStore
    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder, kind(index, frames, Path(folder)) as store:

        def make(name: str, severity: int) -> Expected:
            recipe = recipe_for(name, severity, seed, key)
            # A codec starts at these frames; what is drawn is numbered from the beginning of what was perturbed.
            coded = recipe is not None and recipe.corruption.scope == "file"
            stretch = frames if coded else range(-first_frame, frames.stop)
            pictures: Iterable[Picture] = perturbed_frames(store, recipe, frames, stretch)
            if recipe is None and encode.lossless:
                pictures = map(store.rgb, frames)
            exact = [as_encoded(picture, store, lossless=encode.lossless) for picture in pictures]
            before = stacked(exact)
            after = stacked(_through_encoder(exact, rate, encode, Path(folder) / "made.mp4"))
            return Expected(name, severity, before, after, apart(before, after))

        unchanged = make(CLEAN, 0)
        own = {severity: make(name, severity) for severity in SEVERITIES}
        others = [make(*other) for other in alike(name)] if place == 0 and first_frame == 0 else []
    return Stretch(unchanged.exact, unchanged.encoded, unchanged.loss, own, tuple(others))


class ExactStore(FrameStore):
    """Frames of a lossless clip: RGB as it is there, where `FrameStore` halves the resolution of colour."""

    def __init__(self, index: FrameIndex, frames: range, folder: Path):
        """Decode the frames; see `FrameStore`."""
        super().__init__(index, frames, folder)
        self._exact = {number: to_rgb(frame) for number, frame in zip(frames, decode(index, frames), strict=True)}

    def rgb(self, number: int) -> NDArray[np.uint8]:
        """Return a frame as uint8 RGB of shape (height, width, 3), not to be modified."""
        return self._exact[number]


def alike(name: str) -> list[tuple[str, int]]:
    """Name what could be taken for a perturbation: the codecs for each other, which nothing is drawn for.

    Draws tell noises apart, and blurs and turns differ by more than the encoder's loss.
    """
    own = check_name(name)
    codecs = [c.name for c in visual_corruptions().values() if own.family == c.family == "digital" and c.name != name]
    return [(codec, severity) for codec in codecs for severity in SEVERITIES[::2]]


def _through_encoder(frames: Iterable[Frame], rate: Fraction, encode: EncodeSettings, path: Path) -> Iterable[Frame]:
    with Mp4Writer(path, time_base=1 / rate, rate=rate, settings=encode) as writer:
        for frame in frames:
            writer.write(frame, 1)
    return frames_of(path.read_bytes())


def stacked(frames: Iterable[Frame]) -> Samples:
    """Take the samples that are compared out of frames."""
    return np.stack([compared(samples_of(frame)) for frame in frames])


def compared(samples: Samples) -> Samples:
    """Leave out rows of a large frame."""
    return samples[:: -(-samples.size // MOST_SAMPLES)].copy()


def apart(one: Samples, other: Samples) -> float:
    """Measure the mean square distance of frames."""
    difference = one.astype(np.float32) - other
    return float(np.mean(difference * difference))


def correlation(one: Samples, other: Samples, clean: Samples) -> float:
    """Measure how two changes of the same frames go together, -1 to 1; 0 where one of them is none."""
    first, second = (frames.astype(np.float32) - clean for frames in (one, other))
    first, second = first - first.mean(), second - second.mean()
    scale = float(np.sqrt(np.sum(first * first) * np.sum(second * second)))
    return float(np.sum(first * second)) / scale if scale else 0.0
