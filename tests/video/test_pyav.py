"""What PyAV 15 to 19 do differently; `.ci/matrix.py` runs this under old and new ones, so it needs none above 15."""

from __future__ import annotations

import struct
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from stressreel.core.errors import VideoError
from stressreel.video.decode import decode, upright
from stressreel.video.encode import EncodeSettings, Mp4Writer, write_video
from stressreel.video.index import index_frames
from stressreel.video.pyav import colours, demuxed, like, open_input, plane_view, rgb_to_yuv420p, to_rgb, to_yuv420p
from stressreel.video.thumbnails import look_at

WEIGHTS = {1: (0.2126, 0.0722), 2: (0.299, 0.114), 5: (0.299, 0.114), 6: (0.299, 0.114), 9: (0.2627, 0.0593)}
"""Of red and blue in luma, by AVColorSpace; ITU-R BT.709, BT.601, BT.2020."""
HDR = (1, 9, 9, 18)


def smooth() -> NDArray[np.uint8]:
    """A picture without edges, so that halved chroma loses nothing: uint8 RGB of shape (64, 96, 3)."""
    y, x = np.mgrid[:64, :96]
    return np.stack([40 + 2 * x, 30 + 3 * y, 235 - x - y], axis=-1).astype(np.uint8)


def tagged_film(path: Path, frames: int = 6) -> Path:
    """H.264 whose first frame is darker than the next, tagged as BT.2020 with hybrid log-gamma."""
    with Mp4Writer(path, time_base=Fraction(1, 25), rate=Fraction(25), settings=EncodeSettings(crf=1)) as writer:
        for number in range(frames):
            frame = av.VideoFrame(96, 64, "yuv420p")
            for plane in range(3):
                plane_view(frame, plane)[...] = 128 if plane else 40 + 20 * number
            plane_view(frame, 0)[:16, :16] = 220
            other = av.VideoFrame(16, 16, "yuv420p")
            other.color_range, other.colorspace = HDR[:2]
            if hasattr(frame, "color_primaries"):
                other.color_primaries, other.color_trc = HDR[2:]
            else:
                other.opaque = HDR[2:]
            writer.write(like(frame, other), 1)
    return path


