"""Files of strangers: what could make FFmpeg read another file, or ask an address, is refused before it does."""

import hashlib
import io
import json
import os
import socket
import struct
from fractions import Fraction
from pathlib import Path

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
from stressreel.video.index import index_frames
from stressreel.video.pyav import open_input
from stressreel.video.thumbnails import frames_of

TEXTS = {
    "concat": "ffconcat version 1.0\nfile {}\n",
    "concat with a NUL": "ffconcat version 1.0\n#\0\0\0\nfile {}\n",
    "hls": "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{}\n#EXT-X-ENDLIST\n",
    "dash": '<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"'
    ' profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="video/mp4">'
    '<Representation id="1" bandwidth="1"><BaseURL>{}</BaseURL></Representation></AdaptationSet></Period></MPD>',
    "sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video {port} RTP/AVP 96\n"
    "a=rtpmap:96 H264/90000\n",
    "imf": '<?xml version="1.0"?><CompositionPlaylist><Id>{}</Id></CompositionPlaylist>',
    "avisynth": 'DirectShowSource("{}")\n',
    "asx": '<asx version="3.0"><entry><ref href="{}"/></entry></asx>',
    "subtitles": "[Script Info]\nScriptType: v4.00+\n[Fonts]\nfontname: {}\n",
    "svg": '<svg xmlns="http://www.w3.org/2000/svg"><image href="{}"/></svg>',
}
SUFFIXES = {"hls": ".m3u8", "dash": ".mpd", "sdp": ".sdp", "avisynth": ".avs", "asx": ".asx", "subtitles": ".ass"}


@pytest.fixture
def unasked():
    """The port of a server that must not be asked."""
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
            for read in (
                lambda content=content: open_input(io.BytesIO(content)),
                lambda content=content: next(frames_of(content)),
                lambda path=path: exported_frames.sampled_frames(path, 2, 0),
            ):
                with pytest.raises((ValueError, OSError)):
                    read()


ADDRESSES = ["http:127.0.0.1:{}.mp4", "tcp:127.0.0.1:{}.mp4", "rtsp:127.0.0.1:{}.mp4", "concat:secret.mp4"]
OTHERS = ["subfile,,start,0,end,0,,:secret.mp4", "async:secret.mp4", "cache:secret.mp4", "data:secret.mp4"]
FORMS = ["pipe:0.mp4", "fd:.mp4", "file:secret.mp4", "%03d.mp4", "[a]*?.mp4"]


@pytest.mark.parametrize("name", [*ADDRESSES, *OTHERS, *FORMS])
def test_names_are_names_of_files(tmp_path, bars, monkeypatch, unasked, name):
    monkeypatch.chdir(tmp_path)
    bars.write(Path("secret.mp4"), frames=5)
    own = Path(name.format(unasked))
    own.write_bytes(bars.write(tmp_path / "own.mp4", frames=7).read_bytes())
    assert index_frames(own).num_frames == 7


def test_pipes_and_patterns_of_pictures_are_refused(tmp_path):
    (tmp_path / "p%03d.png").write_bytes(b"x")
    with pytest.raises(VideoError, match="use a video file"):
        index_frames(tmp_path / "p%03d.png")
    if hasattr(os, "mkfifo"):  # of POSIX
        os.mkfifo(tmp_path / "clip.mp4")
        with pytest.raises(VideoError, match=r"is a FIFO\. Provide a regular file"):
            index_frames(tmp_path / "clip.mp4")


def box(kind, content):
    return struct.pack(">I", 8 + len(content)) + kind + content


