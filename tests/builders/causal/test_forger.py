"""A forger of CausalChaos who knows every check: one fault for every column of every table and each kind of tampering.

Those of `REANNOTATED` change the annotations and build everything anew from them, so that nothing in the output
contradicts anything else in it.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tampering
from forger import Change, Forgery, Row, failed, forge, load, outcomes
from stressreel.builders.causal.inputs import causal_identity, make_confuser
from stressreel.builders.causal.plan import plan_causal
from stressreel.builders.causal.settings import CausalSettings, settings_of
from stressreel.builders.causal.tables import causal_configs
from stressreel.negatives.embeddings_cache import embed
from stressreel.records.checks import VerifyOptions
from stressreel.records.plan import Plan
from stressreel.samples.cache import cached_sample
from stressreel.samples.causal import sample_episodes
from stressreel.sources.causalchaos import CausalRow, read_causalchaos
from stressreel.video.encode import EncodeSettings

if TYPE_CHECKING:
    from conftest import Bars, Track

pytest.importorskip("sentence_transformers")

SETTINGS = EncodeSettings(preset="ultrafast")
CHOICES = ("ud", "ps", "un", "causal_confusion")
HEADER = ("QID", "Filename", "Start Frame", "End Frame", "Question", "Answer", "Explanation")
ROWS, LENGTH = 12, 14


@pytest.fixture(scope="module", autouse=True)
def _planned_once() -> Iterator[None]:
    """Plan the same questions once: a plan is a pure function, and most forgers leave the questions as they are."""
    plans: dict[str, Plan] = {}

    def plan(rows: Sequence[CausalRow], settings: CausalSettings, **options: Any) -> Plan:
        key = repr(
            (rows, settings, options["identity"], options["notes"], options["limit"], options["confuser"] is None)
        )
        if key not in plans:
            plans[key] = plan_causal(rows, settings, **options)
        return plans[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stressreel.builders.causal.source_checks.plan_causal", plan)
        yield


@pytest.fixture(scope="module")
def annotations() -> Path:
    """The built-in annotations; read only."""
    return cached_sample("causal-annotations")


@pytest.fixture(scope="module")
def built(annotations: Path, build_once: Callable[..., Path]) -> Path:
    """All tables but the clips, with options chosen by their scores, which are planned fast; read only."""
    return build_once("build-causal", "--annotations", annotations, "--no-render", "--balance", "none")


@pytest.fixture(scope="module")
def balanced(annotations: Path, build_once: Callable[..., Path]) -> Path:
    """One division with balanced options; read only."""
    return build_once("build-causal", "--annotations", annotations, "--no-render", "--splits", "UD")


@pytest.fixture(scope="module")
def episodes(once: Callable[..., Path], bars: type[Bars], track: type[Track]) -> Path:
    """Two small episodes with sound, and a few questions about them; read only."""
    return once("episodes", lambda folder: write_episodes(folder, bars, track))


def write_episodes(folder: Path, bars: type[Bars], track: type[Track]) -> None:
    folder.mkdir()
    for number in range(2):
        bars.write(folder / f"S90E0{number}.mp4", frames=100, first=100 * number, track=track(rate=8000))
    texts = [row for episode in sample_episodes() for row in episode.rows][:: 60 // ROWS][:ROWS]
    with (folder / "Annotations.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(HEADER)
        for number, row in enumerate(texts):
            start = number // 2 * LENGTH
            table.writerow(
                [number, f"S90E0{number % 2}", start, start + LENGTH, row.question, row.answer, row.explanation]
            )


@pytest.fixture(scope="module")
def clips(episodes: Path, build_once: Callable[..., Path]) -> Path:
    """The clips of these questions; read only."""
    options = ("--splits", "UD", "--pool", "all", "--num-options", 3, "--no-keep-apart", "--confuse", 0)
    options = (*options, "--balance", "none")
    encoding = ("--audio", "keep", "--preset", "ultrafast", "--workers", 1)
    return build_once("build-causal", "--annotations", episodes, *options, *encoding)


def in_test(table: str, change: Callable[[Row], object]) -> Change:
    """Change the first row of a table's test."""
    return lambda forged: change(forged.tables[table]["test"][0])


