"""Files of strangers: what could make FFmpeg read another file, or ask an address, is refused before it does."""

from __future__ import annotations

import hashlib
import io
import json
import os
import socket
import struct
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import av
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import run
from stressreel.core.errors import VideoError
from stressreel.exports import frames as exported_frames
from stressreel.exports import harness
from stressreel.video import index as indexing
from stressreel.video import pyav
from stressreel.video.decode import decode
from stressreel.video.index import index_frames
from stressreel.video.pyav import open_input
from stressreel.video.thumbnails import frames_of

if TYPE_CHECKING:
    from conftest import Bars

HLS = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{}\n#EXT-X-ENDLIST\n"
DASH = (
    '<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"'
    ' profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="video/mp4">'
    '<Representation id="1" bandwidth="1"><BaseURL>{}</BaseURL></Representation></AdaptationSet></Period></MPD>'
)
SDP = (
    "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video {port} RTP/AVP 96\na=rtpmap:96 H264/90000\n"
)
TEXTS = {
    "concat": "ffconcat version 1.0\nfile {}\n",
    "concat with a NUL": "ffconcat version 1.0\n#\0\0\0\nfile {}\n",
    "hls": HLS,
    "dash": DASH,
    "sdp": SDP,
    "imf": '<?xml version="1.0"?><CompositionPlaylist><Id>{}</Id></CompositionPlaylist>',
    "avisynth": 'DirectShowSource("{}")\n',
    "asx": '<asx version="3.0"><entry><ref href="{}"/></entry></asx>',
    "subtitles": "[Script Info]\nScriptType: v4.00+\n[Fonts]\nfontname: {}\n",
    "svg": '<svg xmlns="http://www.w3.org/2000/svg"><image href="{}"/></svg>',
}
SUFFIXES = {"hls": ".m3u8", "dash": ".mpd", "sdp": ".sdp", "avisynth": ".avs", "asx": ".asx", "subtitles": ".ass"}


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A server that must not be asked."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def unasked(server: socket.socket) -> bool:
    try:
        server.accept()
    except BlockingIOError:
        return True
    return False


def refused(path: Path) -> str:
    """What is said of a file that no reader opens."""
    with pytest.raises(VideoError) as caught:
        index_frames(path)
    assert caught.value.reason == "unreadable_video"
    with pytest.raises((ValueError, OSError)):
        open_input(io.BytesIO(path.read_bytes()))
    with pytest.raises((ValueError, OSError)):
        next(frames_of(path.read_bytes()))
    with pytest.raises((ValueError, OSError)):
        exported_frames.sampled_frames(path, 2, 0)
    return caught.value.detail


@pytest.mark.parametrize("to", ["file", "address"])
@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("ending", ["video", "own"])
def test_texts_that_name_other_files(
    tmp_path: Path,
    bars: type[Bars],
    monkeypatch: pytest.MonkeyPatch,
    listener: socket.socket,
    kind: str,
    to: str,
    ending: str,
) -> None:
    bars.write(tmp_path / "secret.mp4", frames=5)
    port = listener.getsockname()[1]
    target = "secret.mp4" if to == "file" else f"http://127.0.0.1:{port}/a.mp4"
    path = tmp_path / f"clip{'.mp4' if ending == 'video' else SUFFIXES.get(kind, '.txt')}"
    path.write_text(TEXTS[kind].replace("{port}", str(port)).replace("{}", target))
    monkeypatch.chdir(tmp_path)
    said = refused(path)
    assert unasked(listener)
    if kind in ("concat", "sdp"):
        assert said == f"{path.name}: its format is {kind}, which can name other files; give a video file such as MP4"


