"""`stressreel score modalities` and `permute` on what the builders build, and on a user's own questions."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from commands import Ran, refuses, run, succeed
from stressreel.core.output import open_output

Row = dict[str, object]
MODALITIES = ("v", "t", "v+t")


def write(path: Path, rows: list[Row]) -> Path:
    if path.suffix == ".csv":
        with open(path, "w", newline="") as handle:
            table = csv.DictWriter(handle, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
    else:
        path.write_text("\n".join(map(json.dumps, rows)))
    return path


def answer(built: Path, path: Path, choose: Callable[[Row], object], **more: object) -> Path:
    rows = open_output(built).rows("questions", None, "test")
    return write(path, [{"id": row["question_id"], "answer": choose(row), **more} for row in rows])


def truth(row: Row) -> object:
    return ("no", "yes")[row["answer"]]  # type: ignore[call-overload]


def score(out: Path, files: dict[str, Path], *arguments: object) -> Ran:
    pairs = [f"{name}={file}" for name, file in files.items()]
    return run("stressreel", "score", "modalities", out, *pairs, *arguments)


def answers(folder: Path, *said: str) -> dict[str, Path]:
    """Files of answers to own questions 0, 1, 2, …, one a subset of modalities, one letter an answer."""
    return {
        name: write(
            folder / f"{len(name)}{name[0]}.jsonl", [{"id": str(n), "answer": a} for n, a in enumerate(letters)]
        )
        for name, letters in zip(MODALITIES, said, strict=True)
    }


def counts(done: Ran) -> dict[str, int]:
    assert done.code == 0, done.err
    return {row["category"]: row["questions"] for row in json.loads(done.out)["categories"]}


@pytest.fixture
def clavi(built: Path, tmp_path: Path) -> dict[str, Path]:
    """Blind to one modality: always no; seeing both: right."""
    blind = {name: answer(built, tmp_path / f"{name}.jsonl", lambda row: "no") for name in ("video", "text")}
    return {**blind, "video+text": answer(built, tmp_path / "both.jsonl", truth)}


def test_clavi(built: Path, clavi: dict[str, Path], tmp_path: Path) -> None:
    items = tmp_path / "items.csv"
    done = score(built, clavi, "--json", "--items", items)
    found = counts(done)
    total = found["total"]
    assert found["complementary"] * 19 == 6 * total
    assert found["modality-agnostic correct"] * 19 == 13 * total
    assert len(items.read_text().splitlines()) == total + 1
    assert done.err == f"Wrote {items}\n"
    again = score(built, clavi, "--items", items)
    assert again.out.endswith(f"Overwrote {items}\n")
    assert "No intervals: they need at least 6 source videos" in again.out


def test_unreadable_answers_and_other_outputs(built: Path, clavi: dict[str, Path], tmp_path: Path) -> None:
    clavi["text"] = answer(built, tmp_path / "odd.jsonl", lambda row: "perhaps" if row["type"] == "E" else "no")
    done = score(built, clavi)
    assert done.code == 0, done.err
    assert done.out.count("'perhaps'") == 5
    assert "video: 114 answers scored.\ntext: 114 answers scored, 12 unreadable (count as incorrect).\n" in done.out
    found = json.loads(score(built, clavi, "--json").out)["answers"]
    assert {name: each["unreadable"] for name, each in found.items()} == {"video": 0, "text": 12, "video+text": 0}
    clavi["text"] = answer(built, tmp_path / "f.jsonl", lambda row: "no", fingerprint="0" * 64)
    refuses(score(built, clavi), "belongs to another output")


def test_items_are_not_written_where_they_should_not(built: Path, clavi: dict[str, Path], tmp_path: Path) -> None:
    before = clavi["video+text"].read_bytes()
    (tmp_path / "file").write_text("")
    for place, says, code in (
        (built / "items.csv", "inside the output", 2),
        (tmp_path / "both.jsonl", "is an input file", 2),
        (tmp_path / "items.txt", "must end in .parquet, .csv or .jsonl", 2),
        (tmp_path / "file" / "items.csv", "Choose another path with", 1),
    ):
        refuses(score(built, clavi, "--items", place), says, "--items", code=code)
    assert clavi["video+text"].read_bytes() == before
    assert not (built / "items.csv").exists()


OWN = [{"id": str(n), "answer": "b", "options": ["a", "b"], "source_id": f"s{n % 2}"} for n in range(4)]


def test_own_questions(tmp_path: Path) -> None:
    own = write(tmp_path / "q.jsonl", OWN)
    files = answers(tmp_path, "bbaa", "baba", "bbbb")
    assert counts(score(own, files, "--json")) == {
        **{"v-biased": 1, "t-biased": 1, "complementary": 1, "modality-agnostic correct": 1},
        **{"modality-agnostic incorrect": 0, "none": 0, "total": 4},
    }
    refuses(score(own, {name: files[name] for name in ("v", "t")}), "missing: t+v")


def test_csv_options_are_json_with_numbered_keys(tmp_path: Path) -> None:
    rows: list[Row] = [{"id": n, "answer": 2, "options": '["red", "blue", "green"]'} for n in range(2)]
    own = write(tmp_path / "q.csv", rows)
    by_number = answers(tmp_path, "22", "11", "22")
    assert counts(score(own, by_number, "--json", "--first-index", 1))["v-biased"] == 2
    by_letter = answers(tmp_path, "BB", "CC", "BB")
    assert counts(score(own, by_letter, "--json", "--first-index", 1))["v-biased"] == 2
    found = score(own, by_letter, "--json")
    assert counts(found)["t-biased"] == 2
    value = {"value": 0.0, "low": None, "high": None}
    assert json.loads(found.out)["means"][1] == {"score": "MIS t", "value [95% interval]": value}


def test_one_file_scores_all_causal_tables(built_causal: Path, tmp_path: Path) -> None:
    causal, output = built_causal, open_output(built_causal)
    rows: list[Row] = [
        {"config": table, "id": row["qid"], "answer": row["answer_index"], "fingerprint": output.info["fingerprint"]}
        for table in ("ud", "causal_confusion")
        for row in output.rows(table, None, "test")
    ]
    files = dict.fromkeys(MODALITIES, write(tmp_path / "p.jsonl", rows))
    for table in ("ud", "causal_confusion"):
        found = json.loads(score(causal, files, "--config", table, "--json").out)
        assert (found["config"], found["split"]) == (table, "test")
        asked = output.info["counts"][table]["test"]
        assert found["categories"][3] == {
            "category": "modality-agnostic correct",
            "questions": asked,
            "share [95% interval]": {"value": 1.0, "low": 1.0, "high": 1.0},
        }
    refuses(score(causal, files, "--config", "clips"), "no questions in table 'clips'", code=2)
    target = tmp_path / "permuted.jsonl"
    succeed("stressreel", "permute", causal, "--config", "causal_confusion", "--sets", 1, "--to", target)
    ids = {row["qid"] for row in output.rows("causal_confusion", ["qid"], "test")}
    assert {json.loads(line)["id"] for line in target.read_text().splitlines()} == ids


def test_permute(built: Path, tmp_path: Path) -> None:
    targets = [tmp_path / name for name in ("a.parquet", "b.parquet")]
    for target in targets:
        succeed("stressreel", "permute", built, "--to", target, "--sets", 2, "--split", "all", "--seed", 3)
    rows, again = (pq.read_table(target).to_pylist() for target in targets)
    assert rows == again
    output = open_output(built)
    source = {row["pair_id"]: row["source_id"] for row in output.rows("pairs")}
    questions = {row["question_id"]: row for row in output.rows("questions")}
    assert len(rows) == 4 * len(questions)
    one, other = ([row["video_of"] for row in rows if row["seed"] == seed] for seed in (3, 4))
    assert len(one) == len(other)
    assert one != other
    for row in rows:
        own = questions[row["id"]]
        assert (row["text_of"] if row["permuted"] == "video" else row["video_of"]) == row["id"]
        other = questions[row["video_of" if row["permuted"] == "video" else "text_of"]]
        assert source[other["pair_id"]] != source[own["pair_id"]]
        assert row["video_id"] == questions[row["video_of"]]["video_id"]
        assert row["text"] == questions[row["text_of"]]["question"]


def test_permute_own_questions(tmp_path: Path) -> None:
    whole: list[Row] = [
        {"id": str(n), "video_id": f"v{n}", "question": f"why {n}?", "answer": "free text"} for n in range(3)
    ]
    own = write(tmp_path / "q.csv", whole)
    for verb in ("Wrote", "Overwrote"):
        done = succeed("stressreel", "permute", own)
        assert done.out.startswith(f"{verb} {tmp_path / 'q-permuted.parquet'}: 3 items")
    for lacking, says in (("video_id", "no video to permute"), ("question", "no text to permute")):
        own = write(tmp_path / "q.csv", [{k: v for k, v in row.items() if k != lacking} for row in whole])
        refuses(run("stressreel", "permute", own, "--to", tmp_path / "x.csv"), says, lacking)
        assert not (tmp_path / "x.csv").exists()
    refuses(run("stressreel", "permute", own, "--to", own), "is an input file", code=2)
    rows: list[Row] = [{"id": str(n), "video_id": 1, "question": "why?"} for n in range(3)]
    refuses(run("stressreel", "permute", write(tmp_path / "q.jsonl", rows)), "'1' has 3 of 3 items")


def test_shares_by_annotated_type_and_what_permuting_takes(built: Path, clavi: dict[str, Path], tmp_path: Path) -> None:
    """Blind models fail where the answer is yes; one that is right loses what is answered wrong when permuted."""
    items, picture = tmp_path / "items.jsonl", tmp_path / "types.png"
    done = score(built, clavi, "--json", "--items", items, "--by", "type", "--figure", picture)
    assert done.code == 0, done.err
    by_type = {row["type"]: row for row in json.loads(done.out)["by_type"]}
    assert by_type["BA"]["complementary"] == 0.5  # those whose answer is yes
    assert by_type["BA-NC"]["modality-agnostic correct"] == 1
    assert sum(row["questions"] for row in by_type.values()) == counts(done)["total"]
    assert picture.is_file()
    sets = tmp_path / "sets.jsonl"
    assert run("stressreel", "permute", built, "--sets", 2, "--to", sets).code == 0
    rows = [json.loads(line) | {"answer": "no"} for line in sets.read_text().splitlines()]
    files = {"original": clavi["video+text"], "permuted": write(tmp_path / "p.jsonl", rows), "categories": items}
    given = [word for name, file in files.items() for word in (f"--{name}", file)]
    permuted = succeed("stressreel", "score", "permuted", built, *given, "--json")
    found = {row["category"]: row for row in json.loads(permuted.out)["permuted"]}
    assert found["complementary"]["Δ video"] == found["complementary"]["Δ text"] == -1
    assert found["modality-agnostic correct"]["video permuted"] == {"mean": 1.0, "std": 0.0, "runs": 2}
    assert found["all"]["Δ text"] == pytest.approx(-6 / 19)
    shown = run("stressreel", "score", "permuted", built, *given)
    assert "Mean ± standard deviation (n - 1) over 1 run as asked, 2 sets with video permuted" in shown.out