def put(table: str, **values: object) -> Change:
    return in_test(table, lambda row: row.update(values))


def wrong(row: Row, index: str = "answer_index") -> int:
    """The place of the first wrong option."""
    return 0 if row[index] else 1


def lend(row: Row, options: str = "options", index: str = "answer_index") -> None:
    row[options][wrong(row, index)] = "It rained all day."


def turned(row: Row) -> None:
    """Put the right answer in another place, with its option and its source."""
    new = (row["answer_index"] + 1) % len(row["options"])
    for name in ("options", "sources"):
        row[name].insert(new, row[name].pop(row["answer_index"]))
    row["answer_index"] = new


def turned_explanation(row: Row) -> None:
    new = (row["explanation_index"] + 1) % len(row["explanation_options"])
    for name in ("explanation_options", "explanation_sources"):
        row[name].insert(new, row[name].pop(row["explanation_index"]))
    row["explanation_index"] = new


def source(table: str, name: str, value: Any, sources: str = "sources", index: str = "answer_index") -> Change:
    def change(row: Row) -> None:
        entry = row[sources][wrong(row, index)]
        entry[name] = value(entry[name]) if callable(value) else value

    return lambda forged: change(next(iter(next(iter(forged.tables[table].values())))))


def less(value: float | None) -> float:
    return (value or 0.5) - 0.001


OTHER_KIND = {"kind": "random", "qid": "1", "cos_question": less, "cos_text": less, "score": less}


def confusion(name: str, value: Any) -> Change:
    return in_test("causal_confusion", lambda row: row["confusions"][0].update({name: value}))


def choice_faults(table: str) -> dict[str, Change]:
    return {
        f"{table}.qid": put(table, qid="no question"),
        f"{table}.episode": put(table, episode="S91E01"),
        f"{table}.start_frame": put(table, start_frame=3),
        f"{table}.end_frame": put(table, end_frame=10**6),
        f"{table}.clip_id": put(table, clip_id="S90E01_0_1"),
        f"{table}.question": put(table, question="Why did it rain?"),
        f"{table}.options": in_test(table, lend),
        f"{table}.answer_index": in_test(table, turned),
        f"{table}.blind_guessable": put(table, blind_guessable=True),
        f"{table}.explanation_options": in_test(
            table, lambda row: lend(row, "explanation_options", "explanation_index")
        ),
        f"{table}.explanation_index": in_test(table, turned_explanation),
        **{f"{table}.sources.{name}": source(table, name, value) for name, value in OTHER_KIND.items()},
        **{
            f"{table}.explanation_sources.{name}": source(
                table, name, value, "explanation_sources", "explanation_index"
            )
            for name, value in OTHER_KIND.items()
        },
    }


def another_split(column: str) -> Change:
    return in_test("open_ended", lambda row: row.update({column: "train" if row[column] == "test" else "test"}))


def to_the_train(table: str) -> Change:
    """Move a question of the test into train."""

    def change(forged: Forgery) -> None:
        splits = forged.tables[table]
        splits["train"].append(splits["test"].pop())

    return change


def replanned(rows: list[CausalRow], forged: Forgery, **settings: Any) -> None:
    """Build every table anew from other annotations or settings."""
    info = forged.info
    info["settings"].update(settings)
    for name, value in settings.items():
        info["command"] = info["command"].replace(f"--{name} 0", f"--{name} {value}")
    plan = plan_causal(
        rows,
        settings_of(info),
        embed=embed,
        confuser=make_confuser(rows, None, "auto"),
        identity=causal_identity(info["dataset_version"], info["tools"], info["inputs"], {}, info["source"]),
        notes={name: info["notes"][name] for name in COUNTED if name in info["notes"]},
    )
    forged.tables = {table: {} for table in forged.tables}
    for unit in plan.units:
        forged.tables[unit.payload["config"]][unit.split] = unit.payload["rows"]
    for table, splits in forged.tables.items():
        forged.tables[table] = {split: splits[split] for split in plan.splits if split in splits}
    info |= {"notes": plan.notes, "plan_sha256": plan.hash}


