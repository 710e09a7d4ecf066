"""`stressreel score` and `compare` on what the builders build."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from commands import refuses, run, run_json, succeed
from stressreel.builders.perturbed.scores import read_captions, suite_settings
from stressreel.core.output import open_output

Row = dict[str, object]
QUICK = ("--no-sbert", "--meteor", "nltk")  # without a program of Java's, and a model


def write(path: Path, rows: list[Row]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def answer(built: Path, path: Path, choose: Callable[[Row], object], split: str = "test") -> Path:
    rows = open_output(built).rows("questions", None, split)
    return write(path, [{"id": row["question_id"], "answer": choose(row)} for row in rows])


@pytest.fixture(scope="session")
def suite(build_once: Callable[..., Path]) -> Path:
    """Recipes of the built-in captioned clips; read only."""
    arguments = ("--msrvtt", "sample", "--severity", "1,3", "--perturbations", "noise,jpeg", "--no-render")
    return build_once("build-perturbed", *arguments)


def matrices(suite: Path, folder: Path) -> Path:
    output = open_output(suite)
    captions = read_captions(output, "all")
    folder.mkdir()
    for setting in suite_settings(output.info):
        perfect = np.full((len(captions.clips), len(captions.ids)), -1.0, np.float32)
        perfect[captions.clip, np.arange(len(captions.ids))] = -2.0 if setting.severity == 3 else 1.0
        np.save(folder / f"{setting.name}.npy", perfect)
    return folder


@pytest.mark.usefixtures("paint")
def test_clavi_writes_and_prints_the_same_numbers(built: Path, tmp_path: Path) -> None:
    file = answer(built, tmp_path / "yes.jsonl", lambda row: "Yes.")
    done = succeed("stressreel", "score", built, "--predictions", file)
    assert "balanced accuracy                 0.500\n" in done.out
    assert "No intervals: they need at least 6 source videos; there are 3.\n" in done.out
    folder = tmp_path / "yes.scores"
    assert {path.name for path in folder.iterdir()} == {"scores.json", "scores.md", "scores.png", "per_source.parquet"}
    scores = json.loads((folder / "scores.json").read_text())
    assert scores["headline"]["CAcc_V complement"]["value"] == 0
    assert scores["headline"]["accuracy"]["value"] == pytest.approx(6 / 19)
    assert str(tmp_path) not in (folder / "scores.json").read_text()
    again = run("stressreel", "score", "--json", "--predictions", file, built)
    assert json.loads(again.out) == scores
    assert "| CAcc_V complement | 0.000 |" in (folder / "scores.md").read_text()
    assert (folder / "scores.png").read_bytes()[1:4] == b"PNG"
    odd = answer(built, tmp_path / "odd.jsonl", lambda row: "perhaps" if row["type"] == "E" else "no")
    done = run("stressreel", "score", built, "--predictions", odd)
    assert "unreadable (count as incorrect)" in done.out
    assert "'perhaps'" in done.out
    assert not done.err
    done = run("stressreel", "score", built, "--predictions", answer(built, odd, lambda row: "perhaps"), "--force")
    assert "note: none of the 114 answers could be parsed, so all count as incorrect. The first, to " in done.err


def test_gaps_are_refused_unless_partial(built: Path, tmp_path: Path) -> None:
    file = answer(built, tmp_path / "p.jsonl", lambda row: "no")
    inside = ("score", built, "--predictions", file, "--out", built / "scores")
    refuses(run("stressreel", *inside), "inside the output", code=2)
    assert not (built / "scores").exists()
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    write(file, [*rows[1:], rows[1], {"id": "x", "answer": "yes"}])
    done = run("stressreel", "score", built, "--predictions", file)
    refuses(done, "1 of 114 ids have no prediction", "1 id is given more than once", "not in this output (x)")
    assert not (tmp_path / "p.scores").exists()
    assert run("stressreel", "score", built, "--predictions", file, "--partial").code == 0
    for arguments in ((), ("--predictions", "a", "--similarity", "b")):
        assert run("stressreel", "score", built, *arguments).code == 2
    shutil.copytree(built, tmp_path / "part", ignore=shutil.ignore_patterns("test-*"))
    done = run("stressreel", "score", tmp_path / "part", "--predictions", file)
    refuses(done, "table questions, split test: found 0 rows, but 114 were built")


def test_columns_of_predictions_may_have_other_names(built: Path, tmp_path: Path) -> None:
    rows = open_output(built).rows("questions", None, "test")
    lines = ["Sample;answer;output", *(f"{row['question_id']};gold;yes" for row in rows)]
    file = tmp_path / "other.csv"
    file.write_text("\n".join(lines))
    refuses(run("stressreel", "score", built, "--predictions", file), "no column 'id'")
    done = succeed(
        "stressreel", "score", built, "--predictions", file, "--columns", "id=sample,answer=OUTPUT", "--json"
    )
    assert json.loads(done.out)["headline"]["accuracy"]["value"] == pytest.approx(6 / 19)
    missing = run("stressreel", "score", built, "--predictions", file, "--columns", "id=sample,answer=said")
    refuses(missing, "no column said")
    refuses(run("stressreel", "score", built, "--similarity", tmp_path, "--columns", "id=x"), "--predictions", code=2)


def test_other_scores_are_not_written_over(built: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    file = answer(built, tmp_path / "p.jsonl", lambda row: "yes")
    assert run("stressreel", "score", built, "--predictions", file).code == 0
    answer(built, file, lambda row: "no")
    assert run("stressreel", "score", built, "--predictions", file).code == 0
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    (tmp_path / "p.json").write_text(json.dumps(rows))
    done = run("stressreel", "score", built, "--predictions", tmp_path / "p.json")
    refuses(done, "contains the scores of p.jsonl on clavi questions test (", ", not of p.json on")
    other = answer(built, tmp_path / "other" / "p.jsonl", lambda row: "yes")
    command = ("stressreel", "score", built, "--predictions", other, "--out", tmp_path / "p.scores")
    assert run(*command).code == 1  # of the same name, in another folder
    assert run(*command, "--force").code == 0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "scores.md").write_text("mine")
    done = run("stressreel", "score", built, "--predictions", file, "--out", tmp_path / "mine")
    refuses(done, "contains files other than scores")
    assert (tmp_path / "mine" / "scores.md").read_text() == "mine"


@pytest.mark.usefixtures("paint")
def test_retrieval_from_matrices(suite: Path, tmp_path: Path) -> None:
    folder = matrices(suite, tmp_path / "sim")
    scores = run_json("stressreel", "score", suite, "--similarity", folder)
    assert scores["headline"]["R@1 clean"]["value"] == 1
    assert scores["headline"]["R@1 γr video"]["value"] == 0.5  # severity 1 perfect, severity 3 the worst
    families = {row["family"]: row["settings"] for row in scores["tables"]["families"] if row["score"] == "R@1"}
    assert families == {"all": 10, "noise": 8, "digital": 2}
    assert (tmp_path / "sim.scores" / "severity.png").is_file()


def test_safetensors_score_as_npy(suite: Path, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    save_file = pytest.importorskip("safetensors.torch").save_file
    folder, other = matrices(suite, tmp_path / "npy"), tmp_path / "safetensors"
    other.mkdir()
    kinds = (torch.bfloat16, torch.float16, torch.float32)
    for number, path in enumerate(sorted(folder.iterdir())):
        save_file(
            {"similarity": torch.from_numpy(np.load(path)).to(kinds[number % 3])}, other / f"{path.stem}.safetensors"
        )
    scored = [run("stressreel", "score", suite, "--similarity", given, "--json") for given in (folder, other)]
    assert json.loads(scored[0].out)["headline"] == json.loads(scored[1].out)["headline"]
    save_file({"a": torch.zeros(2, 2), "b": torch.zeros(2, 2)}, other / "clean.safetensors")
    refuses(run("stressreel", "score", suite, "--similarity", other), "must contain one tensor; it contains a, b")


def test_ranked_lists_and_missing_settings(suite: Path, tmp_path: Path) -> None:
    folder = matrices(suite, tmp_path / "sim")
    captions = read_captions(open_output(suite), "all")
    (folder / "jpeg-3.npy").unlink()
    refuses(run("stressreel", "score", suite, "--similarity", folder), "missing (jpeg-3)")
    others = {clip: [other for other in captions.clips if other != clip] for clip in captions.clips}
    rows = [
        {"id": name, "ranked": [clip, *others[clip]]}
        for name, clip in zip(captions.ids, captions.clip_ids, strict=True)
    ]
    write(folder / "jpeg-3.jsonl", rows)
    done = succeed("stressreel", "score", suite, "--similarity", folder, "--json")
    found = {(r["score"], r["visual"], r["severity"]): r for r in json.loads(done.out)["tables"]["settings"]}
    assert found["R@1", "jpeg", 3]["value"] == 1
    assert found["R@1", "shot_noise", 3]["value"] == 0


def test_answers_under_every_setting(suite: Path, tmp_path: Path) -> None:
    output = open_output(suite)
    captions = read_captions(output, "all")
    first = {clip: text for clip, text in zip(captions.clip_ids, captions.texts, strict=True)}
    rows: list[Row] = []
    for setting in suite_settings(output.info):
        for number, clip in enumerate(captions.clips):
            said = first[captions.clips[number - 1] if setting.severity == 3 else clip].upper()
            rows.append({"setting": setting.name, "id": clip, "answer": said})
    done = succeed("stressreel", "score", suite, "--predictions", write(tmp_path / "p.jsonl", rows), "--json")
    assert json.loads(done.out)["headline"]["accuracy γa video"]["value"] == 0.5
    judged: list[Row] = [
        {**row, "answer": None, "question": "q1", "correct": not str(row["setting"]).endswith("-3")} for row in rows
    ]
    again = run("stressreel", "score", suite, "--predictions", write(tmp_path / "q.jsonl", judged), "--json")
    assert json.loads(again.out)["headline"] == json.loads(done.out)["headline"]
    for gap in (judged[1:], [judged[0] | {"correct": None}, *judged[1:]]):
        done = run("stressreel", "score", suite, "--predictions", write(tmp_path / "gap.jsonl", gap))
        refuses(done, "have no prediction (clean video90001")


def right_texts(path: Path) -> Path:
    rows: list[Row] = [
        {"id": str(n), "source_id": f"v{n}", "answer": f"the cat saw mouse {n}", "explanation": f"{n} hungry"}
        for n in range(6)
    ]
    return write(path, rows)


def test_open_ended_scores_can_be_compared(tmp_path: Path) -> None:
    right = right_texts(tmp_path / "right.jsonl")
    rows = [json.loads(line) for line in right.read_text().splitlines()]
    better = write(tmp_path / "better.jsonl", [row | {"answer": row["answer"].replace("saw", "heard")} for row in rows])
    worse = write(tmp_path / "worse.jsonl", [row | {"answer": "a cat slept"} for row in rows])
    for file in (better, worse):
        done = succeed("stressreel", "score", "open-ended", right, "--predictions", file, *QUICK)
    assert "missing: SPICE, SBERT.\n" in done.out
    assert "METEOR (NLTK) is not METEOR 1.5" in done.out
    assert "over 6 source videos" in done.out
    scores = json.loads((tmp_path / "worse.scores" / "scores.json").read_text())
    assert scores["headline"]["E BLEU-1"]["value"] == pytest.approx(1)
    assert "CapsMIX" not in scores["headline"]
    assert (tmp_path / "worse.scores" / "scores.png").is_file()
    done = succeed("stressreel", "compare", tmp_path / "better.scores", tmp_path / "worse.scores", "--json")
    compared = {row["score"]: row for row in json.loads(done.out)["differences"]}
    assert compared["A BLEU-1"]["verdict"] == "better higher"
    assert compared["A BLEU-1"]["difference"]["high"] < 0
    assert compared["E CIDEr"]["verdict"] == "equal"


def test_right_texts_may_be_options(tmp_path: Path) -> None:
    said = write(tmp_path / "said.jsonl", [{"id": str(n), "answer": "the dog barks"} for n in range(2)])
    for name, key in (("answer", "B"), ("answer_index", 1)):
        rows: list[Row] = [{"id": str(n), "options": ["a cat", "the dog barks"], name: key} for n in range(2)]
        right = write(tmp_path / f"{name}.jsonl", rows)
        done = run("stressreel", "score", "open-ended", right, "--predictions", said, *QUICK, "--json", "--force")
        assert json.loads(done.out)["headline"]["A BLEU-1"]["value"] == pytest.approx(1)


def test_open_ended_gaps_are_refused_unless_partial(tmp_path: Path) -> None:
    right = right_texts(tmp_path / "right.jsonl")
    short = write(tmp_path / "short.jsonl", [{"id": "1", "answer": "", "replied": True}, {"id": "x", "answer": "y"}])
    command = ("stressreel", "score", "open-ended", right, "--predictions")
    gaps = "5 of 6 ids have no prediction (0, 2, 3, 4, 5); 1 id is not in this output (x)"
    refuses(run(*command, short, *QUICK), gaps)
    done = succeed(*command, short, *QUICK, "--partial")
    assert "1 answers scored, 1 empty, 5 missing (left out), 1 not in this output (left out).\n" in done.out
