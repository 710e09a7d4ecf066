"""Compare encoded videos: two versions, an encoding with a lossless one, or the frames of decord with those of PyAV."""

from __future__ import annotations

import hashlib
import io
import tempfile
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Literal

import av
import numpy as np
from av.audio.stream import AudioStream
from numpy.typing import NDArray

from ..core.errors import VideoError
from ..core.extras import import_extra
from .encode import Sound
from .index import open_video
from .pyav import open_input, plane_view, to_rgb
from .thumbnails import UNDECODABLE, decode_video, error_line, frames_of, psnr

COMPARED = 32
LARGEST = 4096 * 2304  # pixels; decord needs more than 1 GB for larger frames
COMPARED_BYTES = 200_000_000  # RGB frames that are compared at once; at least two
TOLERANCE = 2  # grey levels; the largest rounding difference between the two scalers
NARROW = 128  # pixels; decord2 3.4.0 rejects narrower widths that divide its padded rows, such as 32, 48 and 96

ALIKE_DB = 30.0
APART_S = 0.001

LikenessKind = Literal["alike", "pictures", "frames", "size", "times", "undecodable"]


@dataclass(frozen=True)
class Likeness:
    """The result of comparing two videos.

    Attributes:
        kind: "alike" if frames agree in number, size and time (within 1 ms) and each has a PSNR of at least 30 dB;
            otherwise the first difference.
        decibels: PSNR over all planes of the frame that differs most, at most 100; None if no frames were compared.
        detail: Description of the difference, or an empty string.
        same_sound: Whether the audio tracks consist of the same packets; True if neither file has one.
    """

    kind: LikenessKind
    decibels: float | None = None
    detail: str = ""
    same_sound: bool = True


def compare_videos(first: bytes, second: bytes) -> Likeness:
    """Compare two files frame by frame. The reported PSNR is that of the worst frame, so one wrong frame is noticed."""
    worst, apart_s, counts = 0.0, 0.0, [0, 0]
    starts: tuple[float, float] | None = None
    try:
        same_sound = _sound_hash(first) == _sound_hash(second)
        for shown, meant in zip_longest(frames_of(first), frames_of(second)):
            counts[0] += shown is not None
            counts[1] += meant is not None
            if shown is None or meant is None:
                continue
            if (shown.width, shown.height) != (meant.width, meant.height):
                sizes = f"{shown.width}x{shown.height} → {meant.width}x{meant.height}"
                return Likeness("size", None, sizes, same_sound)
            worst = max(worst, _squared_error(shown, meant))
            times = shown.time or 0.0, meant.time or 0.0
            starts = starts or times
            apart_s = max(apart_s, abs((times[0] - starts[0]) - (times[1] - starts[1])))
    except UNDECODABLE as error:
        return Likeness("undecodable", None, error_line(error))
    decibels = psnr(worst)
    if counts[0] != counts[1]:
        return Likeness("frames", None, f"{counts[0]} → {counts[1]} frames", same_sound)
    if apart_s > APART_S:
        return Likeness("times", decibels, f"frames up to {apart_s:.3f} s apart", same_sound)
    if decibels < ALIKE_DB:
        return Likeness("pictures", decibels, f"{decibels:.1f} dB", same_sound)
    return Likeness("alike", decibels, "", same_sound)


def _squared_error(shown: av.VideoFrame, meant: av.VideoFrame) -> float:
    """Return the mean squared error of two frames in grey levels², computed in RGB if their formats differ."""
    planes = [_planes(frame, same_format=shown.format.name == meant.format.name) for frame in (shown, meant)]
    squares = sum(float(((a.astype(np.float32) - b) ** 2).sum(dtype=np.float64)) for a, b in zip(*planes, strict=True))
    return squares / sum(plane.size for plane in planes[0])