COUNTED = (
    *("rows", "episodes", "rows_with_the_frames_of_another", "rows_that_overlap_another", "questions_repeated"),
    *("answers_repeated", "explanations_repeated", "explanations_equal_to_their_answer", "texts_with_runs_of_spaces"),
)


def reannotated(**values: Any) -> Change:
    """Change the first annotation and build everything anew from it."""

    def change(forged: Forgery) -> None:
        rows = list(read_causalchaos(cached_sample("causal-annotations") / "Annotations.csv").rows)
        rows[0] = replace(rows[0], **values)
        replanned(rows, forged)

    return change


def without_a_row(forged: Forgery) -> None:
    replanned(list(read_causalchaos(cached_sample("causal-annotations") / "Annotations.csv").rows)[1:], forged)


REANNOTATED: dict[str, Change] = {
    "open_ended.qid": reannotated(qid="q0"),
    "open_ended.episode": reannotated(episode="S90E02"),
    "open_ended.start_frame": reannotated(start_frame=11),
    "open_ended.end_frame": reannotated(end_frame=81),
    "open_ended.question": reannotated(question="Why did it rain all day?"),
    "open_ended.answer": reannotated(answer="Because the clouds were heavy."),
    "open_ended.explanation": reannotated(explanation="Heavy clouds let go of their water."),
    "a row left out": without_a_row,
    "inputs": lambda f: f.info["inputs"].update({"Annotations.csv": "0" * 64}),
    "limit": lambda f: f.info.update(limit=60, command=f.info["command"].replace(" --out", " --limit 60 --out")),
    "tables": lambda f: f.info["tables"].update({"confusion.yaml": "0" * 64}),
    "notes": lambda f: f.info["notes"].update(rows=61),
    "plan_sha256": lambda f: f.info.update(plan_sha256="0" * 64),
    "columns": lambda f: f.info.update(columns={"question": "Q"}),
    "skips": lambda f: f.info["skips"].update(
        count=1, list=[{"unit_id": "no clip", "source_id": "S90E01", "reason": "missing_video", "detail": ""}]
    ),
}
TABLES: dict[str, Change] = {
    **{name: fault for table in CHOICES for name, fault in choice_faults(table).items()},
    "causal_confusion.confusions.target": confusion("target", "explanation"),
    "causal_confusion.confusions.of": confusion("of", "wrong"),
    "causal_confusion.confusions.kind": confusion("kind", "swap"),
    "causal_confusion.confusions.place": confusion("place", 4),
    "causal_confusion.confusions.text": confusion("text", "It did not rain."),
    "causal_confusion.confusions.note": confusion("note", "perhaps"),
    "open_ended.clip_id": put("open_ended", clip_id="S90E01_0_1"),
    **{f"open_ended.split_{scheme}": another_split(f"split_{scheme}") for scheme in CHOICES[:3]},
    "settings": lambda f: f.info.update(settings={**f.info["settings"], "seed": 1}),
    "command": lambda f: f.info.update(command=f.info["command"].replace("--seed 0", "--seed 7")),
    "split": lambda f: f.info.update(split="test"),
    "files": lambda f: f.info["files"].update(cast=["Annotations.csv"]),
    "source": lambda f: f.info["source"].update(license={"license": "mit"}),
    **{f"a question of {table} in another split": to_the_train(table) for table in CHOICES[:3]},
    "rows in another order": lambda f: f.tables["ud"]["train"].reverse(),
}
FREE = {"builder", "dataset_version", "tools", "counts", "fingerprint", "fingerprints", "video_folders"}


def with_clip(**values: object) -> Change:
    return lambda forged: forged.rows("clips")[0].update(values)


def repaint(name: str) -> Change:
    def change(forged: Forgery) -> None:
        video = forged.rows("clips")[0]["video"]
        pictures = tampering.REPAINTS[name](tampering.pictures_of(video["bytes"]))
        video["bytes"] = tampering.written(pictures, tampering.sound_of(video["bytes"]), SETTINGS, Fraction(30))

    return change


def resound(name: str) -> Change:
    def change(forged: Forgery) -> None:
        video = forged.rows("clips")[0]["video"]
        sound = tampering.SOUNDS[name](tampering.sound_of(video["bytes"]))
        video["bytes"] = tampering.written(tampering.pictures_of(video["bytes"]), sound, SETTINGS, Fraction(30))

    return change