def test_the_playlist_would_be_followed_otherwise(tmp_path: Path, bars: type[Bars]) -> None:
    bars.write(tmp_path / "secret.mp4", frames=5)
    (tmp_path / "clip.mp4").write_text(TEXTS["concat"].format("secret.mp4"))
    assert bars.read_codes(tmp_path / "clip.mp4") == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "name",
    [
        "http:127.0.0.1:{}.mp4",
        "tcp:127.0.0.1:{}.mp4",
        "rtsp:127.0.0.1:{}.mp4",
        "concat:secret.mp4",
        "subfile,,start,0,end,0,,:secret.mp4",
        "async:secret.mp4",
        "cache:secret.mp4",
        "data:secret.mp4",
        "pipe:0.mp4",
        "fd:.mp4",
        "file:secret.mp4",
        "%03d.mp4",
        "[a]*?.mp4",
    ],
)
def test_names_are_names_of_files(
    tmp_path: Path, bars: type[Bars], monkeypatch: pytest.MonkeyPatch, listener: socket.socket, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    bars.write(Path("secret.mp4"), frames=5)
    own = Path(name.format(listener.getsockname()[1]))
    own.write_bytes(bars.write(tmp_path / "own.mp4", frames=7).read_bytes())
    assert index_frames(own).num_frames == 7
    assert unasked(listener)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes in folders are of POSIX")
def test_a_pipe_does_not_keep_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "clip.mp4")
    with pytest.raises(VideoError, match="is a FIFO; give a regular file"):
        index_frames(tmp_path / "clip.mp4")


def test_patterns_of_pictures_are_refused(tmp_path: Path) -> None:
    (tmp_path / "p%03d.png").write_bytes(b"x")
    with pytest.raises(VideoError, match="give a video file"):
        index_frames(tmp_path / "p%03d.png")


# An MP4 file whose track lies in another file