def with_display_matrix(path: Path, matrix: tuple[int, int, int, int]) -> Path:
    """Write a, b, c, d of the track header's matrix, 16.16 fixed point, into an MP4 file."""
    content = bytearray(path.read_bytes())
    place = content.index(b"tkhd") + 4 + 40  # behind version, flags and the fields before the matrix
    a, b, c, d = (number << 16 for number in matrix)
    content[place : place + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("matrix", WEIGHTS)
@pytest.mark.parametrize("full", [False, True])
def test_the_frame_names_the_matrix_and_the_range(matrix: int, full: bool) -> None:
    red, blue = WEIGHTS[matrix]
    y, x = np.mgrid[:64, :96]
    luma, cb, cr = 60 + x // 2 + y, 100 + x[::2, ::2] // 2, 150 - y[::2, ::2] // 2
    frame = av.VideoFrame(96, 64, "yuv420p")
    for number, plane in enumerate((luma, cb, cr)):
        plane_view(frame, number)[...] = plane
    frame.colorspace, frame.color_range = matrix, 2 if full else 1
    cb, cr = (np.kron(plane, np.ones((2, 2))) - 128.0 for plane in (cb, cr))
    grey = luma if full else (luma - 16) * 255 / 219
    spread = 2 if full else 2 * 255 / 224
    r = grey + (1 - red) * cr * spread
    b = grey + (1 - blue) * cb * spread
    g = (grey - red * r - blue * b) / (1 - red - blue)
    expected = np.clip(np.stack([r, g, b], axis=-1), 0, 255)
    assert np.abs(to_rgb(frame)[2:-2, 2:-2] - expected[2:-2, 2:-2]).max() <= 3


@pytest.mark.parametrize("matrix", WEIGHTS)
def test_a_picture_comes_back_in_its_own_matrix(matrix: int) -> None:
    frame = rgb_to_yuv420p(smooth(), matrix)
    red, blue = WEIGHTS[matrix]
    weights = np.array([red, 1 - red - blue, blue])
    assert np.abs(plane_view(frame, 0) - (16 + smooth() @ weights * 219 / 255)).max() <= 1.5
    frame.colorspace = matrix
    assert np.abs(to_rgb(frame).astype(int) - smooth()).max() <= 6


@pytest.mark.parametrize("name", ["yuv420p", "yuvj420p"])
def test_full_range_becomes_limited(name: str) -> None:
    frame = av.VideoFrame(256, 16, name)
    ramp = np.tile(np.arange(256, dtype=np.uint8), (16, 1))
    for number in range(3):
        plane_view(frame, number)[...] = ramp if number == 0 else 128
    frame.color_range = 2
    shown = to_yuv420p(frame)
    assert (shown.format.name, int(shown.color_range)) == ("yuv420p", 1)
    assert np.abs(plane_view(shown, 0) - (16 + ramp * (219 / 255))).max() <= 1


def test_decoded_frames_keep_all_their_colours(tmp_path: Path) -> None:
    index = index_frames(tagged_film(tmp_path / "a.mp4"))
    for frame in decode(index, range(2, 5)):
        assert tuple(map(int, colours(frame))) == HDR
        assert tuple(map(int, colours(upright(frame)))) == HDR
        blank = av.VideoFrame(16, 16, "yuv420p")
        assert tuple(map(int, colours(like(blank, frame)))) == HDR


@pytest.mark.parametrize(
    ("matrix", "corner", "size"),
    [
        ((1, 0, 0, 1), (0, 0), (96, 64)),
        ((0, 1, -1, 0), (0, -1), (64, 96)),
        ((-1, 0, 0, -1), (-1, -1), (96, 64)),
        ((0, -1, 1, 0), (-1, 0), (64, 96)),
        ((-1, 0, 0, 1), (0, -1), (96, 64)),
    ],
)
def test_the_display_matrix_is_applied(
    tmp_path: Path, matrix: tuple[int, int, int, int], corner: tuple[int, int], size: tuple[int, int]
) -> None:
    path = with_display_matrix(tagged_film(tmp_path / "a.mp4"), matrix)
    for raw in decode(index_frames(path), range(3)):
        shown = upright(raw)
        luma = plane_view(shown, 0)
        assert (shown.width, shown.height) == size
        row, column = (slice(4, 12) if place == 0 else slice(-12, -4) for place in corner)
        assert luma[row, column].mean() > 180
        assert luma.mean() < 130


def test_a_slant_is_refused(tmp_path: Path) -> None:
    path = with_display_matrix(tagged_film(tmp_path / "a.mp4"), (1, 1, -1, 1))
    with pytest.raises(VideoError, match="only multiples of 90°"):
        upright(next(decode(index_frames(path), range(1))))


def test_metadata_that_are_no_text_do_not_matter(tmp_path: Path) -> None:
    plain, broken = tmp_path / "a.mkv", tmp_path / "broken.mkv"
    write_video(tmp_path / "a.mp4", [smooth()] * 5, rate=Fraction(25))
    with av.open(str(tmp_path / "a.mp4")) as source, av.open(str(plain), "w") as output:
        output.metadata["title"] = "X" * 12
        copy = output.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(source.streams.video[0]):
            if packet.dts is not None:
                packet.stream = copy
                output.mux(packet)
    assert b"X" * 12 in plain.read_bytes()
    broken.write_bytes(plain.read_bytes().replace(b"X" * 12, b"\xff\xfe\xe4" * 4))
    with open_input(broken) as container:
        assert container.streams.video[0].width == 96
    assert index_frames(broken).num_frames == 5


@pytest.mark.parametrize("preset", ["ultrafast", "medium"])  # without and with B-frames
def test_every_frame_knows_how_long_it_is_shown(tmp_path: Path, preset: str) -> None:
    path = tmp_path / "a.mp4"
    durations = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]
    settings = EncodeSettings(preset=preset)
    with Mp4Writer(path, time_base=Fraction(1, 100), rate=Fraction(25), settings=settings) as writer:
        for number, duration in enumerate(durations):
            frame = av.VideoFrame(96, 64, "yuv420p")
            for plane in range(3):
                plane_view(frame, plane)[...] = 128 if plane else 16 * number
            writer.write(frame, duration)
    with open_input(path) as container:
        packets = [packet for packet in demuxed(container, container.streams.video[0]) if packet.dts is not None]
    assert [a.duration for a in packets[:-1]] == [b.dts - a.dts for a, b in pairwise(packets)]
    reordered = packets != sorted(packets, key=lambda packet: packet.pts)
    assert reordered == (preset == "medium")
    look = look_at(path.read_bytes())
    shown = [length * look.time_base * 100 for length in look.durations.tolist()]
    assert shown[:-1] == durations[:-1]
    assert shown[-1] > 0 if reordered else shown == durations
