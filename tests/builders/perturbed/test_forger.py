"""A forger of suites who knows every check: one fault for each column, and one for each kind of tampering."""

import csv
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import av
import forger
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from forger import Forgery
from numpy.typing import NDArray
from stressreel.builders.parts import card_of, checks_for
from stressreel.builders.perturbed.benchmark import BENCHMARK
from stressreel.builders.perturbed.captions import TEXT_COLUMNS
from stressreel.builders.perturbed.combinations import PAIR_COLUMNS
from stressreel.builders.perturbed.load import load
from stressreel.builders.perturbed.source_checks import draw_spread, plan_again
from stressreel.builders.perturbed.tables import COLUMNS, VIDEO
from stressreel.corruptions.visual.engine import corrupt
from stressreel.data_cards.card import write_card
from stressreel.errors import InputError
from stressreel.records.checks import NotChecked, VerifyOptions
from stressreel.records.output import open_output
from stressreel.records.plan import Plan
from stressreel.samples.msrvtt import frames, sample_clips
from stressreel.video.encode import EncodeSettings, write_video
from stressreel.video.ffmpeg import find_ffmpeg
from stressreel.video.store import to_rgb
from stressreel.video.thumbnails import frames_of

Row = dict[str, Any]
Change = Callable[[Forgery], object]
Frames = list[NDArray[np.uint8]]

RATE, LENGTH = 25, 40
CLIPS = ("one", "two", "film_600_1500")
VISUAL = ("shot_noise", "motion_blur", "rotation", "jpeg", "mpeg1", "jumble")
TEXTS = ("typos", "no_verbs", "swap_syn_wordnet")
TABLE, TEXT = "jpeg", "typos"
ENCODE = EncodeSettings(preset="ultrafast")