def box(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", 8 + len(content)) + kind + content


def with_reference(content: bytes, name: bytes) -> bytes:
    """Let the tracks of an MP4 file be in another file beside it, as QuickTime's aliases say."""
    alias = b"".join(
        [
            bytes(4),  # version and flags: not in this file
            bytes(10),
            bytes([1]) + b"v".ljust(27, b"\0"),
            bytes(12),
            bytes([len(name)]) + name.ljust(63, b"\0"),
            bytes(16),
            struct.pack(">HH", 1, 1),
            bytes(16),
            struct.pack(">HH", 2, len(name) + 1) + b"/" + name + bytes((len(name) + 1) % 2),
            struct.pack(">HH", 0xFFFF, 0),
        ]
    )
    reference = box(b"dref", struct.pack(">II", 0, 1) + box(b"alis", alias))
    place, at = [], 0
    inner = [b"moov", b"trak", b"mdia", b"minf", b"dinf", b"dref"]
    for kind in inner:
        at = content.index(kind, at)
        place.append(at - 4)
    size = struct.unpack(">I", content[place[-1] : place[-1] + 4])[0]
    assert content.index(b"mdat") < place[0]  # so that no offset changes
    changed = bytearray(content[: place[-1]] + reference + content[place[-1] + size :])
    for start in place[:-1]:
        old = struct.unpack(">I", changed[start : start + 4])[0]
        changed[start : start + 4] = struct.pack(">I", old + len(reference) - size)
    return bytes(changed)


def test_tracks_in_other_files_are_not_followed(tmp_path: Path, bars: type[Bars]) -> None:
    whole = bars.write(tmp_path / "secret.mp4", frames=5).read_bytes()
    lent = with_reference(whole, b"secret.mp4")
    start = whole.index(b"mdat") + 4
    stop = whole.index(b"moov") - 4
    path = tmp_path / "clip.mp4"
    path.write_bytes(lent[:start] + bytes(stop - start) + lent[stop:])  # nothing of its own
    with av.open(str(path), container_options={"enable_drefs": "1"}) as container:
        assert len(list(container.decode(video=0))) == 5  # the file does what it should
    with pytest.raises(VideoError):
        index_frames(path, decode=True)
    with pytest.raises(VideoError):
        list(decode(index_frames(path), range(5)))
    with pytest.raises((ValueError, OSError)):
        exported_frames.sampled_frames(path, 2, 0)


# Files that claim too much


def test_pictures_that_are_too_large(tmp_path: Path, bars: type[Bars], monkeypatch: pytest.MonkeyPatch) -> None:
    path = bars.write(tmp_path / "a.mp4", frames=2)
    monkeypatch.setattr(pyav, "MOST_PIXELS", 96 * 64 - 1)
    with pytest.raises(VideoError, match="its pictures have 96 x 64 pixels; 6,143 are the most that are decoded"):
        index_frames(path)


def test_pictures_that_grow_on_the_way(tmp_path: Path, bars: type[Bars], monkeypatch: pytest.MonkeyPatch) -> None:
    """The decoder itself refuses what the header does not say."""
    path = bars.write(tmp_path / "a.mp4", frames=2)
    monkeypatch.setattr(pyav, "CODEC_GUARDS", {"max_pixels": "100"})
    with pytest.raises(VideoError):
        index_frames(path, decode=True)


@pytest.mark.parametrize("decoding", [False, True])
def test_frames_without_end(tmp_path: Path, bars: type[Bars], monkeypatch: pytest.MonkeyPatch, decoding: bool) -> None:
    for name in ("a.mp4", "a.mkv"):  # the one says how many, the other does not
        path = bars.write(tmp_path / name, frames=9)
        monkeypatch.setattr(indexing, "MOST_FRAMES", 9)
        assert index_frames(path, decode=decoding).num_frames == 9
        monkeypatch.setattr(indexing, "MOST_FRAMES", 8)
        with pytest.raises(VideoError, match=f"{name}: it has more than 8 frames"):
            index_frames(path, decode=decoding)


def test_hours_without_end(tmp_path: Path, bars: type[Bars]) -> None:
    path = bars.write(tmp_path / "a.mkv", frames=2, pts=[0, 3_600_000 * 30 + 1], time_base=Fraction(1, 30))
    with pytest.raises(VideoError, match=r"a\.mkv: it lasts more than 1,000 hours"):
        index_frames(path)


def test_a_small_file_that_claims_millions(tmp_path: Path, bars: type[Bars]) -> None:
    """All samples of one size need no table of them, so that a few bytes say how many there are."""
    content = bars.write(tmp_path / "a.mp4", frames=9).read_bytes()
    many = bytearray(content)
    count = 5_000_000
    at = content.index(b"stsz") + 4
    many[at : at + 12] = struct.pack(">III", 0, 1, count)
    at = content.index(b"stts") + 4
    many[at : at + 16] = struct.pack(">IIII", 0, 1, count, 1)
    at = content.index(b"stsc") + 4
    many[at : at + 20] = struct.pack(">IIIII", 0, 1, 1, count, 1)
    path = tmp_path / "many.mp4"
    path.write_bytes(bytes(many))
    with pytest.raises(VideoError, match="it has more than 4,000,000 frames"):
        index_frames(path)


# A build, and what exports copy


def test_a_build_skips_them(tmp_path: Path, bars: type[Bars], listener: socket.socket) -> None:
    videos = tmp_path / "videos"
    videos.mkdir()
    bars.write(tmp_path / "secret.mp4", frames=12)
    port = listener.getsockname()[1]
    bars.write(videos / f"http:127.0.0.1:{port}.mp4", frames=12)
    (videos / "list.mp4").write_text(TEXTS["concat"].format("../secret.mp4"))
    lines = ["video,caption", f"http:127.0.0.1:{port}.mp4,a man runs", "list.mp4,a dog sits"]
    (tmp_path / "c.csv").write_text("\n".join(lines) + "\n")
    given = ("--captions", "../c.csv", "--videos", ".", "--perturbations", "freeze", "--severity", "1", "--no-progress")
    out = tmp_path / "out"
    done = run("build-perturbed", *given, "--out", out, "--allow-missing", cwd=videos)
    assert done.code == 0, done.err
    about = json.loads((out / "build.json").read_text())
    assert about["counts"]["clean"] == {"test": 1}  # the one with the odd name
    assert "list.mp4: its format is concat, which can name other files" in json.dumps(about["skips"])
    assert unasked(listener)


def test_exports_read_the_same_formats() -> None:
    assert exported_frames.FORMATS == pyav.FORMATS
    assert exported_frames.GUARDS == pyav.GUARDS


@pytest.mark.parametrize("kind", ["concat", "hls", "dash", "sdp"])
def test_exports_hand_no_playlist_to_a_harness(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = TEXTS[kind].encode()
    row = {"video_id": "a", "sha256": hashlib.sha256(content).hexdigest(), "video": {"bytes": content, "path": "a.mp4"}}
    (tmp_path / "videos").mkdir()
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "videos" / "test-00000-of-00001.parquet")
    monkeypatch.setattr(harness, "output", lambda: {"path": str(tmp_path)})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    harness.places.cache_clear()
    with pytest.raises(ValueError, match="is a text, such as a playlist"):
        harness.video_path("videos", {"video_id": "a"})
    row["sha256"] = "../../../secret"
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "videos" / "test-00000-of-00001.parquet")
    harness.places.cache_clear()
    with pytest.raises(ValueError, match="a sha256 that is none"):
        harness.video_path("videos", {"video_id": "a"})
    harness.places.cache_clear()
