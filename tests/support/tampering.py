"""Videos made to show or sound other than they did, with the timing and the encoder that they had."""

import io
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
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


def written(
    pictures: Pictures, sound: Sound | None, settings: EncodeSettings, rate: Fraction = Fraction(11), tag: str = ""
) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "video.mp4"
        with Mp4Writer(path, time_base=1 / rate, rate=rate, settings=settings, sound=sound) as writer:
            if tag:
                writer._container.metadata["title"] = tag
            for picture in pictures:
                writer.write(rgb_to_yuv420p(picture), 1)
        return path.read_bytes()


Repaint = Callable[[Pictures], Pictures]


def repainted(content: bytes, repaint: Repaint, settings: EncodeSettings) -> bytes:
    """Encode a video's pictures, repainted, with its sound."""
    return written(repaint(pictures_of(content)), sound_of(content), settings)


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


def silenced(sound: Sound) -> Sound:
    return Sound(np.zeros_like(sound.samples), sound.rate)


def louder(sound: Sound) -> Sound:
    return Sound(np.clip(2 * sound.samples, -1, 1), sound.rate)


def beeping(sound: Sound) -> Sound:
    """A tenth of a second of another tone."""
    samples = sound.samples.copy()
    length = sound.rate // 10
    samples[:, length : 2 * length] += 0.2 * np.sin(np.arange(length) * 2 * np.pi * 2000 / sound.rate)
    return Sound(samples, sound.rate)


SOUNDS: dict[str, Callable[[Sound], Sound | None]] = {
    "silent": silenced,
    "louder": louder,
    "a beep": beeping,
    "without sound": lambda sound: None,
}
