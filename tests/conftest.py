"""Sources whose every frame and every moment of sound can be told from the decoded file alone."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, cast

import av
import numpy as np
import pytest
from av.audio.stream import AudioStream
from av.video.frame import PictureType
from av.video.stream import VideoStream
from captions import Row, read_captions
from commands import end_started, succeed
from figures import leave_unpainted, painted
from filelock import FileLock
from hypothesis import settings
from language_data import find_first, real_one
from numpy.typing import NDArray
from small_wordnet import write_wordnet
from stressreel.annotations.samples import cached_sample
from stressreel.annotations.samples.msrvtt import SampleClip, sample_clips, write_msrvtt_sample
from stressreel.language.wordnet import WordNet

settings.register_profile("busy", deadline=None, max_examples=50)  # a busy machine is no fault
settings.load_profile("busy")
TRIM = getattr(ctypes.CDLL(None) if os.name == "posix" else None, "malloc_trim", lambda keep: None)  # glibc's
gc.disable()  # while the tests are collected: nothing of them is garbage

Planes = tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]

BLOCK = 16
BRIEF = 0.4
SUITE = (
    *("--msrvtt", "sample", "--severity", "1,3", "--perturbations", "jpeg", "--modality", "all"),
    *("--text-perturbations", "random_noun"),
)

SIDE = 4  # 4 x 4 blocks: 16 bits, the lower 12 the number, the upper 4 its check


@dataclass(frozen=True)
class Track:
    """A sound track: `Bars.sound` from `start` to `stop` seconds, silent nowhere."""

    rate: int = 48000
    layout: str = "mono"
    codec: str = "aac"
    start: Fraction = Fraction(0)
    stop: Fraction | None = None
    gap: tuple[Fraction, Fraction] | None = None


@dataclass(frozen=True)
class Look:
    """How the picture is stored; `rotation` is what a player has to do, counter-clockwise."""

    pix_fmt: str = "yuv420p"
    codec: str = "libx264"
    rotation: int = 0
    aspect: Fraction | None = None
    options: dict[str, str] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)


class Bars:
    """Writes and reads bar-coded sources."""

    @staticmethod
    def code(number: int) -> int:
        nibbles = (number & 15) ^ (number >> 4 & 15) ^ (number >> 8 & 15)
        return (nibbles ^ 0b1010) << 12 | number

    @classmethod
    def planes(cls, number: int, width: int = 96, height: int = 64) -> Planes:
        """Draw frame `number`, limited range: the code in the top-left 64 x 64 pixels, a moving texture elsewhere."""
        y, x = np.mgrid[:height, :width]
        luma = 40 + (3 * x + 2 * y + 5 * number) % 160
        code = cls.code(number)
        for bit in range(SIDE * SIDE):
            row, column = (BLOCK * n for n in divmod(bit, SIDE))
            luma[row : row + BLOCK, column : column + BLOCK] = 210 if code >> (SIDE * SIDE - 1 - bit) & 1 else 40
        y, x = np.mgrid[: (height + 1) // 2, : (width + 1) // 2]
        return luma.astype(np.uint8), (64 + (x + number) % 128).astype(np.uint8), (64 + (2 * y) % 128).astype(np.uint8)

    @staticmethod
    def frame(planes: Sequence[NDArray[np.uint8]], pix_fmt: str = "yuv420p") -> av.VideoFrame:
        height, width = planes[0].shape
        frame = av.VideoFrame(width, height, pix_fmt)
        for plane, pixels in zip(frame.planes, planes, strict=True):
            rows = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
            rows[: pixels.shape[0], : pixels.shape[1]] = pixels
        return frame

    @staticmethod
    def arrays(frame: av.VideoFrame) -> Planes:
        rows = (np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size) for plane in frame.planes)
        y, u, v = (one[: p.height, : p.width].copy() for one, p in zip(rows, frame.planes, strict=True))
        return y, u, v

    @classmethod
    def read(cls, frame: av.VideoFrame) -> int:
        """Read a frame's number; fails if the check does not fit."""
        luma = frame.reformat(format="gray").to_ndarray()
        code = 0
        for bit in range(SIDE * SIDE):
            row, column = (BLOCK * n for n in divmod(bit, SIDE))
            code = code << 1 | int(luma[row + 4 : row + BLOCK - 4, column + 4 : column + BLOCK - 4].mean() > 125)
        assert cls.code(code & 0xFFF) == code, f"no bar code in {frame}"
        return code & 0xFFF

    @staticmethod
    def decode(path: Path, stop: int | None = None) -> list[av.VideoFrame]:
        """All frames (or the first ones) of a file in the order of presentation, read from its beginning."""
        with av.open(str(path), metadata_errors="ignore") as container:
            stream = container.streams.best("video")
            assert isinstance(stream, VideoStream)
            return [frame for frame in islice(container.decode(stream), stop) if isinstance(frame, av.VideoFrame)]

    @classmethod
    def read_codes(cls, path: Path) -> list[int]:
        return [cls.read(frame) for frame in cls.decode(path)]

    @staticmethod
    @lru_cache(maxsize=4096)  # the same stretches again and again, of some KB
    def sound(rate: int, samples: int, first: int = 0, channel: int = 0) -> NDArray[np.float64]:
        """Sound that never repeats within minutes, a function of the time alone, below 3 kHz; another per channel."""
        rng = np.random.default_rng(channel)
        time = np.arange(first, first + samples) / rate
        total = np.zeros(samples)
        for frequency, phase in zip(rng.uniform(150, 3000, 40), rng.uniform(0, 2 * np.pi, 40), strict=True):
            total += np.sin(2 * np.pi * frequency * time + phase)
        total /= 40
        total.flags.writeable = False
        return total

    @classmethod
    def write(
        cls,
        path: Path,
        *,
        frames: int = 60,
        size: tuple[int, int] = (96, 64),
        rate: Fraction = Fraction(30),
        gop: int = 250,
        b_frames: int = 0,
        pts: Sequence[int] | None = None,
        last: int | None = None,
        time_base: Fraction | None = None,
        start: int = 0,
        look: Look | None = None,
        track: Track | None = None,
        first: int = 0,
    ) -> Path:
        """Write a source; the name's ending chooses the container. `pts` and `last` count in `time_base`, by default 1
        / `rate`; `first` is the number that the first frame shows.
        """
        look, unit = look or Look(), time_base or 1 / rate
        stamps = list(range(frames)) if pts is None else list(pts)
        usual = stamps[-1] - stamps[-2] if len(stamps) > 1 else 1
        durations = [b - a for a, b in zip(stamps, [*stamps[1:], stamps[-1] + (last or usual)], strict=True)]
        with av.open(str(path), "w") as container:
            stream = cast(VideoStream, container.add_stream(look.codec, rate=rate))
            stream.width, stream.height = size[::-1] if look.rotation % 180 else size
            stream.pix_fmt = look.pix_fmt
            context = stream.codec_context
            context.time_base, context.thread_count = unit, 1
            context.gop_size, context.max_b_frames = gop, b_frames
            if look.codec == "libx264":
                context.options = {"preset": "ultrafast", "crf": "12", "b-pyramid": "normal", **look.options}
                context.options |= {"sc_threshold": "0"}
            else:
                context.options = dict(look.options)
            for name, value in look.tags.items():
                setattr(context, name, value)
            if look.aspect:
                context.sample_aspect_ratio = look.aspect
            if look.rotation:
                stream.set_display_rotation(look.rotation)
            sound = cls._tracks(container, track, (stamps[-1] + durations[-1] + start) * unit) if track else []
            lengths: dict[int, int] = {}

            def mux(packets: list[av.Packet[VideoStream]]) -> None:
                for packet in packets:
                    packet.duration = lengths.get(packet.pts or 0, packet.duration)
                    container.mux(packet)

            for number, (stamp, duration) in enumerate(zip(stamps, durations, strict=True), first):
                turned = [np.rot90(plane, -look.rotation // 90) for plane in cls.planes(number, *size)]
                frame = cls.frame(turned).reformat(format=look.pix_fmt)
                frame.pts, frame.time_base, frame.pict_type = start + stamp, unit, PictureType.NONE
                lengths[frame.pts] = duration
                while sound and sound[0][0] <= frame.pts * unit:
                    container.mux(sound.pop(0)[1])
                mux(stream.encode(frame))
            mux(stream.encode(None))
            for _, packet in sound:
                container.mux(packet)
        return path

    @classmethod
    def _tracks(
        cls, container: Any, track: Track, end: Fraction
    ) -> list[tuple[Fraction, list[av.Packet[AudioStream]]]]:
        stream: AudioStream = container.add_stream(track.codec, rate=track.rate)
        stream.codec_context.layout = track.layout
        if track.codec == "aac":
            stream.codec_context.bit_rate = 128_000
        channels = av.AudioLayout(track.layout).nb_channels
        stops = round((track.stop or end) * track.rate)
        stretches = [(round(track.start * track.rate), stops)]
        if track.gap:
            edges = [round(moment * track.rate) for moment in track.gap]
            stretches = [(stretches[0][0], edges[0]), (edges[1], stops)]
        packets = []
        for begin, stop in stretches:
            for position in range(begin, stop, 1024):
                count = min(1024, stop - position)
                samples = np.stack([cls.sound(track.rate, count, position, channel) for channel in range(channels)])
                if track.codec.startswith("pcm_s16"):
                    pieces, form = np.rint(samples.T.reshape(1, -1) * 32767).astype(np.int16), "s16"
                else:
                    pieces, form = samples.astype(np.float32), "fltp"
                frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(pieces), form, track.layout)
                frame.sample_rate, frame.pts, frame.time_base = track.rate, position, Fraction(1, track.rate)
                packets.append((Fraction(position, track.rate), stream.encode(frame)))
        return [*packets, (end, stream.encode(None))]


def pytest_collection_finish() -> None:
    """Leave what was collected and imported, some million objects, out of every later look for garbage."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the skipped tests in the file that SKIPPED_TESTS names, for `.ci/run` to run later."""
    if path := os.environ.get("SKIPPED_TESTS"):
        skipped = {report.nodeid.partition("[")[0] for report in terminalreporter.stats.get("skipped", [])}
        with open(path, "a", encoding="utf-8") as handle:
            handle.writelines(f"{name}\n" for name in sorted(skipped))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Free what a module leaves, such as decoders in cycles, and give it back to the system, which glibc does not."""
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
        TRIM(0)


@pytest.fixture(scope="session")
def bars() -> type[Bars]:
    return Bars


@pytest.fixture(scope="session")
def look() -> type[Look]:
    return Look


@pytest.fixture(scope="session")
def track() -> type[Track]:
    return Track


@pytest.fixture(scope="session", autouse=True)
def _cheaper() -> Iterator[None]:
    """Figures stay unpainted where no test looks at them, no disk is waited for, and one core starts no process."""
    with pytest.MonkeyPatch.context() as patch:
        leave_unpainted(patch)
        patch.setattr(os, "fsync", lambda descriptor: None)
        patch.setattr(os, "cpu_count", lambda: 1)
        yield


@pytest.fixture(autouse=True)
def _nothing_runs_on() -> Iterator[None]:
    yield
    end_started()


@pytest.fixture
def paint() -> Iterator[None]:
    """For tests that look at figures."""
    with painted():
        yield


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], object]], Path]:
    """Makes a folder once for all workers of a test run."""
    base = tmp_path_factory.getbasetemp()
    base = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "once"
    base.mkdir(exist_ok=True)

    def make(name: str, write: Callable[[Path], object]) -> Path:
        with FileLock(base / f"{name}.lock"):
            if not (base / f"{name}.done").exists():
                write(base / name)
                (base / f"{name}.done").touch()
        return base / name

    return make


@pytest.fixture(scope="session")
def build_once(once: Callable[[str, Callable[[Path], object]], Path]) -> Callable[..., Path]:
    """Builds an output once for all workers, with a command that lacks --out; read only, so copy it to change it."""

    def make(name: str, *arguments: object) -> Path:
        def write(out: Path) -> None:
            succeed(name, *arguments, "--out", out, "--no-progress")

        digest = hashlib.sha256(repr([name, *map(str, arguments)]).encode()).hexdigest()
        return once(f"{name}-{digest[:16]}", write)

    return make


@pytest.fixture(scope="session", autouse=True)
def small_wordnet(once: Callable[[str, Callable[[Path], object]], Path]) -> Iterator[Path]:
    """A WordNet of our own, which all tests find first, so that none depends on whether the real one is there."""
    with pytest.MonkeyPatch.context() as patch:
        find_first(folder := once("nltk_data", write_wordnet), patch)
        yield folder


@pytest.fixture(scope="class")
def real_wordnet(small_wordnet: Path) -> Iterator[WordNet]:
    """The real WordNet instead, for tests of what it says; they are skipped where it is not."""
    with real_one(small_wordnet) as wordnet:
        yield wordnet


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A Hub on loopback."""
    from hub import connected

    with connected(monkeypatch) as found:
        yield found


@pytest.fixture(scope="session")
def msrvtt(once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """The beginnings of the first five clips of the built-in MSR-VTT sample; read only."""
    return once("msrvtt", lambda folder: write_msrvtt_sample(folder, [brief(clip) for clip in sample_clips()[:5]]))


def brief(clip: SampleClip) -> SampleClip:
    """Shorten every shot of a clip, as 90 perturbations of whole ones would take the tests minutes."""
    shots = (shot._replace(end_s=shot.start_s + BRIEF * (shot.end_s - shot.start_s)) for shot in clip.shots)
    return replace(clip, shots=tuple(shots))


@pytest.fixture(scope="session")
def built(build_once: Callable[..., Path]) -> Path:
    """CLAVI on the whole sample; read only."""
    return build_once("build-clavi", "--charades", cached_sample("charades"), "--version", "1.2.0")


@pytest.fixture(scope="session")
def four_pairs(build_once: Callable[..., Path]) -> Path:
    """CLAVI on four videos of the sample; read only."""
    return build_once("build-clavi", "--charades", cached_sample("charades"), "--limit", 4, "--preset", "ultrafast")


@pytest.fixture(scope="session")
def built_causal(build_once: Callable[..., Path]) -> Path:
    """Two divisions of CausalChaos on the whole sample; read only."""
    if find_spec("sentence_transformers") is None:  # to import it takes ten seconds
        pytest.skip("needs sentence-transformers")
    annotations = cached_sample("causal") / "Annotations.csv"
    fast = ("--preset", "ultrafast")
    return build_once("build-causal", "--annotations", annotations, "--splits", "UD,UN", *fast)


@pytest.fixture(scope="session")
def built_suite(build_once: Callable[..., Path]) -> Path:
    """A perturbed suite of the sample with videos, captions and pairs; read only."""
    return build_once("build-perturbed", *SUITE, "--preset", "ultrafast")


@pytest.fixture(scope="session")
def built_recipes(build_once: Callable[..., Path]) -> Path:
    """The same suite without videos; read only."""
    return build_once("build-perturbed", *SUITE, "--no-render")


@pytest.fixture(scope="session")
def built_graphs(build_once: Callable[..., Path]) -> Path:
    """Question graphs of the sample; read only."""
    return build_once("build-decomp", "--charades", "sample")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The workplace folder with real clips; use with `@pytest.mark.shared`."""
    folder = Path(os.environ.get("STRESSREEL_SHARED", Path(__file__).parents[2] / "shared"))
    if not (folder / "videos").is_dir():
        pytest.skip(f"no real clips: {folder} is not there; name it with STRESSREEL_SHARED")
    return folder


@pytest.fixture(scope="session")
def real_captions(shared: Path) -> tuple[Row, ...]:
    """All captions of MSR-VTT's test and of YouCook2; tagged once in a session."""
    return read_captions(shared)
