"""Files that could make FFmpeg read other files, connect to an address or exhaust memory are refused before it does."""

import hashlib
import io
import os
import socket
from fractions import Fraction
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stressreel.core.errors import VideoError
from stressreel.exports import frames as exported_frames
from stressreel.exports import harness
from stressreel.video import index as indexing
from stressreel.video import pyav
from stressreel.video.index import index_frames
from stressreel.video.pyav import check_samples, open_input

TEXTS = {
    "concat": "ffconcat version 1.0\nfile {}\n",
    "concat with a NUL": "ffconcat version 1.0\n#\0\0\0\nfile {}\n",
    "hls": "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{}\n#EXT-X-ENDLIST\n",
    "dash": '<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"'
    ' profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="video/mp4">'
    '<Representation id="1" bandwidth="1"><BaseURL>{}</BaseURL></Representation></AdaptationSet></Period></MPD>',
    "sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video {port} RTP/AVP 96\n"
    "a=rtpmap:96 H264/90000\n",
    "subtitles": "[Script Info]\nScriptType: v4.00+\n[Fonts]\nfontname: {}\n",
}
SUFFIXES = {"hls": ".m3u8", "dash": ".mpd", "sdp": ".sdp", "subtitles": ".ass"}


@pytest.fixture
def port():
    """A port on loopback to which nothing may connect."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server.getsockname()[1]
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize("kind", TEXTS)
def test_texts_that_refer_to_other_files(tmp_path, bars, monkeypatch, port, kind):
    bars.write(tmp_path / "secret.mp4", frames=5)
    monkeypatch.chdir(tmp_path)
    targets = ("secret.mp4", f"http://127.0.0.1:{port}/a.mp4")
    for target, suffix in product(targets, (".mp4", SUFFIXES.get(kind, ".txt"))):
        path = tmp_path / f"clip{suffix}"
        path.write_text(TEXTS[kind].replace("{port}", str(port)).replace("{}", target))
        with pytest.raises(VideoError, match=path.name) as caught:
            index_frames(path)
        assert caught.value.reason == "unreadable_video"
        assert kind not in ("concat", "sdp") or f"format is {kind}" in caught.value.detail
        with pytest.raises((ValueError, OSError)):
            open_input(io.BytesIO(path.read_bytes()))
        with pytest.raises((ValueError, OSError)):
            exported_frames.sampled_frames(path, 2, 0)


def test_names_are_names_of_files(tmp_path, bars, monkeypatch, port):
    monkeypatch.chdir(tmp_path)
    bars.write(Path("secret.mp4"), frames=5)
    content = bars.write(tmp_path / "own.mp4", frames=7).read_bytes()
    for name in (f"http:127.0.0.1:{port}.mp4", "concat:secret.mp4", "file:secret.mp4", "pipe:0.mp4", "%03d.mp4"):
        Path(name).write_bytes(content)
        assert index_frames(Path(name)).num_frames == 7
    Path("p%03d.png").write_bytes(b"x")
    with pytest.raises(VideoError, match="use a video file"):
        index_frames(tmp_path / "p%03d.png")
    if hasattr(os, "mkfifo"):  # of POSIX
        os.mkfifo("clip.mp4")
        with pytest.raises(VideoError, match="FIFO"):
            index_frames(tmp_path / "clip.mp4")


def test_large_pictures_are_refused(tmp_path, bars, monkeypatch):
    path = bars.write(tmp_path / "a.mp4", frames=2)
    with monkeypatch.context() as patch:
        patch.setattr(pyav, "MOST_PIXELS", 96 * 64 - 1)
        with pytest.raises(VideoError, match=r"96 x 64 .*6,143"):
            index_frames(path)
    monkeypatch.setattr(pyav, "CODEC_GUARDS", {"max_pixels": "100"})  # of the decoder, whatever the header says
    with pytest.raises(VideoError):
        index_frames(path, decode=True)


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])  # only MP4 states the number of frames
def test_number_of_frames_and_hours_is_limited(tmp_path, bars, monkeypatch, name):
    path = bars.write(tmp_path / name, frames=9)
    monkeypatch.setattr(indexing, "MOST_FRAMES", 9)
    assert index_frames(path).num_frames == 9
    monkeypatch.setattr(indexing, "MOST_FRAMES", 8)
    for decode in (False, True):
        with pytest.raises(VideoError, match=f"{name}.*more than 8 frames"):
            index_frames(path, decode=decode)
    path = bars.write(tmp_path / "long.mkv", pts=[0, 3_600_000 * 30 + 1], time_base=Fraction(1, 30))
    with pytest.raises(VideoError, match=r"long\.mkv.*1,000 hours"):
        index_frames(path)


def test_exports_refuse_the_same_files(tmp_path, monkeypatch):
    assert (exported_frames.FORMATS, exported_frames.GUARDS) == (pyav.FORMATS, pyav.GUARDS)
    (tmp_path / "videos").mkdir()
    monkeypatch.setattr(harness, "output", lambda: {"path": str(tmp_path)})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    content = TEXTS["hls"].encode()
    cases = {hashlib.sha256(content).hexdigest(): "text file", "../../../secret": "invalid sha256"}
    for sha256, message in cases.items():
        row = {"video_id": "a", "sha256": sha256, "video": {"bytes": content, "path": "a.mp4"}}
        pq.write_table(pa.Table.from_pylist([row]), tmp_path / "videos" / "test-00000-of-00001.parquet")
        harness.places.cache_clear()
        with pytest.raises(ValueError, match=message):
            harness.video_path("videos", {"video_id": "a"})
    harness.places.cache_clear()


def box(name, *numbers, content=b""):
    inner = b"".join(number.to_bytes(4) for number in numbers) + content
    return (8 + len(inner)).to_bytes(4) + name + inner


START = box(b"ftyp", content=b"isom") + box(b"mdat", content=b"\0" * 1000)
SAMPLES = box(b"stsz", 0, 1, 85_000_000)
DECLARED = {
    "samples": box(b"moov", content=SAMPLES),
    "times": box(b"moov", content=box(b"stts", 0, 1, 2**32 - 1, 1)),
    "fragment": box(b"moof", content=box(b"trun", 0, 80_000_000)),
    "edits": box(b"moov", content=box(b"stsz", 0, 1, 1000) + box(b"elst", 0, 10_000)),
    "in another box": box(b"skip", content=SAMPLES),
    "to the end": b"\0\0\0\0moov" + SAMPLES,
}


@pytest.mark.parametrize("name", DECLARED)
def test_small_files_with_many_samples_are_refused(tmp_path, bars, name):
    (tmp_path / "a.mp4").write_bytes(START + DECLARED[name])
    for source in (io.BytesIO(START + DECLARED[name]), tmp_path / "a.mp4"):
        with pytest.raises(ValueError, match="bytes can hold"):
            open_input(source)
    valid = bars.write(tmp_path / "b.mp4", frames=3).read_bytes()
    for content in (valid, b"", b"\x1a\x45\xdf\xa3\x01\0\0\0" + b"stsz" * 100, b"RIFF" + b"x" * 20):
        file = io.BytesIO(content)
        check_samples(file)
        assert file.tell() == 0