def _planes(frame: av.VideoFrame, *, same_format: bool) -> list[NDArray[np.uint8]]:
    if same_format and len(frame.planes) > 1:
        return [plane_view(frame, plane) for plane in range(len(frame.planes))]
    return [np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)]


def _sound_hash(content: bytes) -> str:
    with open_input(io.BytesIO(content)) as container:
        stream = container.streams.best("audio")
        if stream is None:
            return ""
        digest = hashlib.sha256()
        for packet in container.demux(stream):
            digest.update(bytes(packet))
        return digest.hexdigest()


# Loss of an encoding

BLOCK = 8
FRAME_MARGIN_DB = 1.5
BETTER_MARGIN_DB = 3.0
BLOCK_MARGIN = 2.0
BLOCK_FLOOR = 16.0
SOUND_MARGIN = 2.0
SOUND_FLOOR = 1e-3
WINDOW_S = 0.1
AAC_FRAME = 1024


@dataclass(frozen=True)
class Loss:
    """How far an encoded video differs from its original.

    Attributes:
        frames: float64 of shape (num_frames,), mean squared error over all three planes, in grey levels².
        blocks: float64 of shape (num_frames,), mean squared error of the worst 8 × 8 block in any plane.
        sound: Root mean square difference of the sound, in [-1, 1], in the worst tenth of a second; 0 if there is none.
    """

    frames: NDArray[np.float64]
    blocks: NDArray[np.float64]
    sound: float

    @property
    def decibels(self) -> float:
        """Return the PSNR over all frames, at most 100 dB."""
        return psnr(float(self.frames.mean()))


def measure_loss(content: bytes, exact: bytes) -> Loss:
    """Compare an encoded video with a lossless encoding of the same frames and sound.

    Raises:
        ValueError: They differ in number, size or format of frames, or in the layout of the sound.
        FFmpegError, IndexError: A file cannot be decoded.
    """
    frames, blocks = [], []
    for shown, meant in zip_longest(frames_of(content), frames_of(exact)):
        if shown is None or meant is None:
            raise ValueError(f"it has {'fewer' if shown is None else 'more'} frames than the cut made from the source")
        if (shown.width, shown.height) != (meant.width, meant.height):
            raise ValueError(f"its frames are {shown.width}x{shown.height}, not {meant.width}x{meant.height}")
        if shown.format.name != meant.format.name:
            raise ValueError(f"its pixel format is {shown.format.name}, not {meant.format.name}")
        total, samples, worst = 0.0, 0, 0.0
        for plane in range(len(meant.planes)):
            squares = (plane_view(shown, plane).astype(np.float32) - plane_view(meant, plane)) ** 2
            total += float(squares.sum(dtype=np.float64))
            samples += squares.size
            worst = max(worst, _worst_block(squares))
        frames.append(total / samples)
        blocks.append(worst)
    return Loss(np.array(frames), np.array(blocks), _sound_loss(_sound_of(content), _sound_of(exact)))


def _worst_block(squares: NDArray[np.float32]) -> float:
    height, width = (size // BLOCK * BLOCK for size in squares.shape)
    if not height or not width:
        return float(squares.mean())
    tiles = squares[:height, :width].reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK)
    return float(tiles.mean(axis=(1, 3)).max())


def _sound_of(content: bytes) -> Sound | None:
    with open_input(io.BytesIO(content)) as container:
        stream = container.streams.best("audio")
        if not isinstance(stream, AudioStream):
            return None
        resampler = av.AudioResampler(format="fltp", layout=stream.layout)
        frames = [resampled for frame in container.decode(stream) for resampled in resampler.resample(frame)]
        pieces = [frame.to_ndarray().astype(np.float32, copy=False) for frame in frames]
        return Sound(np.concatenate(pieces, axis=1) if pieces else np.empty((1, 0), np.float32), stream.rate)


