"""Compress frames as JPEG, or clips with one of two video codecs.

Source: Schiappa et al. 2022 (arXiv 2207.02159), after Hendrycks & Dietterich 2019 (arXiv 1903.12261).
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from ...video.encode import through_codec
from ...video.pyav import rgb_to_yuv420p, to_rgb
from . import Frame


def jpeg(frame: Frame, quality: int) -> Frame:
    """Compress and decompress a frame as JPEG, exactly like PIL's `Image.save(format="JPEG", quality=quality)`.

    Both libraries use libjpeg-turbo with its exact integer DCT and 4:2:0 chroma. OpenCV avoids PIL's copies.

    Args:
        frame: uint8 array of shape (H, W, C), RGB or grey, up to 65,500 pixels per side; not modified.
        quality: libjpeg quality, 1 to 100; 25 18 15 10 7 in the paper.
    """
    grey = frame.shape[2] == 1
    picture = frame if grey else cv2.cvtColor(frame, cv2.COLOR_RGB2BGR)
    _, file = cv2.imencode(".jpg", picture, (cv2.IMWRITE_JPEG_QUALITY, quality))
    decoded = cv2.imdecode(file, cv2.IMREAD_GRAYSCALE if grey else cv2.IMREAD_COLOR_RGB)
    return np.asarray(decoded, np.uint8).reshape(frame.shape)


def mpeg1(frames: NDArray[np.uint8], quantiser: float) -> NDArray[np.uint8]:
    """Encode and decode a clip with FFmpeg's `mpeg2video` and a fixed quantiser; this is the paper's MPEG1.

    Unlike in the released code, every frame is encoded exactly once. The codec's format is yuv420p, which also halves
    the resolution of colour.

    Args:
        frames: uint8 array of shape (T, H, W, C), RGB or grey, T at least 1.
        quantiser: FFmpeg's `-q:v`; 20 40 60 80 100 in the paper. FFmpeg records at most 31, but higher values still
            change the pictures.

    Raises:
        VideoError: The codec rejects the pictures or loses frames.
    """
    return _coded(frames, "mpeg2video", int(quantiser))


def mpeg2(frames: NDArray[np.uint8], quantiser: float) -> NDArray[np.uint8]:
    """Encode and decode a clip with FFmpeg's `mpeg4` and a fixed quantiser, the paper's MPEG2; see `mpeg1`."""
    return _coded(frames, "mpeg4", int(quantiser))


def _coded(frames: NDArray[np.uint8], codec: str, quantiser: int) -> NDArray[np.uint8]:
    _, height, width, channels = frames.shape
    padded = np.pad(frames, ((0, 0), (0, height % 2), (0, width % 2), (0, 0)), mode="edge")
    rgb = np.repeat(padded, 3 // channels, axis=-1)
    pictures = (rgb_to_yuv420p(picture) for picture in rgb)
    decoded = [to_rgb(frame) for frame in through_codec(pictures, codec, quantiser)]
    return np.stack(decoded)[:, :height, :width, :channels]