def write_sources(folder: Path, change: Callable[[NDArray[np.uint8]], NDArray[np.uint8]] = lambda frame: frame) -> None:
    """Three clips of the sample, at a quarter of their size and equally long, and captions of theirs."""
    folder.mkdir()
    for name, clip in zip(("one", "two", "film"), sample_clips(), strict=False):
        small = (change(np.ascontiguousarray(frame[::2, ::2])) for frame in islice(frames(clip), LENGTH))
        write_video(folder / f"{name}.mp4", small, rate=Fraction(RATE))
    lines = [
        ("one", "a man sweeps the red floor", "", ""),
        ("one", "the broom", "", ""),
        ("two", "a woman throws a big pillow", "", ""),
        ("film", "someone opens the door of a fridge", "0.6", "1.5"),
    ]
    with (folder / "c.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("video", "caption", "start", "end"), *lines])


def build(folder: Path, build_once: Callable[..., Path]) -> Path:
    arguments = ("--modality", "all", "--perturbations", ",".join(VISUAL), "--severity", "1,3", "--tagger", "pattern")
    text = ("--text-perturbations", ",".join(TEXTS), "--pairs", "jpeg:no_verbs,jumble:typos")
    return build_once("build-perturbed", "--captions", folder / "c.csv", *arguments, *text, "--preset", ENCODE.preset)


@pytest.fixture(scope="module")
def sources(once: Callable[..., Path]) -> Path:
    return once("forged-sources", write_sources)


@pytest.fixture(scope="module")
def suite(sources: Path, build_once: Callable[..., Path]) -> Path:
    """A suite with every kind of table; read only."""
    return build(sources, build_once)


def findings(out: Path, options: VerifyOptions) -> dict[str, list[str]]:
    """All problems by check, but those of checks that see nothing here."""
    output = open_output(out)
    checks = {name: check for name, check in checks_for(output, options).items() if name not in forger.SLOW}
    return {
        name: [problem for problem in check(output) if not isinstance(problem, NotChecked)]
        for name, check in checks.items()
    }


def left_open(out: Path, options: VerifyOptions) -> dict[str, tuple[str, ...]]:
    return {name: outcome.not_checked for name, outcome in forger.outcomes(out, options).items() if outcome.not_checked}


# Rows: nothing is decoded, so that each fault can be looked at by itself


def at(table: str, number: int = 0, **values: object) -> Change:
    return lambda forged: forged.rows(table)[number].update(values)


def everywhere(clip: str, **values: object) -> Change:
    """Change a clip in all visual tables alike."""

    def change(forged: Forgery) -> None:
        for table in ("clean", *VISUAL):
            for row in forged.rows(table):
                if row["clip_id"] == clip:
                    row.update(values)

    return change


def caption_everywhere(forged: Forgery) -> None:
    everywhere("two", captions=["a dog throws a big pillow"])(forged)
    for name in TEXTS:
        for row in forged.rows(name):
            if row["clip_id"] == "two":
                row.update(original="a dog throws a big pillow")
                if not row["changed"]:
                    row.update(caption=row["original"])


def move(table: str) -> Change:
    """Put the rows of a clip into another split."""

    def change(forged: Forgery) -> None:
        moved = [row for row in forged.tables[table]["test"] if row["clip_id"] == "two"]
        forged.tables[table]["train"] = moved
        forged.tables[table]["test"] = [row for row in forged.tables[table]["test"] if row["clip_id"] != "two"]

    return change


def everything(*changes: Change) -> Change:
    def change(forged: Forgery) -> None:
        for one in changes:
            one(forged)

    return change


def lose_clip(forged: Forgery) -> None:
    for splits in forged.tables.values():
        for split, rows in splits.items():
            splits[split] = [row for row in rows if row["clip_id"] != "two"]


def excuse(forged: Forgery) -> None:
    lose_clip(forged)
    skip = {"unit_id": "two", "source_id": "two", "reason": "undecodable", "detail": "it is damaged"}
    forged.info["skips"] = {"count": 1, "by_reason": {"undecodable": 1}, "list": [skip]}


def setting(**values: object) -> Change:
    return lambda forged: forged.info["settings"].update(values)


def info(**values: object) -> Change:
    return lambda forged: forged.info.update(values)


def command(old: str, new: str) -> Change:
    """Write another command, with the old words in another way."""

    def change(forged: Forgery) -> None:
        assert old in forged.info["command"]
        forged.info["command"] = forged.info["command"].replace(old, new)

    return change


VISUAL_FAULTS: dict[str, list[tuple[str, Change]]] = {
    "clip_id": [("rows", at(TABLE, clip_id="other")), ("annotations", everywhere("two", clip_id="three"))],
    "severity": [("rows", at(TABLE, severity=2)), ("rows", at("clean", severity=1))],
    "perturbation": [("levels", at(TABLE, perturbation="clean")), ("levels", at("clean", perturbation=TABLE))],
    "level": [("levels", at(TABLE, level="15")), ("levels", at("clean", level="0"))],
    "written_quantiser": [
        ("levels", at("mpeg1", 1, written_quantiser=60)),
        ("levels", at(TABLE, written_quantiser=31)),
    ],
    "captions": [
        ("rows", at(TABLE, captions=["a man"])),
        ("rows", at("clean", captions=["the broom", "a man sweeps the red floor"])),
        ("annotations", caption_everywhere),
    ],
    "source_id": [("rows", at(TABLE, source_id="two")), ("annotations", everywhere("one", source_id="two"))],
    "start_s": [("rows", at(TABLE, 4, start_s=0.5)), ("annotations", everywhere(CLIPS[2], start_s=0.61))],
    "end_s": [("rows", at(TABLE, 4, end_s=1.6)), ("annotations", everywhere(CLIPS[2], end_s=1.49))],
    "num_frames": [("same_length", at(TABLE, num_frames=39)), ("sources", everywhere(CLIPS[2], num_frames=21))],
    "fps": [("same_length", at(TABLE, fps=24.0)), ("sources", everywhere("one", fps=25.01))],
    "source_frames": [
        ("same_length", at(TABLE, source_frames=41)),
        ("same_length", everywhere("one", source_frames=41)),
        ("sources", everywhere(CLIPS[2], source_frames=41)),
    ],
    "first_frame": [
        ("same_length", at("clean", first_frame=1)),
        ("same_length", everywhere("two", first_frame=1, source_frames=41)),
        ("sources", everywhere(CLIPS[2], first_frame=14)),
    ],
    "sha256": [],  # the forger computes it: a wrong one is in `test_a_wrong_hash_or_name_of_a_file_is_found`
    "video": [],  # the content is below; the name is there too
}
TEXT_FAULTS: dict[str, list[tuple[str, Change]]] = {
    "caption_id": [("captions", at(TEXT, caption_id="one#7"))],
    "perturbation": [("captions", at(TEXT, perturbation="none"))],
    "clip_id": [("captions", at(TEXT, clip_id="two"))],
    "caption": [("recipes", at(name, caption="a man sweeps the blue floor")) for name in TEXTS],
    "original": [("captions", at(TEXT, original="a man sweeps the floor"))],
    "changed": [("changed", at(TEXT, changed=False)), ("changed", at("no_verbs", 2, changed=True))],
    "reason": [("changed", at(TEXT, reason="no word")), ("recipes", at("no_verbs", 2, reason="no noun"))],
}
PAIR_FAULTS: dict[str, list[tuple[str, Change]]] = {
    "perturbation": [("combinations", at("multimodal", perturbation="jpeg:typos"))],
    "visual": [("combinations", at("multimodal", visual="rotation"))],
    "severity": [("combinations", at("multimodal", severity=1))],
    "text": [("combinations", at("multimodal", text="typos"))],
    "clip_id": [("combinations", at("multimodal", clip_id="two"))],
    "caption_id": [("combinations", at("multimodal", caption_id="one#5"))],
}
OTHER_FAULTS: dict[str, tuple[str, Change]] = {
    "a row is lost": ("rows", lambda forged: forged.tables[TABLE]["test"].pop()),
    "a row comes twice": ("unique_ids", lambda forged: forged.tables[TABLE]["test"].append(forged.rows(TABLE)[0])),
    "a caption is lost": ("captions", lambda forged: forged.tables[TEXT]["test"].pop()),
    "a combination is lost": ("combinations", lambda forged: forged.tables["multimodal"]["test"].pop()),
    "a table is in another split": ("splits", move(TABLE)),
    "captions are in another split": ("captions", move(TEXT)),
    "a clip is in another split": (
        "annotations",
        everything(*(move(name) for name in ("clean", *VISUAL, *TEXTS, "multimodal"))),
    ),
    "a clip is lost everywhere": ("annotations", lose_clip),
    "a clip is said to be damaged": ("sources", excuse),
    "a skip is invented": (
        "annotations",
        info(
            skips={"count": 1, "by_reason": {}, "list": [{"unit_id": "x", "source_id": "x", "reason": "undecodable"}]}
        ),
    ),
    "another seed": ("recipes", setting(seed=1)),
    "another caption style": ("annotations", setting(caption_style="imperative")),
    "a limit": ("annotations", info(limit=2)),
    "other notes": ("annotations", info(notes={})),
    "other severities in the command": ("command", command("--severity 1,3", "--severity 1-3")),
    "another seed in the command": ("command", command("--seed 0", "--seed 1")),
    "another rate factor in the command": ("command", command("--crf 23", "--crf 24")),
    "other perturbations in the command": ("command", command("--perturbations shot_noise", "--perturbations noise")),
    "other captions in the command": ("command", command("--text-perturbations typos,", "--text-perturbations ")),
    "other combinations in the command": ("command", command("jpeg:no_verbs,", "")),
    "another half in the command": ("command", command("--modality all", "--modality text")),
    "another file in the command": ("command", command("--captions c.csv", "--captions d.csv")),
    "another source in the command": ("source", command("--captions c.csv", "--msrvtt DIR")),
    "two sources in the command": ("source", command("--captions c.csv", "--captions c.csv --msrvtt DIR")),
    "a foreign option in the command": ("command", command("--seed 0", "--seed 0 --negatives hard")),
    "an option left out of the command": ("command", command("--seed 0 ", "")),
    "another rate factor": ("command", setting(crf=24)),
    "another split": ("command", info(split="test")),
    "other files": ("command", info(files={"captions": ["d.csv"]})),
    "another source": ("source", lambda forged: forged.info["source"].update(license={"license": "mit"})),
    "another plan": ("annotations", info(plan_sha256="0" * 64)),
    "other annotations": ("annotations", info(inputs={"c.csv": "0" * 64})),
}
ROW_FAULTS = [
    *(
        pytest.param(check, change, id=f"{kind}-{column}-{number}")
        for kind, faults in (("visual", VISUAL_FAULTS), ("text", TEXT_FAULTS), ("multimodal", PAIR_FAULTS))
        for column, changes in faults.items()
        for number, (check, change) in enumerate(changes)
    ),
    *(pytest.param(check, change, id=name) for name, (check, change) in OTHER_FAULTS.items()),
]


def test_every_column_has_a_fault() -> None:
    for faults, columns in (
        (VISUAL_FAULTS, (*COLUMNS, VIDEO)),
        (TEXT_FAULTS, TEXT_COLUMNS),
        (PAIR_FAULTS, PAIR_COLUMNS),
    ):
        assert list(faults) == [column.name for column in columns]


def without_decoding(sources: Path | None) -> VerifyOptions:
    return VerifyOptions(decode=False, sources=sources)


def test_what_was_built_passes(suite: Path, sources: Path) -> None:
    options = VerifyOptions(sources=sources, sample=1000)
    assert {name: found for name, found in findings(suite, options).items() if found} == {}
    assert left_open(suite, without_decoding(sources)) == {
        "sources": ("that the clips show what their recipes make of their sources: --no-decode",)
    }


@pytest.mark.parametrize(("check", "change"), ROW_FAULTS)
def test_fault_in_rows_is_found(suite: Path, sources: Path, tmp_path: Path, check: str, change: Change) -> None:
    found = findings(forger.forge(suite, tmp_path / "copy", change), VerifyOptions(decode=False, sources=sources))
    if check == "sources" and change is excuse:  # a unit must be made to see whether it can be
        found = findings(tmp_path / "copy", VerifyOptions(sources=sources, sample=1))
    assert found[check] != []


@pytest.mark.parametrize("column", ["sha256", "path"])
def test_a_wrong_hash_or_name_of_a_file_is_found(suite: Path, tmp_path: Path, column: str) -> None:
    copy = Path(shutil.copytree(suite, tmp_path / "copy"))
    path = next((copy / TABLE).glob("*.parquet"))
    table = pq.read_table(path)
    rows = table.to_pylist()
    (rows[0] if column == "sha256" else rows[0]["video"])[column] = "0" * 64
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    assert findings(copy, without_decoding(None))["hashes"] != []


# Pictures: all faults are in one copy, each in a row of its own, so that everything is decoded once


@dataclass(frozen=True)
class Videos:
    """The videos of a suite before anything was changed."""

    rows: dict[tuple[str, int, str], bytes]
    folder: Path

    def __call__(self, table: str, severity: int, clip: str) -> bytes:
        return self.rows[table, severity, clip]

    def frames(self, table: str, severity: int, clip: str) -> Frames:
        return [to_rgb(frame) for frame in frames_of(self(table, severity, clip))]

    def encoded(self, pictures: Frames, settings: EncodeSettings = ENCODE) -> bytes:
        path = self.folder / "new.mp4"
        write_video(path, pictures, rate=Fraction(RATE), settings=settings)
        return path.read_bytes()


Place = tuple[str, int, str]
Make = Callable[[Videos, Place], bytes]


def bytes_of(table: str, severity: int | None = None, clip: str | None = None) -> Make:
    def make(videos: Videos, place: Place) -> bytes:
        return videos(table, place[1] if severity is None else severity, clip or place[2])

    return make


def redrawn(change: Callable[[Frames], Frames], settings: EncodeSettings = ENCODE) -> Make:
    return lambda videos, place: videos.encoded(change(videos.frames(*place)), settings)


def each(change: Callable[[NDArray[np.uint8]], NDArray[np.uint8]]) -> Make:
    return redrawn(lambda pictures: [np.ascontiguousarray(change(picture)) for picture in pictures])


def grey(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.repeat(picture.mean(2, keepdims=True).astype(np.uint8), 3, axis=2)


def marked(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    picture = picture.copy()
    picture[-14:-2, 2:14] = 255 - picture[-14:-2, 2:14]
    return picture


def black_at_the_end(pictures: Frames) -> Frames:
    return [*pictures[:-1], np.zeros_like(pictures[-1])]


def other_draws(videos: Videos, place: Place) -> bytes:
    clean = np.stack(videos.frames("clean", 0, place[2]))
    return videos.encoded(list(corrupt(clean, place[0], severity=place[1], seed=1, key=place[2])))


def half_done(videos: Videos, place: Place) -> bytes:
    done, clean = videos.frames(*place), videos.frames("clean", 0, place[2])
    return videos.encoded(done[: len(done) // 2] + clean[len(done) // 2 :])


def remuxed(videos: Videos, place: Place, *, title: str = "", sound: bool = False) -> bytes:
    path = videos.folder / "muxed.mp4"
    if sound:
        samples = np.zeros(int(len(videos.frames(*place)) / RATE * 16000), np.float32)
        write_video(path, videos.frames(*place), rate=Fraction(RATE), sound=samples, settings=ENCODE)
        return path.read_bytes()
    first = videos.folder / "first.mp4"
    first.write_bytes(videos(*place))
    with av.open(str(first)) as given, av.open(str(path), "w") as made:
        made.metadata["title"] = title
        stream = made.add_stream_from_template(given.streams.video[0])
        for packet in given.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                made.mux(packet)
    return path.read_bytes()


def slower(videos: Videos, place: Place) -> bytes:
    path = videos.folder / "slow.mp4"
    write_video(path, videos.frames(*place), rate=Fraction(24), settings=ENCODE)
    return path.read_bytes()


ONE, TWO, PART = CLIPS
CLEAN: Make = bytes_of("clean", 0)
PICTURE_FAULTS: dict[Place, tuple[str, str, Make]] = {
    ("shot_noise", 1, ONE): ("pictures", "severities exchanged", bytes_of("shot_noise", 3)),
    ("shot_noise", 3, ONE): ("pictures", "severities exchanged", bytes_of("shot_noise", 1)),
    ("shot_noise", 1, TWO): ("pictures", "nothing applied", CLEAN),
    ("shot_noise", 3, TWO): ("pictures", "other draws", other_draws),
    ("shot_noise", 1, PART): ("sources", "a black frame", redrawn(black_at_the_end)),
    ("shot_noise", 3, PART): ("sources", "a mark", each(marked)),
    ("motion_blur", 1, ONE): ("pictures", "black", each(np.zeros_like)),
    ("motion_blur", 3, ONE): ("pictures", "reversed", redrawn(lambda pictures: pictures[::-1])),
    ("motion_blur", 1, TWO): ("pictures", "another clip", bytes_of("motion_blur", 1, ONE)),
    ("motion_blur", 3, TWO): ("pictures", "another perturbation", bytes_of("rotation")),
    ("motion_blur", 1, PART): ("sources", "nothing applied to a half", half_done),
    ("motion_blur", 3, PART): ("decoded", "another rate", slower),
    ("rotation", 1, ONE): ("pictures", "severities exchanged", bytes_of("rotation", 3)),
    ("rotation", 3, ONE): ("pictures", "severities exchanged", bytes_of("rotation", 1)),
    ("rotation", 1, TWO): ("pictures", "shifted", redrawn(lambda pictures: [*pictures[1:], pictures[-1]])),
    ("rotation", 3, TWO): ("pictures", "mirrored", each(lambda picture: picture[:, ::-1])),
    ("rotation", 1, PART): ("decoded", "a note", partial(remuxed, title="answer: A")),
    ("rotation", 3, PART): ("decoded", "sound", partial(remuxed, sound=True)),
    ("jpeg", 1, ONE): ("pictures", "another perturbation", bytes_of("mpeg1")),
    ("jpeg", 3, ONE): ("pictures", "another severity", bytes_of("jpeg", 1)),
    ("jpeg", 1, TWO): ("decoded", "another size", each(lambda picture: picture[:-2])),
    ("jpeg", 3, TWO): ("decoded", "a frame less", redrawn(lambda pictures: pictures[:-1])),
    ("jpeg", 1, PART): ("sources", "encoded twice", redrawn(lambda pictures: pictures)),
    ("jpeg", 3, PART): ("sources", "grey", each(grey)),
    ("mpeg1", 1, ONE): ("pictures", "severities exchanged", bytes_of("mpeg1", 3)),
    ("mpeg1", 3, ONE): ("pictures", "severities exchanged", bytes_of("mpeg1", 1)),
    ("mpeg1", 1, TWO): ("pictures", "nothing applied", CLEAN),
    ("mpeg1", 3, TWO): ("pictures", "upside down", each(lambda picture: picture[::-1])),
    ("mpeg1", 1, PART): ("sources", "severities exchanged in a part", bytes_of("mpeg1", 3)),
    ("mpeg1", 3, PART): ("sources", "severities exchanged in a part", bytes_of("mpeg1", 1)),
    ("jumble", 1, ONE): ("index_maps", "severities exchanged", bytes_of("jumble", 3)),
    ("jumble", 3, ONE): ("index_maps", "severities exchanged", bytes_of("jumble", 1)),
    ("jumble", 1, TWO): ("index_maps", "nothing applied", CLEAN),
    ("jumble", 3, TWO): ("index_maps", "another clip", bytes_of("jumble", 3, ONE)),
    ("jumble", 1, PART): ("index_maps", "reversed", redrawn(lambda pictures: pictures[::-1])),
    ("jumble", 3, PART): ("index_maps", "mirrored", each(lambda picture: picture[:, ::-1])),
}
"""By the row that is forged: the check that finds it, "sources" if no other one must; what it is; how it is made."""


@pytest.fixture(scope="module")
def videos(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Videos:
    forged = forger.load(suite)
    rows = {
        (table, row["severity"], row["clip_id"]): row["video"]["bytes"]
        for table in ("clean", *VISUAL)
        for row in forged.rows(table)
    }
    return Videos(rows, tmp_path_factory.mktemp("videos"))


def put(videos: Videos, faults: dict[Place, tuple[str, str, Make]]) -> Change:
    def change(forged: Forgery) -> None:
        for place, (_, _, make) in faults.items():
            table, severity, clip = place
            (row,) = (r for r in forged.rows(table) if (r["severity"], r["clip_id"]) == (severity, clip))
            row["video"]["bytes"] = make(videos, place)

    return change


@pytest.fixture(scope="module")
def forged_pictures(suite: Path, sources: Path, videos: Videos) -> dict[str, list[str]]:
    copy = forger.forge(suite, videos.folder / "forged", put(videos, PICTURE_FAULTS))
    return findings(copy, VerifyOptions(sources=sources, sample=1000))


def named(problems: list[str], place: Place) -> list[str]:
    table, severity, clip = place
    return [problem for problem in problems if problem.startswith(f"{table}: clip {clip}, severity {severity}:")]


def test_every_perturbed_row_is_forged(videos: Videos) -> None:
    assert {place for place in videos.rows if place[0] != "clean"} == set(PICTURE_FAULTS)


@pytest.mark.parametrize(
    "place", PICTURE_FAULTS, ids=[f"{'-'.join(map(str, p))}: {what}" for p, (_, what, _) in PICTURE_FAULTS.items()]
)
def test_fault_in_pictures_is_found(forged_pictures: dict[str, list[str]], place: Place) -> None:
    check, _, _ = PICTURE_FAULTS[place]
    assert named(forged_pictures["sources"], place) != []  # whatever it is
    assert named(forged_pictures[check], place) != []


def test_nothing_else_is_found_in_rows(forged_pictures: dict[str, list[str]]) -> None:
    found = {name for name, problems in forged_pictures.items() if problems}
    assert found <= {"decoded", "index_maps", "pictures", "sources"}


def test_the_clean_clip_is_a_witness(suite: Path, videos: Videos, sources: Path) -> None:
    """Who changes the clean clip alone contradicts what was made of it."""
    faults: dict[Place, tuple[str, str, Make]] = {
        ("clean", 0, ONE): ("pictures", "mirrored", each(lambda picture: picture[:, ::-1])),
        ("clean", 0, TWO): ("pictures", "another clip", bytes_of("clean", 0, ONE)),
    }
    copy = forger.forge(suite, videos.folder / "clean", put(videos, faults))
    found = findings(copy, VerifyOptions())
    for clip in (ONE, TWO):
        assert all(named(found["pictures"], (name, 3, clip)) for name in VISUAL if name != "jumble")
        assert named(found["index_maps"], ("jumble", 3, clip))


@pytest.fixture(scope="module")
def from_other_sources(once: Callable[..., Path], build_once: Callable[..., Path]) -> Path:
    """What a forger builds who has turned the sources upside down, and made them darker."""
    turned = partial(write_sources, change=lambda frame: np.ascontiguousarray(frame[::-1] // 2))
    return build(once("other-sources", turned), build_once)


class TestWhatOnlySourcesTell:
    def test_a_suite_of_other_sources_passes_without_them(self, from_other_sources: Path, sources: Path) -> None:
        options = VerifyOptions(annotations=sources / "c.csv")
        assert {name: found for name, found in findings(from_other_sources, options).items() if found} == {}

    def test_and_fails_with_them(self, from_other_sources: Path, sources: Path) -> None:
        found = findings(from_other_sources, VerifyOptions(sources=sources, sample=7))
        assert len(found["sources"]) == 7
        assert all("frames are not those of the source" in problem for problem in found["sources"])

    def test_another_crf_in_the_settings(self, suite: Path, sources: Path, tmp_path: Path) -> None:
        def change(forged: Forgery) -> None:
            forged.info["settings"]["crf"] = 24
            plan = plan_again(forger.FinishedOutput(suite, forged.info), sources)
            assert isinstance(plan, Plan)
            forged.info["plan_sha256"] = plan.hash

        found = findings(forger.forge(suite, tmp_path / "copy", change), VerifyOptions(sources=sources, sample=7))
        assert found["annotations"] == []
        assert len(found["sources"]) == 7

    def test_it_is_said_that_this_was_left_open(self, suite: Path) -> None:
        found = left_open(suite, without_decoding(None))
        assert found.keys() == {"annotations", "sources"}
        assert "give --sources" in found["sources"][0]


class TestOtherTools:
    """With another encoder files may differ, but not by more than its loss."""

    @pytest.fixture
    def older(self, suite: Path) -> Iterator[Change]:
        def change(forged: Forgery) -> None:
            forged.info["tools"]["av"] = "0.1"
            plan = plan_again(forger.FinishedOutput(suite, forged.info), self.sources)
            assert isinstance(plan, Plan)
            forged.info["plan_sha256"] = plan.hash

        return change

    @pytest.fixture(autouse=True)
    def _sources(self, sources: Path) -> None:
        self.sources = sources

    def forged(self, suite: Path, copy: Path, videos: Videos, older: Change, make: Make) -> dict[str, list[str]]:
        places = [("shot_noise", 1, ONE), ("motion_blur", 3, ONE), ("jpeg", 3, TWO), ("rotation", 1, TWO)]
        faults = {place: ("sources", "", make) for place in places}
        out = forger.forge(suite, copy, everything(put(videos, faults), older))
        output = open_output(out)
        found = list(checks_for(output, VerifyOptions(sources=self.sources, sample=1000))["sources"](output))
        assert any(isinstance(one, NotChecked) and "av is" in one.reason for one in found)
        return {place[0]: named([one for one in found if isinstance(one, str)], place) for place in places}

    def test_their_loss_is_allowed(self, suite: Path, tmp_path: Path, videos: Videos, older: Change) -> None:
        def encoded_otherwise(videos: Videos, place: Place) -> bytes:
            """From the same frames, by the x264 in FFmpeg's program."""
            name, severity, clip = place
            (row,) = (p for p in load(suite, name, videos=self.sources, severity=severity) if p.row["clip_id"] == clip)
            count, height, width, _ = row.frames.shape
            path = videos.folder / "other.mp4"
            given = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(RATE), "-i", "pipe:")
            made = ("-c:v", "libx264", "-preset", ENCODE.preset, "-crf", str(ENCODE.crf), "-pix_fmt", "yuv420p", "-y")
            command = [find_ffmpeg(), "-loglevel", "error", *given, *made, path]
            subprocess.run(command, input=row.frames.tobytes(), check=True)
            assert count == len(list(frames_of(path.read_bytes())))
            return path.read_bytes()

        found = self.forged(suite, tmp_path / "copy", videos, older, encoded_otherwise)
        assert not any(found.values()), found

    def test_no_more_than_that(self, suite: Path, tmp_path: Path, videos: Videos, older: Change) -> None:
        def faults(videos: Videos, place: Place) -> bytes:
            made = {"shot_noise": CLEAN, "motion_blur": bytes_of("motion_blur", 1), "jpeg": bytes_of("jpeg", 1)}
            return made.get(place[0], redrawn(lambda pictures: [*pictures[1:], pictures[-1]]))(videos, place)

        found = self.forged(suite, tmp_path / "copy", videos, older, faults)
        assert all(found.values()), found


def test_a_sample_has_every_perturbation_then_every_severity() -> None:
    triples = [
        (name, severity, clip)
        for name in ("clean", "a", "b")
        for severity in ((0,) if name == "clean" else (1, 2, 3))
        for clip in ("x", "y", "z")
    ]
    drawn = draw_spread(triples, "f", 14)
    assert len({name for name, _, _ in drawn[:3]}) == 3
    assert {(name, severity) for name, severity, _ in drawn[:7]} == {(name, severity) for name, severity, _ in triples}
    assert len(set(drawn)) == 14
    assert draw_spread(list(reversed(triples)), "f", 14) == drawn
    assert draw_spread(triples, "g", 14) != drawn
    assert sorted(draw_spread(triples, "f", 1000)) == sorted(triples)


def test_a_clip_of_another_size_does_not_crash_the_card(suite: Path, videos: Videos, tmp_path: Path) -> None:
    faults = {("jpeg", 1, TWO): PICTURE_FAULTS["jpeg", 1, TWO]}
    copy = forger.forge(suite, tmp_path / "copy", put(videos, faults))
    with pytest.raises(InputError, match="clip two, severity 1, has frames of another size"):
        write_card(open_output(copy), BENCHMARK.configs(open_output(copy).info), card_of(BENCHMARK))
    (copy / "README.md").touch()  # the forger's own card could not be written
    left_out = tuple(name for name in checks_for(open_output(copy), VerifyOptions()) if name != "card")
    (problem,) = forger.failed(copy, VerifyOptions(), leave_out=left_out)["card"]
    assert "jpeg" in problem


def test_a_video_without_frames_does_not_crash_the_card(suite: Path, videos: Videos, tmp_path: Path) -> None:
    faults: dict[Place, tuple[str, str, Make]] = {("jumble", 3, PART): ("", "", lambda *_: b"no video")}
    copy = forger.forge(suite, tmp_path / "copy", put(videos, faults))
    with pytest.raises(InputError, match=r"\.mp4 has not frame"):
        write_card(open_output(copy), BENCHMARK.configs(open_output(copy).info), card_of(BENCHMARK))
