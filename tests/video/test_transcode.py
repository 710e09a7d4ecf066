"""Video codecs give the pictures that FFmpeg's program gives."""

from __future__ import annotations

import struct
import subprocess
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from stressreel.corruptions.registry import SEVERITIES, check_name
from stressreel.video.decode import decode
from stressreel.video.encode import write_video
from stressreel.video.ffmpeg import find_ffmpeg
from stressreel.video.index import index_frames
from stressreel.video.transcode import through_codec

RATE = Fraction(30000, 1001)


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second and a half of moving detail."""
    detail = cv2.GaussianBlur(np.random.default_rng(0).integers(0, 256, (96, 250, 3), np.uint8), (0, 0), 2)
    detail = cv2.normalize(detail, None, 0, 255, cv2.NORM_MINMAX)
    path = tmp_path_factory.mktemp("film") / "film.mp4"
    write_video(path, (detail[:, 2 * n : 2 * n + 160] for n in range(45)), rate=RATE)
    return path


def planes(frame: av.VideoFrame) -> NDArray[np.uint8]:
    return frame.to_ndarray(format="yuv420p")


def quantisers(frame: av.VideoFrame) -> set[int]:
    """Read the quantiser of each block, in halves, from what the decoder exports: AVVideoEncParams of FFmpeg."""
    found = set()
    for content in (bytes(memoryview(side)) for side in frame.side_data if "ENC_PARAMS" in str(side.type)):
        blocks, _, offset, size = struct.unpack_from("<IIQQ", content)
        base = struct.unpack_from("<i", content, 28)[0]
        found |= {base + struct.unpack_from("<i", content, offset + n * size + 16)[0] for n in range(blocks)}
    return found


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("name", ["mpeg1", "mpeg2"])
def test_the_pictures_of_the_program(film: Path, tmp_path: Path, name: str, severity: int) -> None:
    corruption = check_name(name)
    quantiser = int(corruption.levels[severity - 1][0])
    index = index_frames(film)
    ours = [planes(f) for f in through_codec(decode(index, range(45)), corruption.codec, quantiser)]
    given = ["-loglevel", "error", "-i", film, "-threads", "1", "-c:v", corruption.codec, "-q:v", quantiser]
    subprocess.run([*map(str, [find_ffmpeg(), *given, tmp_path / "coded.mkv"])], check=True)
    with av.open(str(tmp_path / "coded.mkv")) as container:
        container.streams.video[0].codec_context.options = {"export_side_data": "venc_params"}
        decoded = list(container.decode(video=0))
    assert np.array_equal(np.stack(ours), np.stack([planes(frame) for frame in decoded]))
    written = set().union(*map(quantisers, decoded))
    assert max(written) == 2 * corruption.written_quantiser(severity)
