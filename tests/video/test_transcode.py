import struct
import subprocess
from fractions import Fraction

import av
import numpy as np
import pytest
from stressreel.corruptions.registry import SEVERITIES, check_name
from stressreel.video.decode import decode
from stressreel.video.encode import find_ffmpeg, through_codec
from stressreel.video.index import index_frames


def quantisers(frame):
    """Read the quantiser of each block, in halves, from what the decoder exports: AVVideoEncParams of FFmpeg."""
    for content in (bytes(memoryview(side)) for side in frame.side_data if "ENC_PARAMS" in str(side.type)):
        blocks, _, offset, size = struct.unpack_from("<IIQQ", content)
        base = struct.unpack_from("<i", content, 28)[0]
        yield from (base + struct.unpack_from("<i", content, offset + n * size + 16)[0] for n in range(blocks))


@pytest.mark.parametrize("name", ["mpeg1", "mpeg2"])
def test_pictures_equal_those_of_the_program(bars, tmp_path, name):
    film = bars.write(tmp_path / "film.mp4", frames=45, size=(160, 96), rate=Fraction(30000, 1001))
    corruption = check_name(name)
    for severity in SEVERITIES:
        quantiser = int(corruption.levels[severity - 1][0])
        ours = list(through_codec(decode(index_frames(film), range(45)), corruption.codec, quantiser))
        arguments = ["-loglevel", "error", "-i", film, "-threads", "1", "-c:v", corruption.codec, "-q:v", quantiser]
        subprocess.run([*map(str, [find_ffmpeg(), *arguments, "-y", tmp_path / "coded.mkv"])], check=True)
        with av.open(str(tmp_path / "coded.mkv")) as container:
            container.streams.video[0].codec_context.options = {"export_side_data": "venc_params"}
            decoded = list(container.decode(video=0))
        planes = [np.stack([frame.to_ndarray(format="yuv420p") for frame in frames]) for frames in (ours, decoded)]
        assert np.array_equal(*planes)
        found = max(value for frame in decoded for value in quantisers(frame))
        assert found == 2 * corruption.written_quantiser(severity)