def another_clip(forged: Forgery) -> None:
    first, second = forged.rows("clips")[:2]
    first["video"]["bytes"], second["video"]["bytes"] = second["video"]["bytes"], first["video"]["bytes"]


def shifted(forged: Forgery) -> None:
    row = forged.rows("clips")[0]
    pictures = tampering.pictures_of(row["video"]["bytes"])
    row["video"]["bytes"] = tampering.written(
        pictures[[*range(1, len(pictures)), -1]], tampering.sound_of(row["video"]["bytes"]), SETTINGS, Fraction(30)
    )


def slower(forged: Forgery) -> None:
    row = forged.rows("clips")[0]
    content = row["video"]["bytes"]
    row["video"]["bytes"] = tampering.written(
        tampering.pictures_of(content), tampering.sound_of(content), SETTINGS, Fraction(29)
    )
    row.update(fps=29.0, duration_s=row["num_frames"] / 29)


CLIPS: dict[str, Change] = {
    "clips.clip_id": with_clip(clip_id="S90E00_1_2"),
    "clips.episode": with_clip(episode="S90E01"),
    "clips.start_frame": with_clip(start_frame=1),
    "clips.end_frame": with_clip(end_frame=99),
    "clips.first_frame": with_clip(first_frame=1),
    "clips.num_frames": with_clip(num_frames=LENGTH + 1),
    "clips.fps": with_clip(fps=25.0),
    "clips.width": with_clip(width=640),
    "clips.height": with_clip(height=480),
    "clips.duration_s": with_clip(duration_s=1.0),
    "clips.source_sha256": with_clip(source_sha256="0" * 64),
    "clips.sha256": with_clip(sha256="0" * 64),
    "clips.video": lambda forged: forged.rows("clips")[0]["video"].update(path="b.mp4"),
    "two clips exchanged": another_clip,
    "a clip one frame later": shifted,
    "another rate": slower,
    **{f"a clip {name}": repaint(name) for name in tampering.REPAINTS if name != "first picture throughout"},
    **{f"sound {name}": resound(name) for name in tampering.SOUNDS},
}
ONLY_WITH_SOURCES = {
    *REANNOTATED,
    *(name for name in CLIPS if name.startswith(("a clip ", "sound "))),
    *("clips.first_frame", "clips.source_sha256", "two clips exchanged", "another rate"),
    "rows in another order",
}


def caught(copy: Path, sources: Path | None, *, decode: bool = False) -> bool:
    """Whether some check fails; the later ones need not run then."""
    return bool(failed(copy, VerifyOptions(decode=decode, sources=sources), first=True))


def test_every_column_has_its_fault(built: Path, clips: Path) -> None:
    columns = {
        name
        for out in (built, clips)
        for config in causal_configs(settings_of(load(out).info))
        for column in config.columns
        for name in [f"{config.name}.{column.name}"]
        for name in ([f"{name}.{field.name}" for field in column.fields] or [name])
    }
    assert {name for name in {**TABLES, **REANNOTATED, **CLIPS} if "." in name} == columns


def test_every_entry_of_build_json_has_its_fault(built: Path) -> None:
    assert set(load(built).info) <= {*REANNOTATED, *TABLES, *FREE}


@pytest.mark.parametrize("which", ["tables", "clips"])
def test_a_forger_who_changes_nothing_passes(
    which: str, built: Path, clips: Path, annotations: Path, episodes: Path, tmp_path: Path
) -> None:
    out, sources = (built, annotations) if which == "tables" else (clips, episodes)
    copy = forge(out, tmp_path / "copy", lambda forged: None, card=True)
    found = outcomes(copy, VerifyOptions(sources=sources), leave_out=())
    assert {name: outcome.problems for name, outcome in found.items() if not outcome.passed} == {}
    assert [name for name, outcome in found.items() if outcome.not_checked] == []


def test_without_sources_it_is_said_what_was_not_checked(clips: Path) -> None:
    found = outcomes(clips, VerifyOptions())
    assert {name for name, outcome in found.items() if outcome.not_checked} == {"mined", "sources"}


