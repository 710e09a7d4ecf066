import struct
import subprocess
from fractions import Fraction

import av
import cv2
import numpy as np
import pytest
from stressreel.corruptions.registry import SEVERITIES, check_name
from stressreel.video.decode import decode
from stressreel.video.encode import find_ffmpeg, through_codec, write_video
from stressreel.video.index import index_frames


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    detail = cv2.GaussianBlur(np.random.default_rng(0).integers(0, 256, (96, 250, 3), np.uint8), (0, 0), 2)
    detail = cv2.normalize(detail, None, 0, 255, cv2.NORM_MINMAX)
    path = tmp_path_factory.mktemp("film") / "film.mp4"
    write_video(path, (detail[:, 2 * n : 2 * n + 160] for n in range(45)), rate=Fraction(30000, 1001))
    return path


def quantisers(frame):
    """Read the quantiser of each block, in halves, from what the decoder exports: AVVideoEncParams of FFmpeg."""
    for content in (bytes(memoryview(side)) for side in frame.side_data if "ENC_PARAMS" in str(side.type)):
        blocks, _, offset, size = struct.unpack_from("<IIQQ", content)
        base = struct.unpack_from("<i", content, 28)[0]
        yield from (base + struct.unpack_from("<i", content, offset + n * size + 16)[0] for n in range(blocks))


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("name", ["mpeg1", "mpeg2"])
def test_pictures_equal_those_of_the_program(film, tmp_path, name, severity):
    corruption = check_name(name)
    quantiser = int(corruption.levels[severity - 1][0])
    ours = list(through_codec(decode(index_frames(film), range(45)), corruption.codec, quantiser))
    arguments = ["-loglevel", "error", "-i", film, "-threads", "1", "-c:v", corruption.codec, "-q:v", quantiser]
    subprocess.run([*map(str, [find_ffmpeg(), *arguments, tmp_path / "coded.mkv"])], check=True)
    with av.open(str(tmp_path / "coded.mkv")) as container:
        container.streams.video[0].codec_context.options = {"export_side_data": "venc_params"}
        decoded = list(container.decode(video=0))
    planes = [np.stack([frame.to_ndarray(format="yuv420p") for frame in frames]) for frames in (ours, decoded)]
    assert np.array_equal(*planes)
    assert max(value for frame in decoded for value in quantisers(frame)) == 2 * corruption.written_quantiser(severity)
