"""Small MP4 files that claim samples without number, opened in little memory."""

from __future__ import annotations

import io
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from stressreel.video.boxes import check_samples
from stressreel.video.encode import write_video
from stressreel.video.pyav import open_input

OPEN = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, 2_000_000_000))
from pathlib import Path
from stressreel.video.pyav import open_input
try:
    open_input(Path(sys.argv[1])).close()
    print("opened", end=" ")
except ValueError as error:
    print(error, end=" ")
status = Path("/proc/self/status").read_text()  # ru_maxrss counts what the process was forked from
print(int(status.partition("VmHWM:")[2].split()[0]) // 1024)
"""


def box(name: bytes, *content: bytes) -> bytes:
    inner = b"".join(content)
    return (8 + len(inner)).to_bytes(4) + name + inner


def integers(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(4) for number in numbers)


def track(samples: int, size: int = 1, edits: int = 0) -> bytes:
    entry = box(b"mp4v", b"\0" * 7, b"\1", b"\0" * 16, b"\0\x40" * 2, b"\0" * 46)
    table = box(
        b"stbl",
        box(b"stsd", integers(0, 1), entry),
        box(b"stts", integers(0, 1, samples, 1)),
        box(b"stsc", integers(0, 1, 1, samples, 1)),
        box(b"stsz", integers(0, size, samples)),
        box(b"stco", integers(0, 1, 28)),
    )
    return box(
        b"trak",
        box(b"tkhd", integers(0, 0, 0, 1, 0, 10_000), b"\0" * 60),
        box(b"edts", box(b"elst", integers(0, edits, *[10_000, 0, 0x10000] * edits))),
        box(
            b"mdia",
            box(b"mdhd", integers(0, 0, 0, 1000, 10_000, 0)),
            box(b"hdlr", integers(0, 0), b"vide", b"\0" * 14),
            box(b"minf", table),
        ),
    )


def film(*tracks: bytes, after: bytes = b"") -> bytes:
    """A film of tracks, with a thousand bytes of samples."""
    head = box(b"mvhd", integers(0, 0, 0, 1000, 10_000), b"\0" * 80)
    return (
        box(b"ftyp", b"isom", integers(512), b"isom") + box(b"mdat", b"\0" * 1000) + box(b"moov", head, *tracks) + after
    )


def fragment(samples: int) -> bytes:
    """A part of a film that is written in parts."""
    return box(b"moof", box(b"traf", box(b"tfhd", integers(0x20000, 1)), box(b"trun", integers(0, samples))))


@pytest.mark.parametrize(
    "content",
    [
        film(track(85_000_000)),
        film(*[track(85_000_000)] * 5),
        film(track(2**31 - 1)),
        film(track(1).replace(b"stts" + integers(0, 1, 1), b"stts" + integers(0, 1, 2**32 - 1))),
        film(track(1), after=fragment(80_000_000)),
        film(track(1000, edits=10_000)),
        film(after=box(b"skip", track(85_000_000))),
        film().replace(b"moov", b"free") + b"\0\0\0\0moov" + track(85_000_000),
    ],
    ids=["samples", "tracks", "more", "times", "fragment", "edits", "in another box", "to the end"],
)
def test_a_small_file_of_samples_without_number_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.mp4").write_bytes(content)
    for source in (io.BytesIO(content), tmp_path / "a.mp4"):
        with pytest.raises(ValueError, match="so few cannot hold"):
            open_input(source)


def test_what_is_let_through_is_opened_in_little_memory(tmp_path: Path) -> None:
    for number, content in enumerate([film(track(10_000_000)), film(track(900, edits=5000))]):
        path = tmp_path / f"{number}.mp4"
        path.write_bytes(content)
        done = subprocess.run([sys.executable, "-c", OPEN, path], capture_output=True, text=True, timeout=60)
        said, megabytes = done.stdout.split()
        assert said == "opened", done.stderr
        assert int(megabytes) < 700


def test_files_of_other_formats_and_good_ones_pass(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    write_video(path, [np.zeros((64, 96, 3), np.uint8)] * 3, rate=Fraction(25))
    for content in (path.read_bytes(), b"", b"\x1a\x45\xdf\xa3\x01\0\0\0" + b"stsz" * 100, b"RIFF" + b"x" * 20):
        file = io.BytesIO(content)
        check_samples(file)
        assert file.tell() == 0
