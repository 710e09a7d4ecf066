"""Small MP4 files that claim samples without number, opened in little memory."""

import io
from fractions import Fraction

import numpy as np
import pytest
from stressreel.video.encode import write_video
from stressreel.video.pyav import check_samples, open_input


def box(name, *content):
    inner = b"".join(content)
    return (8 + len(inner)).to_bytes(4) + name + inner


def integers(*numbers):
    return b"".join(number.to_bytes(4) for number in numbers)


def track(samples, size=1, edits=0):
    entry = box(b"mp4v", b"\0" * 7, b"\1", b"\0" * 16, b"\0\x40" * 2, b"\0" * 46)
    table = box(
        b"stbl",
        box(b"stsd", integers(0, 1), entry),
        box(b"stts", integers(0, 1, samples, 1)),
        box(b"stsc", integers(0, 1, 1, samples, 1)),
        box(b"stsz", integers(0, size, samples)),
        box(b"stco", integers(0, 1, 28)),
    )
    head = box(b"tkhd", integers(0, 0, 0, 1, 0, 10_000), b"\0" * 60)
    edit = box(b"edts", box(b"elst", integers(0, edits, *[10_000, 0, 0x10000] * edits)))
    media = (box(b"mdhd", integers(0, 0, 0, 1000, 10_000, 0)), box(b"hdlr", integers(0, 0), b"vide", b"\0" * 14))
    return box(b"trak", head, edit, box(b"mdia", *media, box(b"minf", table)))


def film(*tracks, after=b""):
    """A film of tracks, with a thousand bytes of samples."""
    head = box(b"mvhd", integers(0, 0, 0, 1000, 10_000), b"\0" * 80)
    first = box(b"ftyp", b"isom", integers(512), b"isom") + box(b"mdat", b"\0" * 1000)
    return first + box(b"moov", head, *tracks) + after


FRAGMENT = box(b"moof", box(b"traf", box(b"tfhd", integers(0x20000, 1)), box(b"trun", integers(0, 80_000_000))))
CLAIMS = {
    "samples": film(track(85_000_000)),
    "times": film(track(1).replace(b"stts" + integers(0, 1, 1), b"stts" + integers(0, 1, 2**32 - 1))),
    "fragment": film(track(1), after=FRAGMENT),
    "edits": film(track(1000, edits=10_000)),
    "in another box": film(after=box(b"skip", track(85_000_000))),
    "to the end": film().replace(b"moov", b"free") + b"\0\0\0\0moov" + track(85_000_000),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_small_file_of_samples_without_number_is_refused(tmp_path, name):
    (tmp_path / "a.mp4").write_bytes(CLAIMS[name])
    for source in (io.BytesIO(CLAIMS[name]), tmp_path / "a.mp4"):
        with pytest.raises(ValueError, match="bytes can hold"):
            open_input(source)


def test_files_of_other_formats_and_good_ones_pass(tmp_path):
    path = tmp_path / "a.mp4"
    write_video(path, [np.zeros((64, 96, 3), np.uint8)] * 3, rate=Fraction(25))
    for content in (path.read_bytes(), b"", b"\x1a\x45\xdf\xa3\x01\0\0\0" + b"stsz" * 100, b"RIFF" + b"x" * 20):
        file = io.BytesIO(content)
        check_samples(file)
        assert file.tell() == 0