def _sound_loss(heard: Sound | None, meant: Sound | None) -> float:
    """Return the loss in the worst tenth of a second. AAC pads the last frame with silence, so that is not compared."""
    if heard is None or meant is None:
        if heard is not meant:
            raise ValueError("it has sound, but the cut made from the source has none" if heard else "it has no sound")
        return 0.0
    length = meant.samples.shape[1]
    fits = length - AAC_FRAME < heard.samples.shape[1] < length + 2 * AAC_FRAME
    if heard.rate != meant.rate or len(heard.samples) != len(meant.samples) or not fits:
        raise ValueError(
            f"its sound has {heard.samples.shape[1]} samples of {len(heard.samples)} channels at {heard.rate} Hz, but "
            f"the cut from the source has {length} of {len(meant.samples)} at {meant.rate} Hz"
        )
    length = min(length, heard.samples.shape[1])
    squares = ((heard.samples[:, :length] - meant.samples[:, :length]) ** 2).mean(axis=0, dtype=np.float64)
    starts = np.arange(0, length, max(1, round(meant.rate * WINDOW_S)))
    counts = np.diff([*starts, length])
    return float(np.sqrt((np.add.reduceat(squares, starts) / counts).max())) if length else 0.0


def loss_difference(loss: Loss, again: Loss) -> str:
    """Explain why another encoder cannot have made a video at the same quality, or return "" if it can.

    Compared with a new encoding at the recorded settings, each frame may be up to 1.5 dB worse and must be less than 3
    dB better. The error of its worst 8 × 8 block may be twice that of the worst block in any frame, plus 16 grey
    levels². Versions of an encoder differ far less than that; altered pictures, added marks or better copies differ far
    more.
    """
    allowed = np.maximum(again.frames * 10 ** (FRAME_MARGIN_DB / 10), 1.0)
    wrong = np.flatnonzero(loss.frames > allowed)
    if len(wrong):
        return (
            f"{len(wrong)} of {len(loss.frames)} frames do not match the source (first: frame {wrong[0]}): "
            f"{loss.decibels:.1f} dB, re-encoded {again.decibels:.1f} dB"
        )
    marked = np.flatnonzero(loss.blocks > max(BLOCK_MARGIN * float(again.blocks.max()), BLOCK_FLOOR))
    if len(marked):
        return (
            f"in {len(marked)} of {len(loss.frames)} frames (first: frame {marked[0]}) a part of the picture does not "
            "match the source"
        )
    better = np.flatnonzero(loss.frames * 10 ** (BETTER_MARGIN_DB / 10) + 1.0 < again.frames)
    if len(better):
        return (
            f"{len(better)} of {len(loss.frames)} frames (first: frame {better[0]}) are closer to the source than its "
            f"settings allow: {loss.decibels:.1f} dB, re-encoded {again.decibels:.1f} dB"
        )
    if loss.sound > max(SOUND_MARGIN * again.sound, SOUND_FLOOR):
        return f"its sound does not match the source: off by {loss.sound:.4f}, re-encoded {again.sound:.4f}"
    return ""


def encoder_difference(content: bytes, again: bytes, exact: bytes) -> str:
    """Explain why another version of the encoder cannot have made a video from the same source, or return "".

    `again` is the video as rendered on this machine, and `exact` is its lossless rendering.
    """
    if again == exact:
        return "it should be an exact copy of its source but is not"  # nothing needed encoding
    try:
        video, rendered = decode_video(content, side=0), decode_video(again, side=0)
        if video.header.tracks != rendered.header.tracks:
            tracks = [", ".join(look.header.tracks) for look in (video, rendered)]
            return f"its tracks are {tracks[0]}; rendered again: {tracks[1]}"
        if video.header.tags != rendered.header.tags:
            tags = [", ".join(look.header.tags) or "empty" for look in (video, rendered)]
            return f"its metadata is {tags[0]}; rendered again: {tags[1]}"
        if video.num_frames != rendered.num_frames:
            return f"it has {video.num_frames} frames; rendered again: {rendered.num_frames}"
        apart = np.abs(video.times * float(video.time_base) - rendered.times * float(rendered.time_base)).max()
        if apart > APART_S or abs(video.header.sound_start - rendered.header.sound_start) > APART_S:
            return "the times of its frames or its sound differ from a new rendering"
        return loss_difference(measure_loss(content, exact), measure_loss(again, exact))
    except UNDECODABLE as error:
        return error_line(error)


