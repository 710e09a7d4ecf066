"""What PyAV 15 to 19 do differently; `.ci/matrix.py` runs this under old and new ones, so it needs none above 15."""

import struct
from fractions import Fraction
from itertools import pairwise

import av
import numpy as np
import pytest
from stressreel.core.errors import VideoError
from stressreel.video.decode import decode, upright
from stressreel.video.encode import EncodeSettings, Mp4Writer
from stressreel.video.index import index_frames
from stressreel.video.pyav import colours, copy_colours, demuxed, open_input, plane_view, to_rgb
from stressreel.video.thumbnails import decode_video

WEIGHTS = {1: (0.2126, 0.0722), 2: (0.299, 0.114), 5: (0.299, 0.114), 6: (0.299, 0.114), 9: (0.2627, 0.0593)}
"""Of red and blue in luma, by AVColorSpace; ITU-R BT.709, BT.601, BT.2020."""
HDR = (1, 9, 9, 18)
Y, X = np.mgrid[:64, :96]


def painted(*planes):
    frame = av.VideoFrame(96, 64, "yuv420p")
    for number, plane in enumerate(planes):
        plane_view(frame, number)[...] = plane
    return frame


def film(path, durations=(1,) * 6, preset="veryfast"):
    """H.264 that gets brighter, with a bright corner, tagged as BT.2020 with hybrid log-gamma."""
    other = av.VideoFrame(16, 16, "yuv420p")
    other.color_range, other.colorspace = HDR[:2]
    if hasattr(other, "color_primaries"):
        other.color_primaries, other.color_trc = HDR[2:]
    else:
        other.opaque = HDR[2:]
    settings = EncodeSettings(crf=1, preset=preset)
    with Mp4Writer(path, time_base=Fraction(1, 100), rate=Fraction(25), settings=settings) as writer:
        for number, duration in enumerate(durations):
            frame = painted(40 + 14 * number, 128, 128)
            plane_view(frame, 0)[:16, :16] = plane_view(frame, 1)[:8, :8] = 220
            writer.write(copy_colours(frame, other), duration)
    return path


@pytest.mark.parametrize(("matrix", "full"), [(1, False), (2, False), (5, True), (9, False), (9, True)])
def test_conversion_uses_matrix_and_range_of_the_frame(matrix, full):
    red, blue = WEIGHTS[matrix]
    luma, cb, cr = 60 + X // 2 + Y, 100 + X[::2, ::2] // 2, 150 - Y[::2, ::2] // 2
    frame = painted(luma, cb, cr)
    frame.colorspace, frame.color_range = matrix, 2 if full else 1
    cb, cr = (np.kron(plane, np.ones((2, 2))) - 128.0 for plane in (cb, cr))
    grey = luma if full else (luma - 16) * 255 / 219
    spread = 2 if full else 2 * 255 / 224
    r, b = grey + (1 - red) * cr * spread, grey + (1 - blue) * cb * spread
    expected = np.stack([r, (grey - red * r - blue * b) / (1 - red - blue), b], axis=-1).clip(0, 255)
    assert np.abs(to_rgb(frame)[2:-2, 2:-2] - expected[2:-2, 2:-2]).max() <= 3


def test_decoded_frames_keep_their_colours(tmp_path):
    for frame in decode(index_frames(film(tmp_path / "a.mp4")), range(2, 5)):
        for shown in (frame, upright(frame), copy_colours(av.VideoFrame(16, 16, "yuv420p"), frame)):
            assert tuple(map(int, colours(shown))) == HDR


def displayed(path, matrix):
    """Return the first frame of a film that players show with a matrix."""
    content = bytearray(film(path).read_bytes())
    offset = content.index(b"tkhd") + 4 + 40  # behind version, flags and the fields before the matrix
    a, b, c, d = (number << 16 for number in matrix)
    struct.pack_into(">9i", content, offset, a, b, 0, c, d, 0, 0, 0, 1 << 30)
    path.write_bytes(content)
    return next(decode(index_frames(path), range(1)))


@pytest.mark.parametrize(
    ("matrix", "corner", "size"),
    [((0, 1, -1, 0), (0, -1), (64, 96)), ((-1, 0, 0, -1), (-1, -1), (96, 64)), ((-1, 0, 0, 1), (0, -1), (96, 64))],
)
def test_display_matrix_is_applied(tmp_path, matrix, corner, size):
    shown = upright(displayed(tmp_path / "a.mp4", matrix))
    assert (shown.width, shown.height) == size
    for number, edge in ((0, 4), (1, 2)):
        plane = plane_view(shown, number)
        row, column = (slice(edge, 3 * edge) if offset == 0 else slice(-3 * edge, -edge) for offset in corner)
        assert plane[row, column].mean() > 180 > 140 > plane.mean()
    with pytest.raises(VideoError, match="only multiples of 90°"):
        upright(displayed(tmp_path / "a.mp4", (1, 1, -1, 1)))


def test_metadata_need_not_be_text(tmp_path):
    path = tmp_path / "a.mkv"
    with av.open(str(film(tmp_path / "a.mp4"))) as source, av.open(str(path), "w") as output:
        output.metadata["title"] = "X" * 12
        copy = output.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(source.streams.video[0]):
            if packet.dts is not None:
                packet.stream = copy
                output.mux(packet)
    path.write_bytes(path.read_bytes().replace(b"X" * 12, b"\xff\xfe\xe4" * 4))
    with open_input(path) as container:
        assert container.streams.video[0].width == 96
    assert index_frames(path).num_frames == 6


@pytest.mark.parametrize("preset", ["ultrafast", "medium"])  # without and with B-frames
def test_every_packet_and_frame_has_a_duration(tmp_path, preset):
    durations = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]
    path = film(tmp_path / "a.mp4", durations, preset)
    with open_input(path) as container:
        packets = [packet for packet in demuxed(container, container.streams.video[0]) if packet.dts is not None]
    assert [a.duration for a in packets[:-1]] == [b.dts - a.dts for a, b in pairwise(packets)]
    reordered = packets != sorted(packets, key=lambda packet: packet.pts)
    assert reordered == (preset == "medium")
    look = decode_video(path.read_bytes())
    shown = [length * look.time_base * 100 for length in look.durations.tolist()]
    assert shown[:-1] == durations[:-1]
    assert shown[-1] > 0 if reordered else shown == durations