def with_reference(content, name):
    """Let the tracks of an MP4 file be in another file beside it, as QuickTime's aliases say."""
    volume = bytes(14) + bytes([1]) + b"v".ljust(27, b"\0") + bytes(12)  # not in this file
    file = bytes([len(name)]) + name.ljust(63, b"\0") + bytes(16) + struct.pack(">HH", 1, 1) + bytes(16)
    place = struct.pack(">HH", 2, len(name) + 1) + b"/" + name + bytes((len(name) + 1) % 2)
    alias = volume + file + place + struct.pack(">HH", 0xFFFF, 0)
    reference = box(b"dref", struct.pack(">II", 0, 1) + box(b"alis", alias))
    places, at = [], 0
    for kind in (b"moov", b"trak", b"mdia", b"minf", b"dinf", b"dref"):
        at = content.index(kind, at)
        places.append(at - 4)
    size = struct.unpack_from(">I", content, places[-1])[0]
    assert content.index(b"mdat") < places[0]  # so that no offset changes
    changed = bytearray(content[: places[-1]] + reference + content[places[-1] + size :])
    for start in places[:-1]:
        struct.pack_into(">I", changed, start, struct.unpack_from(">I", changed, start)[0] + len(reference) - size)
    return bytes(changed)


def test_tracks_in_other_files_are_not_followed(tmp_path, bars):
    whole = bars.write(tmp_path / "secret.mp4", frames=5).read_bytes()
    lent = with_reference(whole, b"secret.mp4")
    start, stop = whole.index(b"mdat") + 4, whole.index(b"moov") - 4
    path = tmp_path / "clip.mp4"
    path.write_bytes(lent[:start] + bytes(stop - start) + lent[stop:])  # nothing of its own
    with av.open(str(path), container_options={"enable_drefs": "1"}) as container:
        assert len(list(container.decode(video=0))) == 5  # the file does what it should
    with pytest.raises(VideoError):
        index_frames(path, decode=True)
    with pytest.raises((ValueError, OSError)):
        exported_frames.sampled_frames(path, 2, 0)


# Files that claim too much


def test_pictures_that_are_too_large(tmp_path, bars, monkeypatch):
    path = bars.write(tmp_path / "a.mp4", frames=2)
    with monkeypatch.context() as patch:
        patch.setattr(pyav, "MOST_PIXELS", 96 * 64 - 1)
        with pytest.raises(VideoError, match="its frames have 96 x 64 pixels; at most 6,143 are decoded"):
            index_frames(path)
    monkeypatch.setattr(pyav, "CODEC_GUARDS", {"max_pixels": "100"})  # the decoder itself, of what no header says
    with pytest.raises(VideoError):
        index_frames(path, decode=True)


@pytest.mark.parametrize("decoding", [False, True])
@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])  # the one says how many, the other does not
def test_frames_and_hours_without_end(tmp_path, bars, monkeypatch, name, decoding):
    path = bars.write(tmp_path / name, frames=9)
    monkeypatch.setattr(indexing, "MOST_FRAMES", 9)
    assert index_frames(path, decode=decoding).num_frames == 9
    monkeypatch.setattr(indexing, "MOST_FRAMES", 8)
    with pytest.raises(VideoError, match=f"{name}: it has more than 8 frames"):
        index_frames(path, decode=decoding)
    path = bars.write(tmp_path / "long.mkv", pts=[0, 3_600_000 * 30 + 1], time_base=Fraction(1, 30))
    with pytest.raises(VideoError, match=r"long\.mkv: it lasts more than 1,000 hours"):
        index_frames(path)


def test_a_build_skips_them(tmp_path, bars, unasked):
    videos = tmp_path / "videos"
    videos.mkdir()
    bars.write(tmp_path / "secret.mp4", frames=12)
    bars.write(videos / f"http:127.0.0.1:{unasked}.mp4", frames=12)
    (videos / "list.mp4").write_text(TEXTS["concat"].format("../secret.mp4"))
    (tmp_path / "c.csv").write_text(f"video,caption\nhttp:127.0.0.1:{unasked}.mp4,a man runs\nlist.mp4,a dog sits\n")
    given = ("--captions", "../c.csv", "--videos", ".", "--perturbations", "freeze", "--severity", "1", "--no-progress")
    out = tmp_path / "out"
    assert run("build-perturbed", *given, "--out", out, "--allow-missing", cwd=videos).code == 0
    about = json.loads((out / "build.json").read_text())
    assert about["counts"]["clean"] == {"test": 1}  # the one with the odd name
    assert "list.mp4: its format is concat, which can refer to other files" in json.dumps(about["skips"])


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
