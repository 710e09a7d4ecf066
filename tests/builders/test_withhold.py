"""Withheld answers: nothing in the public copy tells them, and the private one scores predictions about it."""

import errno
import json
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stressreel
from stressreel.api.ask import read_questions
from stressreel.builders import benchmark_of
from stressreel.builders.perturbed.scores import read_captions
from stressreel.builders.runtime import withhold as withholding
from stressreel.builders.runtime.withhold import check_withheld
from stressreel.core.errors import InputError, OutputError, StressreelError, UsageError
from stressreel.core.output import FinishedOutput, open_output
from stressreel.core.plan import LEFT_OUT
from stressreel.core.schema import Public

BUILDS: dict[str, tuple[object, ...]] = {
    "decomp": ("--charades", "sample"),
    "perturbed": (
        *("--msrvtt", "sample", "--perturbations", "jpeg", "--severity", 3, "--modality", "all"),
        *("--text-perturbations", "no_verbs", "--pairs", "jpeg:no_verbs", "--preset", "ultrafast"),
    ),
}
ASKED = {  # columns in which the questions are, whose wording and options blind baselines measure (`audit`)
    *("question", "options", "explanation_options", "kind", "group", "banned"),
    *("captions", "caption", "original", "changed", "reason"),
}
ANSWERS = {"clavi": "answer", "decomp": "answer", "causal": "answer_index"}


@dataclass(frozen=True)
class Copies:
    """An output, and its copies without and with the answers of the split test."""

    name: str
    original: FinishedOutput
    public: FinishedOutput
    private: FinishedOutput

    def rows(self, output: FinishedOutput, table: str = "") -> list[dict[str, Any]]:
        return list(output.rows(table or self.tables()[0], None, "test"))

    def tables(self) -> list[str]:
        return list(self.public.info["counts"])


