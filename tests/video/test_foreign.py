"""Files of strangers: what could make FFmpeg read another file, or ask an address, is refused before it does."""

import hashlib
import io
import os
import socket
from fractions import Fraction
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
from stressreel.video.pyav import open_input

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
def unasked():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server.getsockname()[1]
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize("kind", TEXTS)
def test_texts_that_name_other_files(tmp_path, bars, monkeypatch, unasked, kind):
    bars.write(tmp_path / "secret.mp4", frames=5)
    monkeypatch.chdir(tmp_path)
    for target in ("secret.mp4", f"http://127.0.0.1:{unasked}/a.mp4"):
        for suffix in (".mp4", SUFFIXES.get(kind, ".txt")):
            path = tmp_path / f"clip{suffix}"
            path.write_text(TEXTS[kind].replace("{port}", str(unasked)).replace("{}", target))
            with pytest.raises(VideoError) as caught:
                index_frames(path)
            assert caught.value.reason == "unreadable_video"
            if kind in ("concat", "sdp"):
                says = f"its format is {kind}, which can refer to other files; use a video file such as MP4"
                assert caught.value.detail == f"{path.name}: {says}"
            content = path.read_bytes()
            with pytest.raises((ValueError, OSError)):
                open_input(io.BytesIO(content))
            with pytest.raises((ValueError, OSError)):
                exported_frames.sampled_frames(path, 2, 0)


def test_names_are_names_of_files(tmp_path, bars, monkeypatch, unasked):
    monkeypatch.chdir(tmp_path)
    bars.write(Path("secret.mp4"), frames=5)
    content = bars.write(tmp_path / "own.mp4", frames=7).read_bytes()
    for name in ("http:127.0.0.1:{}.mp4", "concat:secret.mp4", "file:secret.mp4", "pipe:0.mp4", "%03d.mp4"):
        own = Path(name.format(unasked))
        own.write_bytes(content)
        assert index_frames(own).num_frames == 7


def test_pipes_and_patterns_of_pictures_are_refused(tmp_path):
    (tmp_path / "p%03d.png").write_bytes(b"x")
    with pytest.raises(VideoError, match="use a video file"):
        index_frames(tmp_path / "p%03d.png")
    if hasattr(os, "mkfifo"):  # of POSIX
        os.mkfifo(tmp_path / "clip.mp4")
        with pytest.raises(VideoError, match=r"is a FIFO\. Provide a regular file"):
            index_frames(tmp_path / "clip.mp4")


def test_pictures_that_are_too_large(tmp_path, bars, monkeypatch):
    path = bars.write(tmp_path / "a.mp4", frames=2)
    with monkeypatch.context() as patch:
        patch.setattr(pyav, "MOST_PIXELS", 96 * 64 - 1)
        with pytest.raises(VideoError, match="its frames have 96 x 64 pixels; at most 6,143 are decoded"):
            index_frames(path)
    monkeypatch.setattr(pyav, "CODEC_GUARDS", {"max_pixels": "100"})  # the decoder itself, of what no header says
    with pytest.raises(VideoError):
        index_frames(path, decode=True)


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])  # the one says how many, the other does not
def test_frames_and_hours_without_end(tmp_path, bars, monkeypatch, name):
    path = bars.write(tmp_path / name, frames=9)
    monkeypatch.setattr(indexing, "MOST_FRAMES", 9)
    assert index_frames(path).num_frames == 9
    monkeypatch.setattr(indexing, "MOST_FRAMES", 8)
    for decoding in (False, True):
        with pytest.raises(VideoError, match=f"{name}: it has more than 8 frames"):
            index_frames(path, decode=decoding)
    path = bars.write(tmp_path / "long.mkv", pts=[0, 3_600_000 * 30 + 1], time_base=Fraction(1, 30))
    with pytest.raises(VideoError, match=r"long\.mkv: it lasts more than 1,000 hours"):
        index_frames(path)


def test_exports_read_the_same_formats_and_hand_no_playlist_to_a_harness(tmp_path, monkeypatch):
    assert (exported_frames.FORMATS, exported_frames.GUARDS) == (pyav.FORMATS, pyav.GUARDS)
    (tmp_path / "videos").mkdir()
    monkeypatch.setattr(harness, "output", lambda: {"path": str(tmp_path)})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cases = [(kind, None, "is a text file such as a playlist") for kind in ("concat", "hls", "dash", "sdp")]
    for kind, sha256, words in [*cases, ("hls", "../../../secret", "an invalid sha256")]:
        content = TEXTS[kind].encode()
        video = {"bytes": content, "path": "a.mp4"}
        row = {"video_id": "a", "sha256": sha256 or hashlib.sha256(content).hexdigest(), "video": video}
        pq.write_table(pa.Table.from_pylist([row]), tmp_path / "videos" / "test-00000-of-00001.parquet")
        harness.places.cache_clear()
        with pytest.raises(ValueError, match=words):
            harness.video_path("videos", {"video_id": "a"})
    harness.places.cache_clear()