@pytest.mark.parametrize("name", {**TABLES, **REANNOTATED})
def test_fault_in_a_table_is_found(built: Path, annotations: Path, tmp_path: Path, name: str) -> None:
    copy = forge(built, tmp_path / "copy", {**TABLES, **REANNOTATED}[name])
    alone = caught(copy, None)
    assert alone != (name in ONLY_WITH_SOURCES)
    assert alone or caught(copy, annotations)


def carried(forged: Forgery) -> tuple[Row, int]:
    """Return a row of the test and the place of an answer that was carried over to it."""
    return next(
        (row, place)
        for row in forged.tables["ud"]["test"]
        for place, one in enumerate(row["sources"])
        if one["kind"] == "carried"
    )


def replaced(forged: Forgery) -> None:
    row, place = carried(forged)
    row["options"][place] = "It rained all day"


def named_anew(forged: Forgery) -> None:
    row, place = carried(forged)
    row["sources"][place]["kind"] = "hard"


def flagged(forged: Forgery) -> None:
    """Turn the flag of a question, in its row and in the count."""
    row = forged.tables["ud"]["test"][0]
    row["blind_guessable"] = not row["blind_guessable"]
    forged.info["notes"]["blind_guessable/ud/test"] += 1 if row["blind_guessable"] else -1


def uneven(forged: Forgery) -> None:
    """Put the right answer of every row of the test in the first two places."""
    for number, row in enumerate(forged.tables["ud"]["test"]):
        for name in ("options", "sources"):
            row[name].insert(number % 2, row[name].pop(row["answer_index"]))
        row["answer_index"] = number % 2


def a_twin_taken_back(forged: Forgery) -> None:
    """Put the option back that the twin of a wrong option replaced, and leave the note."""
    row, made = next(
        (row, made)
        for row in forged.tables["causal_confusion"]["test"]
        for made in row["confusions"]
        if made["of"] == "wrong" and made["target"] == "answer"
    )
    before = next(one for one in forged.tables["ud"]["test"] if one["qid"] == row["qid"])
    for name in ("options", "sources"):
        row[name][made["place"]] = before[name][made["place"]]


BALANCED: dict[str, tuple[Change, str]] = {
    "a carried option replaced": (replaced, "mined"),
    "a carried option called hard": (named_anew, "pool"),
    "blind_guessable turned": (flagged, "mined"),
    "uneven places": (uneven, "answer_index"),
    "a twin taken back": (a_twin_taken_back, "confusions"),
}


def test_a_forger_who_changes_nothing_of_balanced_options_passes(
    balanced: Path, annotations: Path, tmp_path: Path
) -> None:
    found = outcomes(forge(balanced, tmp_path / "copy", lambda forged: None), VerifyOptions(sources=annotations))
    assert {name: outcome.problems for name, outcome in found.items() if not outcome.passed} == {}


@pytest.mark.parametrize("name", BALANCED)
def test_fault_in_balanced_options_is_found(balanced: Path, tmp_path: Path, name: str) -> None:
    change, check = BALANCED[name]
    assert check in failed(forge(balanced, tmp_path / "copy", change), VerifyOptions())


@pytest.mark.parametrize("name", CLIPS)
def test_fault_in_a_clip_is_found(clips: Path, episodes: Path, tmp_path: Path, name: str) -> None:
    copy = forge(clips, tmp_path / "copy", CLIPS[name])
    alone = caught(copy, None, decode=True)
    assert alone != (name in ONLY_WITH_SOURCES)
    assert alone or caught(copy, episodes, decode=True)


@pytest.mark.parametrize("name", [name for name in CLIPS if name.startswith(("a clip ", "sound ")) or "two" in name])
def test_a_fault_is_found_though_another_encoder_is_claimed(
    clips: Path, episodes: Path, tmp_path: Path, name: str
) -> None:
    def change(forged: Forgery) -> None:
        CLIPS[name](forged)
        forged.info["tools"]["av"] = "0.1"

    copy = forge(clips, tmp_path / "copy", change)
    assert any("sources" in some for some in [failed(copy, VerifyOptions(sources=episodes))])
