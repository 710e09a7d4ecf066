from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from commands import refuses, run
from extras import needs

pytestmark = needs("sentence_transformers")

QUIET = "--no-progress"


@pytest.fixture
def mine(environment: dict[str, str]) -> object:
    return lambda *arguments, **options: run("stressreel", "mine", QUIET, *arguments, env=environment, **options)


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_sample_as_json_lines_and_parquet(mine, tmp_path: Path) -> None:
    plain = ("--questions", "sample", "--balance", "none")
    done = mine(*plain, "--out", tmp_path / "a.jsonl")
    assert done.code == 0, done.err
    assert "60 questions with 5 options" in done.out
    found = rows(tmp_path / "a.jsonl")
    assert len(found) == 60
    by_id = {row["id"]: row for row in found}
    for row in found:
        for options, index, sources in (
            ("options", "answer_index", "sources"),
            ("explanation_options", "explanation_index", "explanation_sources"),
        ):
            assert len({option.casefold() for option in row[options]}) == 5
            assert [place for place, source in enumerate(row[sources]) if source is None] == [row[index]]
            for option, source in zip(row[options], row[sources], strict=True):
                if source:
                    assert source["kind"] == "hard"
                    assert source["id"] != row["id"]
                    lender = by_id[source["id"]]
                    assert option == lender[options][lender[index]]
    assert mine(*plain, "--out", tmp_path / "b.parquet").code == 0
    table = pq.read_table(tmp_path / "b.parquet")
    assert table.to_pylist() == found
    assert set(Counter(row["answer_index"] for row in found)) == set(range(5))
    assert "blind_guessable" not in found[0]


def test_review_lists_questions_with_options(mine, tmp_path: Path) -> None:
    review = ("--review", tmp_path / "review.csv", "--review-count", 7)
    assert mine("--questions", "sample", "--balance", "none", "--out", tmp_path / "a.jsonl", *review).code == 0
    with (tmp_path / "review.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    found = {row["id"]: row for row in rows(tmp_path / "a.jsonl")}
    assert [line["kind"] for line in lines] == ["answer", "explanation"] * 7
    assert len({line["id"] for line in lines}) == 7
    for line in lines:
        row = found[line["id"]]
        options = row["options" if line["kind"] == "answer" else "explanation_options"]
        right = options[row["answer_index" if line["kind"] == "answer" else "explanation_index"]]
        assert line["right"] == right
        assert sorted([right, *(line[f"wrong_{n}"] for n in range(1, 5))]) == sorted(options)
        assert line["also_right"] == line["ungrammatical"] == ""


def test_seed_changes_only_the_order_of_options(mine, tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        plain = ("--questions", "sample", "--balance", "none", "--seed", seed)
        assert mine(*plain, "--out", tmp_path / f"{name}.jsonl").code == 0
    a, b, c = (rows(tmp_path / f"{name}.jsonl") for name in "abc")
    assert a == b != c
    assert [sorted(row["options"]) for row in a] == [sorted(row["options"]) for row in c]


def test_settings_reach_the_miner(mine, tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    arguments = ["--questions", "sample", "--out", out]
    assert mine(*arguments, "--num-options", 3, "--negatives", "random").code == 0
    assert {len(row["options"]) for row in rows(out)} == {3}
    assert {s["kind"] for row in rows(out) for s in row["sources"] if s} == {"random"}
    arguments += ["--balance", "none"]
    assert mine(*arguments, "--same-text", 0.7, "--top-k", 20, "--tau", 0.5, "--beta", 0).code == 0
    assert max(s["cos_text"] for row in rows(out) for s in row["sources"] if s) < 0.7
    assert mine(*arguments, "--rank-by", "explanation").code == 0
    assert any({s["id"] for s in row["sources"] if s} == {s["id"] for s in row["explanation_sources"] if s}
               for row in rows(out))  # fmt: skip


def table(folder: Path, splits: tuple[str, ...]) -> Path:
    verbs = [
        *["ran", "slept", "jumped", "sang", "hid", "fell"],
        "ate the cheese",
        "opened the door",
        "drew a map",
        "cried",
    ]
    lines = ["key,Q,answer,split"]
    lines += [f"{n},Why did Pip go {n}?,Pip {verb} {split}.,{split}" for split in splits
              for n, verb in ((f"{split}{i}", verb) for i, verb in enumerate(verbs))]  # fmt: skip
    path = folder / "mine.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_pools_and_names_of_one_s_own(mine, tmp_path: Path) -> None:
    source = table(tmp_path, ("train", "test"))
    out = tmp_path / "a.jsonl"
    arguments = ["--questions", source, "--columns", "id=key,question=Q", "--same-question", 1.5, "--same-text", 1]
    done = mine(*arguments, "--out", out)
    assert f"{sum(row['blind_guessable'] for row in rows(out))} questions are blind_guessable" in done.out
    arguments += ["--balance", "none"]
    assert mine(*arguments, "--out", out).code == 0
    assert all(s["id"].startswith(row["split"]) for row in rows(out) for s in row["sources"] if s)
    assert mine(*arguments, "--pool", "all", "--out", out).code == 0
    assert any(not s["id"].startswith(row["split"]) for row in rows(out) for s in row["sources"] if s)
    assert "explanation_options" not in rows(out)[0]


def test_impossible_requests_write_nothing(mine, tmp_path: Path) -> None:
    source, out = table(tmp_path, ("test",)), tmp_path / "a.jsonl"
    named = ("--questions", source, "--columns", "id=key,question=Q", "--out", out)
    refuses(mine(*named, "--num-options", 20), "split 'test' has 10 different answers", "--pool all")
    done = mine(*named, "--num-options", 20, "--pool", "all")
    refuses(done, "the questions have 10 different answers")
    assert "--pool all" not in done.err
    refuses(mine(*named, "--num-options", 11), "10 of 10 questions have fewer than 10")
    refuses(mine(*named, "--balance", "none", "--rank-by", "explanation"), "--rank-by has no effect", code=2)
    refuses(mine(*named, "--tau", 0.5, "--ties", "id"), "--tau and --ties have no effect", "--balance none", code=2)
    refuses(mine(*named, "--model", "/nowhere/at all"), "neither an existing folder", code=2)
    refuses(mine("--questions", source, "--out", out), "id, question are missing")
    refuses(mine("--questions", source, "--columns", "question", "--out", out), "must be a list of names", code=2)
    assert not out.exists()


def test_train_answers_are_no_test_distractors(mine, tmp_path: Path) -> None:
    source, out = table(tmp_path, ("learn", "test")), tmp_path / "a.jsonl"
    text = source.read_text(encoding="utf-8").replace("ran test.", "ran learn.").replace("slept test.", "slept learn.")
    source.write_text(text, encoding="utf-8")
    arguments = ["--questions", source, "--columns", "id=key,question=Q", "--same-question", 1.5, "--same-text", 1]
    arguments += ["--balance", "none"]
    known = {"Pip ran learn.", "Pip slept learn."}

    def wrong() -> set[str]:
        return {option for row in rows(out) if row["split"] == "test"
                for place, option in enumerate(row["options"]) if place != row["answer_index"]}  # fmt: skip

    assert mine(*arguments, "--out", out).code == 0
    assert wrong() & known  # nothing is called train
    assert mine(*arguments, "--out", out, "--train-split", "learn").code == 0
    assert not wrong() & known
    source.write_text(text.replace(",learn\n", ",Train\n"), encoding="utf-8")
    assert mine(*arguments, "--out", out).code == 0
    assert not wrong() & known
