"""Withheld answers: nothing in the public copy tells them, and the private one scores predictions about it."""

import errno
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
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

SUITE = (
    *("--msrvtt", "sample", "--perturbations", "jpeg", "--severity", 3, "--modality", "all"),
    *("--text-perturbations", "no_verbs", "--pairs", "jpeg:no_verbs", "--preset", "ultrafast"),
)
ASKED = {  # columns in which the questions are, whose wording and options blind baselines measure (`audit`)
    *("question", "options", "explanation_options", "kind", "group", "banned"),
    *("captions", "caption", "original", "changed", "reason"),
}
ANSWERS = {"clavi": "answer", "decomp": "answer", "causal": "answer_index"}
CONTACT = "leaderboard@example.org"


@dataclass(frozen=True)
class Copies:
    """An output, and its copies without and with the answers of the split test."""

    name: str
    original: FinishedOutput
    public: FinishedOutput
    private: FinishedOutput

    def rows(self, output: FinishedOutput, table: str = "") -> list[dict[str, Any]]:
        return list(output.rows(table or next(iter(self.public.info["counts"])), None, "test"))


@pytest.fixture(scope="module", params=[*ANSWERS, "perturbed"])
def copies(
    request: pytest.FixtureRequest, build_once: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Copies:
    name = request.param
    fixtures = {"clavi": "built", "decomp": "built_graphs", "causal": "built_causal"}
    out = build_once("build-perturbed", *SUITE) if name == "perturbed" else request.getfixturevalue(fixtures[name])
    done = stressreel.withhold(out, to=tmp_path_factory.mktemp("withheld") / name, contact=CONTACT)
    return Copies(name, *map(open_output, (out, done.public, done.private)))


def of(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("copies", [name], indirect=True)


def looked_up(features: Sequence[Hashable], answers: Sequence[Hashable]) -> float:
    """Guess each answer as the most common one of the other rows with the same feature; return the share correct."""
    found: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for feature, answer in zip(features, answers, strict=True):
        found[feature][answer] += 1
    correct = 0
    for feature, answer in zip(features, answers, strict=True):
        others = found[feature] - Counter([answer])
        correct += bool(others) and max(others, key=lambda each: (others[each], str(each))) == answer
    return correct / len(answers)


@pytest.mark.parametrize("copies", ANSWERS, indirect=True)
def test_no_column_id_or_order_tells_the_answer(copies: Copies) -> None:
    shown, known = copies.rows(copies.public), copies.rows(copies.private)
    key = next(iter(shown[0]))
    assert [row[key] for row in shown] == [row[key] for row in known]
    hidden = [row[ANSWERS[copies.name]] for row in known]
    asked = [number for number, answer in enumerate(hidden) if answer is not None]
    answers = [hidden[number] for number in asked]
    features: dict[str, Any] = {name: [str(row[name]) for row in shown] for name in shown[0] if name not in ASKED}
    features |= {f"end of {key}": [row[key][-1] for row in shown], f"start of {key}": [row[key][0] for row in shown]}
    features |= {f"place modulo {step}": [at % step for at in range(len(shown))] for step in (2, 3, 4, 5, 19, 38)}
    features |= {f"place of {parts}": [at * parts // len(shown) for at in range(len(shown))] for parts in (2, 10)}
    most = max(Counter(answers).values()) / len(answers)
    noise = 3 * np.sqrt(most * (1 - most) / len(answers))
    for name, values in features.items():
        assert looked_up([values[number] for number in asked], answers) <= most + noise, name


def test_public_copy_has_no_answers_or_original_ids(copies: Copies) -> None:
    gone: set[str] = set()
    for table, declared in benchmark_of(copies.public).public(copies.original.info).items():
        rows = copies.rows(copies.public, table)
        assert bool(rows) == (bool(declared.shown) and "test" in copies.original.splits(table)), table
        for row in rows:
            assert {name for name, value in row.items() if value is not None} <= set(declared.shown)
        for row in copies.original.rows(table, [name for name in declared.ids if "." not in name], "test"):
            gone |= {each for value in row.values() for each in (value if isinstance(value, list) else [value])}
    files = b"".join(path.read_bytes() for path in sorted(copies.public.path.rglob("*")) if path.is_file())
    shown = {str(row) for table in copies.public.info["counts"] for row in copies.public.rows(table)}
    text, names = "".join(shown), {name for name in gone if name is not None and len(name) > 4}
    assert not [name for name in names if f"'{name}'" in text or name.encode() in files]
    info = copies.public.info
    assert "seed" not in info["settings"]
    assert info["notes"] == {}
    assert not [name for name in ("fingerprint", "plan_sha256", "command") if copies.original.info[name] in str(info)]


@of("clavi")
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


@of("causal")
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
    held = {row["qid"] for row in copies.rows(copies.original)}
    for row in copies.public.rows(next(iter(copies.public.info["counts"])), None, "train"):
        assert not held & {row["qid"], *(one["qid"] for one in row["sources"] or ())}


@of("causal")
def test_row_with_a_withheld_key_is_omitted(copies: Copies) -> None:
    benchmark, output = benchmark_of(copies.original), copies.original
    tables = {config.name: config for config in benchmark.tables(output)}
    found = withholding.Withholding(output, tables, benchmark.public(output.info), "test")
    assert found.other_row(tables["ud"], next(output.rows("ud", None, "test"))) is None


@of("perturbed")
def test_captions_are_paired_in_secret(copies: Copies) -> None:
    outputs = (copies.public, copies.private, copies.original)
    shown, known, before = (read_captions(output, "test") for output in outputs)
    assert (shown.ids, shown.texts) == (known.ids, known.texts)
    assert sorted(known.texts) == sorted(before.texts)
    assert np.mean(shown.clip == known.clip) < 0.5
    clips, original = (
        {row["sha256"]: row["clip_id"] for row in output.rows("clean", ["clip_id", "sha256"], "test")}
        for output in outputs[1:]
    )
    names = {clip: original[digest] for digest, clip in clips.items()}
    described = set(zip(before.clip_ids, before.texts, strict=True))
    assert {(names[clip], text) for clip, text in zip(known.clip_ids, known.texts, strict=True)} == described


def right_answers(copies: Copies, output: FinishedOutput, folder: Path) -> dict[str, Path]:
    """Write the correct answers, or similarities, to score on an output; those on the private copy name the public."""
    if copies.name == "perturbed":
        known = read_captions(output, "test")
        for name in ("clean", "jpeg-3", "no_verbs", "jpeg-3+no_verbs"):
            np.save(folder / f"{name}.npy", np.eye(len(known.clips))[:, known.clip])
        return {"similarity": folder}
    said = {"clavi": lambda row: ("no", "yes")[row["answer"]], "causal": lambda row: row["answer_index"]}
    answer = said.get(copies.name, lambda row: row["answer"] or "yes")
    named = copies.public if output is copies.private else output
    about = {"config": next(iter(copies.public.info["counts"])), "fingerprint": named.info["fingerprint"]}
    lines = [{"id": next(iter(row.values())), "answer": answer(row), **about} for row in copies.rows(output)]
    (folder / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return {"predictions": folder / "answers.jsonl"}


def test_predictions_on_public_copy_score_on_private(copies: Copies, tmp_path: Path) -> None:
    original, private = (
        stressreel.score(output.path, **right_answers(copies, output, tmp_path)).headline
        for output in (copies.original, copies.private)
    )
    assert {name: score.value for name, score in original.items()} == {
        name: pytest.approx(score.value, abs=0, nan_ok=True) for name, score in private.items()
    }
    answers = right_answers(copies, copies.private, tmp_path)
    for refused in (stressreel.audit, stressreel.gallery, lambda out, to: stressreel.score(out, **answers)):
        with pytest.raises(InputError, match=CONTACT):
            refused(copies.public.path, to=tmp_path / "refused")


def test_public_copy_is_asked_and_exported(copies: Copies, tmp_path: Path) -> None:
    public, table = copies.public.path, next(iter(copies.public.info["counts"]))
    if copies.name == "perturbed":
        with pytest.raises(InputError, match="a choice among five captions would reveal it"):
            read_questions(public, [], None, [], None)
        return
    found = read_questions(public, [table], None, [], None).questions
    assert found
    assert {question.about["id"] for question in found} <= {
        next(iter(row.values())) for row in copies.rows(copies.private)
    }
    stressreel.export_tasks(public, "inspect", to=tmp_path / "inspect")
    lines = [line for file in (tmp_path / "inspect").glob("*.jsonl") for line in file.read_text("utf-8").splitlines()]
    assert {json.loads(line)["target"] for line in lines} == {""}


def test_copies_verify_and_are_reproducible(copies: Copies, tmp_path: Path) -> None:
    for output, said in ((copies.public, "answers of split test are withheld"), (copies.private, "do not publish")):
        report = stressreel.verify(output.path, decode=False)
        assert not report.failed, report
        assert said in str(report)
        assert said in (output.path / "README.md").read_text(encoding="utf-8")
        assert LEFT_OUT.name not in output.info["counts"]
        assert not (output.path / LEFT_OUT.name).exists()
        stressreel.card(output.path)
        stressreel.export_files(output.path, to=tmp_path / said)
    again = stressreel.withhold(copies.original.path, to=tmp_path / "again", contact=CONTACT)
    assert open_output(again.public).info == copies.public.info
    with pytest.raises(UsageError, match="public or private copy"):
        stressreel.withhold(copies.public.path, to=tmp_path / "more")
    with pytest.raises(UsageError, match="Push the public copy"):
        stressreel.push(copies.private.path, "org/name", dry_run=True)


@of("clavi")
def test_a_shown_answer_fails_verify(copies: Copies) -> None:
    benchmark = benchmark_of(copies.public)
    declared = {name: Public() for name in benchmark.public(copies.public.info)}
    assert [*check_withheld(copies.public, benchmark.tables(copies.public), declared)]


def test_build_withholds_or_refuses_before_work(tmp_path: Path) -> None:
    def build(out: str, **options: Any) -> None:
        given = {"charades": "sample", "split": "test", "limit": 1, "preset": "ultrafast", "withhold": "test"}
        stressreel.build("clavi", out=tmp_path / out, progress=False, **given | options)

    for name in ("dev", ""):
        with pytest.raises(StressreelError, match=name or "empty"):
            build("out", withhold=name)
        assert not (tmp_path / "out").exists()
    for _ in range(2):  # the second finds both
        build("out")
        public = open_output(tmp_path / "out.withheld" / "public")
        assert public.info["counts"] == {"questions": {"test": 38}, "videos": {"test": 2}}
    with pytest.raises(UsageError, match="copies of another output"):  # which would still be published
        build("out", resume=False, limit=2)
    for share in ("1/2", "2/2"):  # the process that ends last writes them
        assert not (tmp_path / "shared.withheld").exists()
        build("shared", limit=3, shard=share)
    again = stressreel.withhold(tmp_path / "shared", to=tmp_path / "again")
    shared = open_output(tmp_path / "shared.withheld" / "public")
    assert shared.info["fingerprint"] == open_output(again.public).info["fingerprint"]


@of("clavi")
def test_a_failure_leaves_nothing_and_a_rerun_completes(
    copies: Copies, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, value: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    to, unfinished = tmp_path / "copies", tmp_path / ".copies.unfinished"
    with monkeypatch.context() as patch:
        patch.setattr(withholding, "write_json", full)
        with pytest.raises(OutputError, match=f"{to}. Nothing of it was kept"):
            stressreel.withhold(copies.original.path, to=to)
    assert list(tmp_path.iterdir()) == []
    (unfinished / "new" / "private").mkdir(parents=True)  # as a killed run leaves it
    (unfinished / "new" / "private" / "answers.parquet").touch()
    done = stressreel.withhold(copies.original.path, to=to)
    assert sorted(path.name for path in (tmp_path, to) for path in path.iterdir()) == ["copies", "private", "public"]
    assert not (done.private / "answers.parquet").exists()
    mine = tmp_path / ".more.unfinished" / "mine"
    mine.mkdir(parents=True)
    with pytest.raises(OutputError, match="not written by stressreel"):
        stressreel.withhold(copies.original.path, to=tmp_path / "more")
    assert mine.exists()