def evenly_spaced(count: int, most: int) -> list[int]:
    """Return up to `most` evenly spaced numbers from 0 to `count` - 1, including both ends."""
    most = min(count, most)
    return [position * (count - 1) // max(most - 1, 1) for position in range(most)]


def read_by_decord(content: bytes, most: int = COMPARED) -> tuple[int, dict[int, NDArray[np.uint8]]]:
    """Read up to `most` evenly spaced frames with decord.

    The content is written to a temporary file, because decord2 3.4.0 crashes on in-memory files that refer to positions
    beyond their end.

    Returns:
        decord's frame count, and the frames by number as uint8 RGB arrays of shape (height, width, 3). There are no
        frames if decord's count differs from that in the file.

    Raises:
        ValueError: decord cannot read the video. The message is decord's own.
    """
    decord = import_extra("decord", what="decord's way of reading")
    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
        path = Path(folder) / "video.mp4"
        path.write_bytes(content)
        try:
            reader = decord.VideoReader(str(path), ctx=decord.cpu(0), num_threads=1)
            # decord2 3.4.0 may hang on frames that it counts but the file does not contain.
            indices = evenly_spaced(len(reader), most) if len(reader) == _packets(path) else []
            frames = reader.get_batch(indices).asnumpy() if indices else ()
            return len(reader), dict(zip(indices, frames, strict=True))
        except (RuntimeError, IndexError, VideoError, decord.DECORDError) as error:
            words = [line.strip().replace(str(path), "it") for line in str(error).splitlines() if line.strip()]
            raise ValueError(words[0] if words else type(error).__name__) from error


def _packets(path: Path) -> int:
    with open_video(path) as (container, stream):
        return sum(packet.size > 0 for packet in container.demux(stream))


def decord_difference(content: bytes) -> str:
    """Decode a video with decord and with PyAV. Return a description of the first difference, or "".

    Videos narrower than 128 pixels are skipped, as decord cannot read some of them, and so are those with frames of
    more than 4096 x 2304 pixels. decord has no limits of its own, so it only reads what PyAV can decode within them.
    """
    try:
        video = decode_video(content, side=0)
    except UNDECODABLE as error:
        return f"PyAV cannot decode it ({error})"
    (width, height), *other_sizes = sorted(video.sizes)
    if other_sizes:
        return "the size of its frames changes"
    if not is_compared(width, height):
        return ""
    try:
        counted, pictures = read_by_decord(content, max(2, min(COMPARED, COMPARED_BYTES // (3 * width * height))))
    except ValueError as error:
        return f"decord cannot read it ({error})"
    if counted != video.num_frames:
        return f"decord counts {counted} frames, PyAV {video.num_frames}"
    for index, frame in enumerate(frames_of(content)):
        if index in pictures and (wrong := _difference(index, pictures[index], to_rgb(frame))):
            return wrong
    return ""


def is_compared(width: int, height: int) -> bool:
    """Return whether decord can read frames of this size, in less than 1 GB of memory."""
    return width >= NARROW and width * height <= LARGEST


def _difference(index: int, picture: NDArray[np.uint8], expected: NDArray[np.uint8]) -> str:
    if picture.shape != expected.shape:
        sizes = ("{1}x{0}".format(*shown.shape) for shown in (picture, expected))
        return "decord decodes frames of {}, PyAV of {}".format(*sizes)
    apart = int(np.abs(picture.astype(np.int16) - expected).max())
    return f"frame {index} differs by {apart} grey levels between decord and PyAV" if apart > TOLERANCE else ""