@pytest.fixture(scope="module", params=["clavi", "decomp", "causal", "perturbed"])
def copies(
    request: pytest.FixtureRequest, build_once: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Copies:
    name = request.param
    shared = {"clavi": "built", "causal": "built_causal"}
    out = request.getfixturevalue(shared[name]) if name in shared else build_once(f"build-{name}", *BUILDS[name])
    done = stressreel.withhold(out, to=tmp_path_factory.mktemp("withheld") / name, contact="leaderboard@example.org")
    return Copies(name, *map(open_output, (out, done.public, done.private)))


def looked_up(features: Sequence[Hashable], answers: Sequence[Hashable]) -> float:
    """Guess each answer as the most common one of the other rows with the same feature; return the share correct."""
    of: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for feature, answer in zip(features, answers, strict=True):
        of[feature][answer] += 1
    correct = 0
    for feature, answer in zip(features, answers, strict=True):
        others = of[feature] - Counter([answer])
        correct += bool(others) and max(others, key=lambda each: (others[each], str(each))) == answer
    return correct / len(answers)


def plain(value: Any) -> Hashable:
    return json.dumps(value, sort_keys=True, default=str)


@pytest.mark.parametrize("copies", ANSWERS, indirect=True)
def test_no_column_id_or_order_tells_the_answer(copies: Copies) -> None:
    shown, known = copies.rows(copies.public), copies.rows(copies.private)
    key = next(iter(shown[0]))
    assert [row[key] for row in shown] == [row[key] for row in known]
    hidden = [row[ANSWERS[copies.name]] for row in known]
    asked = [number for number, answer in enumerate(hidden) if answer is not None]
    answers = [hidden[number] for number in asked]
    features = {name: [plain(row[name]) for row in shown] for name in shown[0] if name not in ASKED}
    features |= {f"end of {key}": [row[key][-1] for row in shown], f"start of {key}": [row[key][0] for row in shown]}
    features |= {f"place modulo {step}": [at % step for at in range(len(shown))] for step in (2, 3, 4, 5, 19, 38)}
    features |= {f"place of {parts}": [at * parts // len(shown) for at in range(len(shown))] for parts in (2, 10)}
    most = max(Counter(answers).values()) / len(answers)
    noise = 3 * np.sqrt(most * (1 - most) / len(answers))
    for name, values in features.items():
        assert looked_up([values[number] for number in asked], answers) <= most + noise, name


def test_public_copy_has_no_answers_or_original_ids(copies: Copies) -> None:
    benchmark = benchmark_of(copies.public)
    public = benchmark.public(copies.original.info)
    gone: set[str] = set()
    for table, declared in public.items():
        rows = copies.rows(copies.public, table)
        assert bool(rows) == (bool(declared.shown) and "test" in copies.original.splits(table)), table
        for row in rows:
            assert {name for name, value in row.items() if value is not None} <= set(declared.shown)
        for row in copies.original.rows(table, [name for name in declared.ids if "." not in name], "test"):
            gone |= {each for value in row.values() for each in (value if isinstance(value, list) else [value])}
    files = b"".join(path.read_bytes() for path in sorted(copies.public.path.rglob("*")) if path.is_file())
    texts = {json.dumps(row, default=str) for table in copies.tables() for row in copies.public.rows(table)}
    names = {name for name in gone if name is not None and len(name) > 4}
    assert not [name for name in names if f'"{name}"' in "".join(texts) or name.encode() in files]
    info = copies.public.info
    assert "seed" not in info["settings"]
    assert info["notes"] == {}
    assert not [name for name in ("fingerprint", "plan_sha256", "command") if copies.original.info[name] in str(info)]


def test_copies_lack_table_of_what_was_left_out(copies: Copies) -> None:
    for copy in (copies.public, copies.private):
        assert LEFT_OUT.name not in copy.info["counts"]
        assert not (copy.path / LEFT_OUT.name).exists()


@pytest.mark.parametrize("copies", ["clavi"], indirect=True)
def test_v_and_its_complement_cannot_be_told_apart(copies: Copies) -> None:
    order = {row["video_id"]: number for number, row in enumerate(copies.rows(copies.public, "videos"))}
    pairs: dict[str, dict[str, str]] = defaultdict(dict)
    for row in copies.rows(copies.private, "videos"):
        pairs[row["pair_id"]][row["variant"]] = row["video_id"]
    first = [order[pair["original"]] < order[pair["complement"]] for pair in pairs.values()]
    less = [pair["original"] < pair["complement"] for pair in pairs.values()]
    assert len(pairs) > 2
    assert 0 < sum(first) + sum(less) < 2 * len(pairs)
    for rows in (copies.rows(copies.public), copies.rows(copies.public, "videos")):
        assert all(row["pair_id"] is row["variant"] is row["source_id"] is None for row in rows)


@pytest.mark.parametrize("copies", ["causal"], indirect=True)
def test_options_are_shuffled_anew_and_their_sources_follow(copies: Copies) -> None:
    before = {row["question"] + row["clip_id"]: row for row in copies.rows(copies.original)}
    moved = 0
    for row in copies.rows(copies.private):
        old = before[row["question"] + row["clip_id"]]
        for index, options, sources in (
            ("answer_index", "options", "sources"),
            ("explanation_index", "explanation_options", "explanation_sources"),
        ):
            moved += row[options] != old[options]
            assert row[options][row[index]] == old[options][old[index]]
            both = (zip(each[options], (one["kind"] for one in each[sources]), strict=True) for each in (row, old))
            paired = [*map(sorted, both)]
            assert paired[0] == paired[1]
    assert moved > len(before)
    train = list(copies.public.rows(copies.tables()[0], None, "train"))
    held = {row["qid"] for row in copies.rows(copies.original)}
    assert not held & {row["qid"] for row in train}
    assert not held & {one["qid"] for row in train for one in row["sources"] or ()}


@pytest.mark.parametrize("copies", ["perturbed"], indirect=True)
def test_captions_are_paired_in_secret(copies: Copies) -> None:
    shown, known = (read_captions(output, "test") for output in (copies.public, copies.private))
    before = read_captions(copies.original, "test")
    assert (shown.ids, shown.texts) == (known.ids, known.texts)
    assert sorted(known.texts) == sorted(before.texts)
    alike = np.mean(shown.clip == known.clip)
    assert alike < 0.5
    clips = [
        {row["sha256"]: row["clip_id"] for row in output.rows("clean", ["clip_id", "sha256"], "test")}
        for output in (copies.private, copies.original)
    ]
    original = {clip: clips[1][digest] for digest, clip in clips[0].items()}
    described = set(zip(before.clip_ids, before.texts, strict=True))
    assert {(original[clip], text) for clip, text in zip(known.clip_ids, known.texts, strict=True)} == described


def given(copies: Copies, output: FinishedOutput, folder: Path) -> dict[str, Path]:
    """Write the correct answers, or similarities, to score on an output; those on the private copy name the public."""
    if copies.name == "perturbed":
        known = read_captions(output, "test")
        for name in ("clean", "jpeg-3", "no_verbs", "jpeg-3+no_verbs"):
            np.save(folder / f"{name}.npy", np.eye(len(known.clips))[:, known.clip])
        return {"similarity": folder}
    table, key = copies.tables()[0], next(iter(copies.rows(copies.public)[0]))
    said = {"clavi": lambda row: ("no", "yes")[row["answer"]], "causal": lambda row: row["answer_index"]}
    answer = said.get(copies.name, lambda row: row["answer"] or "yes")
    about = {
        "config": table,
        "fingerprint": (copies.public if output is copies.private else output).info["fingerprint"],
    }
    lines = [{"id": row[key], "answer": answer(row), **about} for row in copies.rows(output)]
    (folder / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return {"predictions": folder / "answers.jsonl"}


def test_predictions_on_public_copy_score_on_private(copies: Copies, tmp_path: Path) -> None:
    scores = [
        stressreel.score(output.path, **given(copies, output, tmp_path)).headline
        for output in (copies.original, copies.private)
    ]
    assert [*scores[0]] == [*scores[1]]
    np.testing.assert_array_equal(*([score.value for score in each.values()] for each in scores))
    answers = given(copies, copies.private, tmp_path)
    for refused in (stressreel.audit, stressreel.gallery, lambda out, to: stressreel.score(out, **answers)):
        with pytest.raises(InputError, match=r"withheld\. Send predictions to leaderboard@example\.org"):
            refused(copies.public.path, to=tmp_path / "refused")


def test_public_copy_is_asked_and_exported(copies: Copies, tmp_path: Path) -> None:
    public = copies.public.path
    if copies.name == "perturbed":
        with pytest.raises(InputError, match="a choice among five captions would reveal it"):
            read_questions(public, [], None, [], None)
        return
    found = read_questions(public, copies.tables()[:1], None, [], None).questions
    key = next(iter(copies.rows(copies.public)[0]))
    assert found
    assert {question.about["id"] for question in found} <= {row[key] for row in copies.rows(copies.private)}
    stressreel.export_tasks(public, "inspect", to=tmp_path / "inspect")
    lines = [line for file in (tmp_path / "inspect").glob("*.jsonl") for line in file.read_text("utf-8").splitlines()]
    targets = [json.loads(line)["target"] for line in lines]
    assert set(targets) == {""}


def test_copies_verify_and_are_reproducible(copies: Copies, tmp_path: Path) -> None:
    for output, said in ((copies.public, "answers of split test are withheld"), (copies.private, "do not publish")):
        report = stressreel.verify(output.path, decode=False)
        assert not report.failed, report
        assert said in str(report)
        assert said in (output.path / "README.md").read_text(encoding="utf-8")
        stressreel.card(output.path)
        stressreel.export_files(output.path, to=tmp_path / said)
    again = stressreel.withhold(copies.original.path, to=tmp_path / "again", contact="leaderboard@example.org")
    assert open_output(again.public).info == copies.public.info
    with pytest.raises(UsageError, match="already a public or private copy"):
        stressreel.withhold(copies.public.path, to=tmp_path / "more")
    with pytest.raises(UsageError, match="Push the public copy"):
        stressreel.push(copies.private.path, "org/name", dry_run=True)


@pytest.mark.parametrize("copies", ["clavi"], indirect=True)
def test_a_shown_answer_fails_verify(copies: Copies) -> None:
    benchmark = benchmark_of(copies.public)
    declared = {name: Public() for name in benchmark.public(copies.public.info)}
    found: Iterable[Any] = check_withheld(copies.public, benchmark.tables(copies.public), declared)
    assert any("though it is withheld" in str(each) for each in found)


def test_build_withholds_or_refuses_before_work(tmp_path: Path) -> None:
    given: dict[str, Any] = {"charades": "sample", "split": "test", "limit": 1, "preset": "ultrafast"}
    for name, message in (("dev", "the build has no such split. Available splits: test"), ("", "is an empty text")):
        with pytest.raises(StressreelError, match=message):
            stressreel.build("clavi", out=tmp_path / "out", withhold=name, progress=False, **given)
        assert not (tmp_path / "out").exists()
    for _ in range(2):  # the second finds both
        stressreel.build("clavi", out=tmp_path / "out", withhold="test", progress=False, **given)
        public = open_output(tmp_path / "out.withheld" / "public")
        assert public.info["counts"] == {"questions": {"test": 38}, "videos": {"test": 2}}
    with pytest.raises(UsageError, match="contains copies of another output"):  # which would still be published
        stressreel.build("clavi", out=tmp_path / "out", withhold="test", resume=False, **given | {"limit": 2})
    for share in ("1/2", "2/2"):  # the process that ends last writes them
        assert not (tmp_path / "shared.withheld").exists()
        given |= {"limit": 3, "shard": share}
        stressreel.build("clavi", out=tmp_path / "shared", withhold="test", progress=False, **given)
    again = stressreel.withhold(tmp_path / "shared", to=tmp_path / "again")
    shared = open_output(tmp_path / "shared.withheld" / "public")
    assert shared.info["fingerprint"] == open_output(again.public).info["fingerprint"]


@pytest.mark.parametrize("copies", ["clavi"], indirect=True)
def test_rerun_removes_what_a_killed_run_left(copies: Copies, tmp_path: Path) -> None:
    left = tmp_path / ".copies.unfinished" / "new" / "private"
    left.mkdir(parents=True)
    (left / "answers.parquet").write_text("answers")
    done = stressreel.withhold(copies.original.path, to=tmp_path / "copies")
    assert [path.name for path in tmp_path.iterdir()] == ["copies"]
    assert sorted(path.name for path in (tmp_path / "copies").iterdir()) == ["private", "public"]
    assert not (done.private / "answers.parquet").exists()


@pytest.mark.parametrize("copies", ["clavi"], indirect=True)
def test_nothing_is_kept_if_it_fails(copies: Copies, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, value: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(withholding, "write_json", full)
    with pytest.raises(OutputError, match=f"no space left while writing {tmp_path / 'copies'}. Nothing of it was kept"):
        stressreel.withhold(copies.original.path, to=tmp_path / "copies")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / ".copies.unfinished").mkdir()
    (tmp_path / ".copies.unfinished" / "mine").touch()
    with pytest.raises(OutputError, match="not written by stressreel"):
        stressreel.withhold(copies.original.path, to=tmp_path / "copies")
    assert (tmp_path / ".copies.unfinished" / "mine").exists()


@pytest.mark.full
@pytest.mark.parametrize("writes", [1, 2])
@pytest.mark.parametrize("copies", ["clavi"], indirect=True)
def test_killed_withhold_leaves_nothing_and_rerun_completes(copies: Copies, tmp_path: Path, writes: int) -> None:
    code = f"""
import os, signal, stressreel
from stressreel.builders.runtime import withhold
calls = []
def write(path, value):
    calls.append(path)
    if len(calls) == {writes}:
        os.kill(os.getpid(), signal.SIGKILL)
    path.write_text("{{}}")
withhold.write_json = write
stressreel.withhold({str(copies.original.path)!r}, to={str(tmp_path / "copies")!r})
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir()] == [".copies.unfinished"]
    stressreel.withhold(copies.original.path, to=tmp_path / "copies")
    assert [path.name for path in tmp_path.iterdir()] == ["copies"]
