import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from commands import Ran, refuses, run
from extras import needs

pytestmark = needs("sentence_transformers")

Mine = Callable[..., Ran]
OF_ONES_OWN = ("--columns", "id=key,question=Q", "--same-question", 1.5, "--same-text", 1)


@pytest.fixture
def mine(environment: dict[str, str]) -> Mine:
    return lambda *arguments: run("stressreel", "mine", "--no-progress", *arguments, env=environment)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_sample_as_json_lines_and_parquet(mine: Mine, tmp_path: Path) -> None:
    plain = ("--questions", "sample", "--balance", "none")
    review = ("--review", tmp_path / "review.csv", "--review-count", 7)
    done = mine(*plain, *review, "--out", tmp_path / "a.jsonl")
    assert done.code == 0, done.err
    assert "60 questions with 5 options" in done.out
    found = {row["id"]: row for row in rows(tmp_path / "a.jsonl")}
    assert len(found) == 60
    for kind, row in ((kind, row) for kind in ("", "explanation_") for row in found.values()):
        options, index = f"{kind}options", f"{kind or 'answer_'}index"
        sources = row[f"{kind}sources"]
        assert len({option.casefold() for option in row[options]}) == 5
        assert [place for place, source in enumerate(sources) if source is None] == [row[index]]
        for option, source in zip(row[options], sources, strict=True):
            if source:
                lender = found[source["id"]]
                assert (source["kind"], source["id"] != row["id"]) == ("hard", True)
                assert option == lender[options][lender[index]]
    assert mine(*plain, "--out", tmp_path / "b.parquet").code == 0
    assert pq.read_table(tmp_path / "b.parquet").to_pylist() == [*found.values()]
    assert set(Counter(row["answer_index"] for row in found.values())) == set(range(5))
    with (tmp_path / "review.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["kind"] for line in lines] == ["answer", "explanation"] * 7
    assert len({line["id"] for line in lines}) == 7
    for line in lines:
        row, kind = found[line["id"]], "" if line["kind"] == "answer" else "explanation_"
        right = row[f"{kind}options"][row[f"{line['kind']}_index"]]
        assert line["right"] == right
        assert sorted([right, *(line[f"wrong_{n}"] for n in range(1, 5))]) == sorted(row[f"{kind}options"])
        assert line["also_right"] == line["ungrammatical"] == ""
    assert mine(*plain, "--seed", 1, "--out", tmp_path / "c.jsonl").code == 0
    other = {row["id"]: row["options"] for row in rows(tmp_path / "c.jsonl")}
    assert other != {name: row["options"] for name, row in found.items()}
    assert all(sorted(other[name]) == sorted(row["options"]) for name, row in found.items())


def table(folder: Path, splits: tuple[str, ...]) -> Path:
    verbs = ("ran", "slept", "jumped", "sang", "hid", "fell", "ate the cheese", "opened the door", "drew", "cried")
    asked = [(split, f"{split}{number}", verb) for split in splits for number, verb in enumerate(verbs)]
    lines = [f"{name},Why did Pip go {name}?,Pip {verb} {split}.,{split}\n" for split, name, verb in asked]
    (folder / "mine.csv").write_text("".join(["key,Q,answer,split\n", *lines]), encoding="utf-8")
    return folder / "mine.csv"


def test_impossible_requests_write_nothing(mine: Mine, tmp_path: Path) -> None:
    source, out = table(tmp_path, ("test",)), tmp_path / "a.jsonl"
    named = ("--questions", source, "--columns", "id=key,question=Q", "--out", out)
    refuses(mine(*named, "--num-options", 20), "'test' has 10 different answers", "--pool all")
    refuses(mine("--questions", source, "--out", out), "id, question are missing")
    assert not out.exists()


def test_train_answers_are_no_test_distractors(mine: Mine, tmp_path: Path) -> None:
    source, out = table(tmp_path, ("learn", "test")), tmp_path / "a.jsonl"
    text = source.read_text(encoding="utf-8").replace("ran test.", "ran learn.").replace("slept test.", "slept learn.")
    arguments = ["--questions", source, *OF_ONES_OWN, "--balance", "none", "--out", out]
    for name, more, known in (("learn", (), True), ("learn", ("--train-split", "learn"), False), ("Train", (), False)):
        source.write_text(text.replace(",learn\n", f",{name}\n"), encoding="utf-8")
        assert mine(*arguments, *more).code == 0
        test = [row for row in rows(out) if row["split"] == "test"]
        wrong = {option for row in test for n, option in enumerate(row["options"]) if n != row["answer_index"]}
        assert bool(wrong & {"Pip ran learn.", "Pip slept learn."}) is known
