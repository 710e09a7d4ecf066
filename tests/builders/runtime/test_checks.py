"""What `verify` checks of tables and of videos; and the canary, one GUID of a dataset in all its files."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import stressreel
import tampering
from changed import Held
from forger import Change, Forgery, forge
from stressreel.builders import benchmark_of, load_benchmark
from stressreel.builders.runtime import video_checks
from stressreel.builders.runtime.table_checks import Derivation, Derived, check_derived, check_schema
from stressreel.builders.runtime.video_checks import at_once, check_decoded, check_decord, check_shown
from stressreel.core.files import write_json
from stressreel.core.fingerprint import canary_of
from stressreel.core.output import NotChecked, open_output
from stressreel.core.schema import Column, Config, Row
from stressreel.video.encode import EncodeSettings

# Tables

CONFIGS = load_benchmark("clavi").configs({"settings": {"render": True}})


def test_all_files_and_exports_contain_the_canary(four_pairs: Path, tmp_path: Path) -> None:
    stressreel.export_files(four_pairs, to=tmp_path / "files")
    stressreel.export_webdataset(four_pairs, to=tmp_path / "tars")
    stressreel.export_tasks(four_pairs, "inspect", to=tmp_path / "inspect")
    info = json.loads((four_pairs / "build.json").read_text())
    canary = canary_of(info["plan_sha256"])
    assert info["canary"] == canary
    for shard in four_pairs.rglob("*.parquet"):
        assert pq.read_metadata(shard).metadata[b"canary"] == canary.encode()
    texts = [four_pairs / name for name in ("README.md", "build.json", "croissant.json")]
    for file in [*texts, *(tmp_path / name / "output.json" for name in ("files", "tars", "inspect"))]:
        assert canary in file.read_text(encoding="utf-8"), file
    assert [*check_schema(open_output(four_pairs), CONFIGS)][:-1] == []
    out = shutil.copytree(four_pairs, tmp_path / "out")
    table = pq.read_table(out / "units.parquet")
    pq.write_table(table.replace_schema_metadata({}), out / "units.parquet")
    assert "units.parquet: the canary" in str(next(iter(check_schema(open_output(out), CONFIGS))))
    write_json(out / "build.json", {**info, "canary": canary_of("another plan")})
    assert "does not follow from plan_sha256" in str(next(iter(check_schema(open_output(out), CONFIGS))))


TABLE = Config(
    "questions", "", (Column("id", "string", ""), Column("words", "strings", ""), Column("n", "float64", ""))
)
ROWS: list[Row] = [{"id": name, "words": [name], "n": 0.1} for name in "abc"]
MUST = [Derived("questions", "test", {"id": name, "words": (name,)}) for name in "abc"]


@pytest.mark.parametrize(
    ("found", "derived", "lines"),
    [
        (ROWS, MUST, []),
        (ROWS, [], []),
        (ROWS, ["a rule is broken", *MUST], ["a rule is broken"]),
        (ROWS, [NotChecked("why", "tools"), *MUST], [NotChecked("why", "tools")]),
        ([{**ROWS[0], "words": []}, *ROWS[1:]], MUST, ["questions/test: a: words is [], not ('a',)"]),
        (ROWS[:2], MUST, ["questions/test: the rows end where c is expected; the rest is skipped"]),
        (ROWS[1:], MUST, ["questions/test: found b where a is expected; the rest is skipped"]),
        (ROWS, MUST[:2], ["questions/test: c and the rows after it are not expected"]),
    ],
)
def test_each_difference_is_reported_once(found: list[Row], derived: list[Derivation], lines: list[object]) -> None:
    output = Held(Path(), {"counts": {"questions": {"test": 3}}}, {"questions": {"test": found}})
    assert list(check_derived(output, [TABLE], derived))[:-1] == lines


# Videos

JUMBLED = ("--msrvtt", "msrvtt", "--limit", 1, "--perturbations", "jumble", "--severity", 1)
ARGUMENTS: dict[str, tuple[object, ...]] = {
    "clavi": ("build-clavi", "--charades", "sample", "--limit", 1, "--preset", "ultrafast"),
    "perturbed": ("build-perturbed", *JUMBLED),
    "lossless": ("build-perturbed", *JUMBLED, "--lossless"),
    "decomp": ("build-decomp", "--charades", "sample", "--limit", 1),
}


@pytest.fixture
def small(build_once: Callable[..., Path], msrvtt: Path) -> Callable[[str], Path]:
    """Builds a small output of each kind; read only."""
    return lambda kind: build_once(*(msrvtt if each == "msrvtt" else each for each in ARGUMENTS[kind]))


def problems(out: Path) -> list[str]:
    """All problems of the videos of an output."""
    output = open_output(out)
    benchmark = benchmark_of(output)
    shown = benchmark.shown(output) or ()
    return [*check_decoded(output, benchmark.declared(output.info), 1), *check_shown(output, shown, 1)]


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_builds_pass_checks_of_videos(kind: str, small: Callable[[str], Path]) -> None:
    assert problems(small(kind)) == []
    assert [each for each in check_decord(open_output(small(kind)), 1) if isinstance(each, str)] == []


def videos(forged: Forgery) -> list[dict]:
    return [row for splits in forged.tables.values() for rows in splits.values() for row in rows if "video" in row]


def repaint(number: int, work: Callable[[tampering.Pictures], tampering.Pictures], **given: object) -> Change:
    def change(forged: Forgery) -> None:
        row = videos(forged)[number]
        pictures, sound = tampering.pictures_of(row["video"]["bytes"]), tampering.sound_of(row["video"]["bytes"])
        settings = EncodeSettings(preset="ultrafast")
        row["video"]["bytes"] = tampering.written(work(pictures), sound, settings, **given)

    return change


def of_videos(**values: object) -> Change:
    return lambda forged: [row.update(values) for row in videos(forged)]


def second_as_first(forged: Forgery) -> None:
    videos(forged)[1]["video"].update(bytes=videos(forged)[0]["video"]["bytes"])


CASES: dict[str, tuple[str, Change]] = {
    "moved cut": (
        "clavi",
        lambda forged: [row.update(in_a_frame=row["in_a_frame"] + 12) for row in forged.rows("pairs")],
    ),
    "no video": ("clavi", lambda forged: videos(forged)[0]["video"].update(bytes=b"nothing")),
    "a note": ("clavi", repaint(1, lambda pictures: pictures, tag="the answer is yes")),
    "V′ backwards": ("clavi", repaint(1, lambda pictures: pictures[::-1])),
    "V′ as V": ("clavi", second_as_first),
    "not jumbled": ("perturbed", second_as_first),
    "with loss": ("lossless", repaint(0, lambda pictures: pictures)),
}


@pytest.mark.parametrize("name", CASES)
def test_changed_videos_are_reported(name: str, small: Callable[[str], Path], tmp_path: Path) -> None:
    kind, change = CASES[name]
    assert problems(forge(small(kind), tmp_path / "forged", change))


def test_every_recorded_property_is_compared(small: Callable[[str], Path], tmp_path: Path) -> None:
    shape = {"num_frames": 7, "fps": 31.0, "width": 640, "height": 480, "duration_s": 3.25}
    said = "\n".join(problems(forge(small("decomp"), tmp_path / "forged", of_videos(**shape))))
    assert [name for name in shape if f": {name} is {shape[name]}, the video has" not in said] == []


def test_large_frames_are_bounded(
    small: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frames larger than stated are not decoded, and large videos one at a time, whatever the rows state."""
    for kind in ("clavi", "perturbed"):
        output = open_output(small(kind))
        configs = benchmark_of(output).declared(output.info)
        assert at_once(output, configs, 7) == 7
        with monkeypatch.context() as patch:
            patch.setattr(video_checks, "LARGEST", 320 * 240 - 1)
            assert at_once(output, configs, 7) == 1
    output = open_output(forge(small("clavi"), tmp_path / "forged", of_videos(width=16)))
    monkeypatch.setattr(video_checks, "decode_video", lambda *given, **named: pytest.fail("decodes it"))
    said = list(check_decoded(output, benchmark_of(output).declared(output.info), 1))
    assert said
    assert all("width is 16, the video has 320" in line for line in said)
