"""Videos made to show or sound other than they did, with the timing and the encoder that they had."""

import io
import tempfile
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from av import VideoFrame
from numpy.typing import NDArray
from stressreel.video.encode import EncodeSettings, Mp4Writer, Sound
from stressreel.video.pyav import rgb_to_yuv420p
from stressreel.video.thumbnails import frames_of

Pictures = NDArray[np.uint8]  # shape (frames, height, width, 3), RGB


def pictures_of(content: bytes) -> Pictures:
    return np.stack([frame.to_ndarray(format="rgb24") for frame in frames_of(content)])


def sound_of(content: bytes) -> Sound | None:
    with av.open(io.BytesIO(content)) as container:
        if not container.streams.audio:
            return None
        stream = container.streams.audio[0]
        samples = [frame.to_ndarray() for frame in container.decode(stream)]
        return Sound(np.concatenate(samples, axis=1).astype(np.float32), stream.rate)


def encoded(frames: Iterable[tuple[VideoFrame, int]], rate: Fraction, **options: Any) -> bytes:
    """Encode frames, each with how many units of `time_base` it lasts; options are those of `Mp4Writer`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "video.mp4"
        tag = options.pop("tag", "")
        with Mp4Writer(path, rate=rate, **options) as writer:
            if tag:
                writer._container.metadata["title"] = tag
            for frame, length in frames:
                writer.write(frame, length)
        return path.read_bytes()


def written(
    pictures: Pictures, sound: Sound | None, settings: EncodeSettings, rate: Fraction = Fraction(11), tag: str = ""
) -> bytes:
    frames = ((rgb_to_yuv420p(picture), 1) for picture in pictures)
    return encoded(frames, rate, time_base=1 / rate, settings=settings, sound=sound, tag=tag)


Repaint = Callable[[Pictures], Pictures]


def noise(pictures: Pictures) -> Pictures:
    grey = np.random.default_rng(0).integers(0, 256, (*pictures.shape[:3], 1), np.uint8)
    return np.repeat(grey, 3, axis=3)


def marked(pictures: Pictures) -> Pictures:
    """A bright square of 12 pixels in one corner: a cue that nobody sees and a model may learn."""
    pictures = pictures.copy()
    pictures[:, 4:16, 4:16] = 255
    return pictures


REPAINTS: dict[str, Repaint] = {
    "upside down": lambda pictures: pictures[:, ::-1],
    "black": np.zeros_like,
    "grey noise": noise,
    "mirrored": lambda pictures: pictures[:, :, ::-1],
    "a mark in the corner": marked,
    "brighter": lambda pictures: np.clip(pictures.astype(np.int16) + 12, 0, 255).astype(np.uint8),
    "one frame black": lambda pictures: np.concatenate([pictures[:9], 0 * pictures[9:10], pictures[10:]]),
    "first picture throughout": lambda pictures: np.repeat(pictures[:1], len(pictures), axis=0),
}


def beeping(sound: Sound) -> Sound:
    """A tenth of a second of another tone."""
    samples = sound.samples.copy()
    length = sound.rate // 10
    samples[:, length : 2 * length] += 0.2 * np.sin(np.arange(length) * 2 * np.pi * 2000 / sound.rate)
    return Sound(samples, sound.rate)


SOUNDS: dict[str, Callable[[Sound], Sound | None]] = {
    "silent": lambda sound: Sound(np.zeros_like(sound.samples), sound.rate),
    "louder": lambda sound: Sound(np.clip(2 * sound.samples, -1, 1), sound.rate),
    "a beep": beeping,
    "without sound": lambda sound: None,
}
