"""`stressreel score`, `permute` and `compare` on what the builders build, and on a user's own questions."""

import json
import shutil
import statistics
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stressreel
from commands import Ran, refuses, rows, run, run_json, succeed
from stressreel.builders.perturbed.scores import read_captions, suite_settings
from stressreel.core.output import open_output

Row = dict[str, Any]
QUICK = ("--no-sbert", "--meteor", "nltk")  # without a program of Java's, and a model


def write(path: Path, rows: list[Row]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def answer(built: Path, path: Path, choose: Callable[[Row], object]) -> Path:
    return write(path, [{"id": row["question_id"], "answer": choose(row)} for row in rows(built, "questions", "test")])


@pytest.fixture(scope="session")
def suite(build_once: Callable[..., Path]) -> Path:
    """Recipes of the built-in captioned clips; read only."""
    arguments = ("--msrvtt", "sample", "--severity", "1,3", "--perturbations", "noise,jpeg", "--no-render")
    return build_once("build-perturbed", *arguments)


@pytest.fixture
def matrices(suite: Path, tmp_path: Path) -> Path:
    """Similarities, which are right at severity 1 and as wrong as can be at severity 3, in files of two formats."""
    output, folder = open_output(suite), tmp_path / "sim"
    captions = read_captions(output, "all")
    folder.mkdir()
    for number, setting in enumerate(suite_settings(output.info)):
        similarity = np.full((len(captions.clips), len(captions.ids)), -1.0, np.float32)
        similarity[captions.clip, np.arange(len(captions.ids))] = -2.0 if setting.severity == 3 else 1.0
        if number % 2 and find_spec("torch") and find_spec("safetensors"):
            torch, safetensors = import_module("torch"), import_module("safetensors.torch")
            kind = (torch.bfloat16, torch.float16, torch.float32)[number % 3]
            file = folder / f"{setting.name}.safetensors"
            safetensors.save_file({"similarity": torch.from_numpy(similarity).to(kind)}, file)
        else:
            np.save(folder / f"{setting.name}.npy", similarity)
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
    assert run_json("stressreel", "score", "--json", "--predictions", file, built) == scores
    assert "| CAcc_V complement | 0.000 |" in (folder / "scores.md").read_text()
    assert (folder / "scores.png").read_bytes()[1:4] == b"PNG"


def test_other_scores_are_not_written_over(built: Path, tmp_path: Path) -> None:
    file = answer(built, tmp_path / "p.jsonl", lambda row: "yes")
    for said in ("yes", "no"):
        answer(built, file, lambda row, said=said: said)
        assert run("stressreel", "score", built, "--predictions", file).code == 0
    other = answer(built, tmp_path / "other" / "p.jsonl", lambda row: "yes")  # of the same name
    command = ("stressreel", "score", built, "--predictions", other, "--out", tmp_path / "p.scores")
    refuses(run(*command), "p.jsonl")
    assert run(*command, "--force").code == 0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "scores.md").write_text("mine")
    refuses(run("stressreel", "score", built, "--predictions", file, "--out", tmp_path / "mine"), "other than scores")
    assert (tmp_path / "mine" / "scores.md").read_text() == "mine"


@pytest.mark.usefixtures("paint")
def test_retrieval_from_matrices_and_ranked_lists(suite: Path, matrices: Path) -> None:
    scores = run_json("stressreel", "score", suite, "--similarity", matrices)
    assert scores["headline"]["R@1 clean"]["value"] == 1
    assert scores["headline"]["R@1 γr video"]["value"] == 0.5
    families = {row["family"]: row["settings"] for row in scores["tables"]["families"] if row["score"] == "R@1"}
    assert families == {"all": 10, "noise": 8, "digital": 2}
    assert (matrices.parent / "sim.scores" / "severity.png").is_file()
    next(matrices.glob("jpeg-3.*")).unlink()
    refuses(run("stressreel", "score", suite, "--similarity", matrices), "missing (jpeg-3)")
    captions = read_captions(open_output(suite), "all")
    others = {clip: [other for other in captions.clips if other != clip] for clip in captions.clips}
    ranked = {name: [clip, *others[clip]] for name, clip in zip(captions.ids, captions.clip_ids, strict=True)}
    write(matrices / "jpeg-3.jsonl", [{"id": name, "ranked": clips} for name, clips in ranked.items()])
    settings = run_json("stressreel", "score", suite, "--similarity", matrices)["tables"]["settings"]
    found = {(row["score"], row["visual"], row["severity"]): row["value"] for row in settings}
    assert (found["R@1", "jpeg", 3], found["R@1", "shot_noise", 3]) == (1, 0)


def test_answers_under_every_setting(suite: Path, tmp_path: Path) -> None:
    output = open_output(suite)
    captions = read_captions(output, "all")
    first = dict(zip(captions.clip_ids, captions.texts, strict=True))
    asked = [(setting, n, clip) for setting in suite_settings(output.info) for n, clip in enumerate(captions.clips)]
    rows = [
        {"setting": s.name, "id": clip, "answer": first[captions.clips[n - 1] if s.severity == 3 else clip].upper()}
        for s, n, clip in asked
    ]
    judged = [{"setting": s.name, "id": clip, "question": "q1", "correct": s.severity != 3} for s, _, clip in asked]
    for name, given in {"said": rows, "judged": judged}.items():
        file = write(tmp_path / f"{name}.jsonl", given)
        scores = run_json("stressreel", "score", suite, "--predictions", file)
        assert scores["headline"]["accuracy γa video"]["value"] == 0.5
    file = write(tmp_path / "gap.jsonl", [judged[0] | {"correct": None}, *judged[1:]])
    refuses(run("stressreel", "score", suite, "--predictions", file), "no prediction (clean video90001")


def test_open_ended_scores_can_be_compared(tmp_path: Path) -> None:
    rows = [
        {"id": str(n), "source_id": f"v{n}", "answer": f"the cat saw mouse {n}", "explanation": f"{n} hungry"}
        for n in range(6)
    ]
    right = write(tmp_path / "right.jsonl", rows)
    better = [row | {"answer": row["answer"].replace("saw", "heard")} for row in rows]
    for name, said in {"better": better, "worse": [row | {"answer": "a cat slept"} for row in rows]}.items():
        file = write(tmp_path / f"{name}.jsonl", said)
        done = succeed("stressreel", "score", "open-ended", right, "--predictions", file, *QUICK)
        assert "missing: SPICE, SBERT.\n" in done.out
        assert "over 6 source videos" in done.out
    scores = json.loads((tmp_path / "worse.scores" / "scores.json").read_text())
    assert scores["headline"]["E BLEU-1"]["value"] == pytest.approx(1)
    assert "CapsMIX" not in scores["headline"]
    differences = run_json("stressreel", "compare", tmp_path / "better.scores", tmp_path / "worse.scores")[
        "differences"
    ]
    compared = {row["score"]: row for row in differences}
    assert compared["A BLEU-1"]["verdict"] == "better higher"
    assert compared["A BLEU-1"]["difference"]["high"] < 0
    assert compared["E CIDEr"]["verdict"] == "equal"
    short = write(tmp_path / "short.jsonl", [{"id": "1", "answer": "", "replied": True}, {"id": "x", "answer": "y"}])
    command = ("stressreel", "score", "open-ended", right, "--predictions", short, *QUICK)
    refuses(run(*command), "5 of 6 ids", "(0, 2, 3, 4, 5)", "(x)")
    assert "1 answers scored, 1 empty, 5 missing" in succeed(*command, "--partial").out


def score_modalities(out: Path, files: dict[str, Path], *arguments: object) -> Ran:
    pairs = [f"{name}={file}" for name, file in files.items()]
    return run("stressreel", "score", "modalities", out, *pairs, *arguments)


def answers(folder: Path, *said: str) -> dict[str, Path]:
    """Files of answers to own questions 0, 1, 2, …, one a subset of modalities, one letter an answer."""
    return {
        name: write(folder / f"{n}.jsonl", [{"id": str(n), "answer": letter} for n, letter in enumerate(letters)])
        for n, (name, letters) in enumerate(zip(("v", "t", "v+t"), said, strict=True))
    }


def counts(done: Ran) -> dict[str, int]:
    assert done.code == 0, done.err
    return {row["category"]: row["questions"] for row in json.loads(done.out)["categories"]}


@pytest.fixture
def clavi(built: Path, tmp_path: Path) -> dict[str, Path]:
    """Blind to one modality: always no; seeing both: right."""
    blind = {name: answer(built, tmp_path / f"{name}.jsonl", lambda row: "no") for name in ("video", "text")}
    return {**blind, "video+text": answer(built, tmp_path / "both.jsonl", lambda row: ("no", "yes")[row["answer"]])}


def test_categories_by_type_and_when_permuted(built: Path, clavi: dict[str, Path], tmp_path: Path) -> None:
    """Blind models fail where the answer is yes; one that is right loses what is answered wrong when permuted."""
    items, picture = tmp_path / "items.jsonl", tmp_path / "types.png"
    done = score_modalities(built, clavi, "--json", "--items", items, "--by", "type", "--figure", picture)
    found = counts(done)
    assert found["complementary"] * 19 == 6 * found["total"]
    assert found["modality-agnostic correct"] * 19 == 13 * found["total"]
    assert len(items.read_text().splitlines()) == found["total"]
    by_type = {row["type"]: row for row in json.loads(done.out)["by_type"]}
    assert by_type["BA"]["complementary"] == 0.5  # those whose answer is yes
    assert by_type["BA-NC"]["modality-agnostic correct"] == 1
    assert sum(row["questions"] for row in by_type.values()) == found["total"]
    assert picture.is_file()
    again = score_modalities(built, clavi, "--items", items)
    assert again.out.endswith(f"Overwrote {items}\n")
    assert "No intervals: they need at least 6 source videos" in again.out
    sets = tmp_path / "sets.jsonl"
    succeed("stressreel", "permute", built, "--sets", 2, "--to", sets)
    rows = [json.loads(line) for line in sets.read_text().splitlines()]
    asked = {row["question_id"]: row for row in open_output(built).rows("questions", None, "test")}
    assert len(rows) == 4 * len(asked)
    for row in rows:
        assert row["text_of" if row["permuted"] == "video" else "video_of"] == row["id"]
        assert row["video_id"] == asked[row["video_of"]]["video_id"] != asked[row["text_of"]]["video_id"]
        assert row["text"] == asked[row["text_of"]]["question"]
    write(sets, [row | {"answer": "no"} for row in rows])
    given = ("--original", clavi["video+text"], "--permuted", sets, "--categories", items)
    permuted = {row["category"]: row for row in run_json("stressreel", "score", "permuted", built, *given)["permuted"]}
    assert permuted["complementary"]["Δ video"] == permuted["complementary"]["Δ text"] == -1
    assert permuted["modality-agnostic correct"]["video permuted"] == {"mean": 1.0, "std": 0.0, "runs": 2}
    assert permuted["all"]["Δ text"] == pytest.approx(-6 / 19)


def test_own_questions_have_categories_and_sets(tmp_path: Path) -> None:
    rows = [
        {"id": str(n), "video_id": f"v{n}", "question": f"why {n}?", "answer": "b", "options": ["a", "b"]}
        for n in range(4)
    ]
    own = write(tmp_path / "q.jsonl", rows)
    files = answers(tmp_path, "bbaa", "baba", "bbbb")
    assert counts(score_modalities(own, files, "--json")) == {
        **{"v-biased": 1, "t-biased": 1, "complementary": 1, "modality-agnostic correct": 1},
        **{"modality-agnostic incorrect": 0, "none": 0, "total": 4},
    }
    refuses(score_modalities(own, {name: files[name] for name in ("v", "t")}), "missing: t+v")
    for verb in ("Wrote", "Overwrote"):
        done = succeed("stressreel", "permute", own)
        assert done.out.startswith(f"{verb} {tmp_path / 'q-permuted.parquet'}: 4 items")
    refuses(run("stressreel", "permute", own, "--to", own), "is an input file", code=2)
    for lacking in ("video_id", "question"):
        own = write(tmp_path / "q.jsonl", [{k: v for k, v in row.items() if k != lacking} for row in rows])
        refuses(run("stressreel", "permute", own, "--to", tmp_path / "x.csv"), lacking)
        assert not (tmp_path / "x.csv").exists()
    own = write(tmp_path / "q.jsonl", [row | {"video_id": 1} for row in rows])
    refuses(run("stressreel", "permute", own), "'1' has 4 of 4 items")


SHARES = {"a1": 10, "a2": 4, "b1": 2}  # of so many answers one is wrong


@pytest.fixture(scope="module")
def scores(built: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of scores, by name."""
    folder = tmp_path_factory.mktemp("scores")
    right = [(row["question_id"], row["answer"]) for row in open_output(built).rows("questions", None, "test")]
    for name, each in SHARES.items():
        said = {question: ("no", "yes")[truth ^ (n % each == 0)] for n, (question, truth) in enumerate(right)}
        stressreel.score(built, said, to=folder / f"{name}.scores")
    return {name: folder / f"{name}.scores" for name in SHARES}


def accuracy(folder: Path) -> float:
    value: float = json.loads((folder / "scores.json").read_text())["headline"]["accuracy"]["value"]
    return value


def test_json_lists_means_and_runs(scores: dict[str, Path]) -> None:
    found = run_json("stressreel", "compare", f"A={scores['a1']}", f"A={scores['a2']}", scores["b1"])
    rows = {(row["model"], row["score"]): row for row in found["rows"]}
    runs = [accuracy(scores[name]) for name in ("a1", "a2")]
    about = {
        "score": "accuracy",
        "mean": pytest.approx(statistics.mean(runs)),
        "std": pytest.approx(statistics.stdev(runs)),
    }
    assert rows["A", "accuracy"] == {"model": "A", **about, "runs": 2}
    assert rows["b1", "accuracy"] == {"model": "b1", **about, "mean": accuracy(scores["b1"]), "std": None, "runs": 1}
    assert (found["differences"], found["interval"]) == ([], None)
    assert stressreel.compare({"A": [scores["a1"], scores["a2"]], "b1": scores["b1"]}).as_json() == found


def test_names_of_models_without_names(scores: dict[str, Path], tmp_path: Path) -> None:
    """Folders with equal names are two models; only runs with a given name are averaged."""
    copy = shutil.copytree(scores["a1"], tmp_path / "a1.scores")
    assert stressreel.compare(scores["a1"], copy).models == (str(scores["a1"]), str(copy))
    assert stressreel.compare(f"a1={scores['b1']}", copy).models == ("a1", str(copy))


def test_markdown_and_a_figure(scores: dict[str, Path], tmp_path: Path) -> None:
    picture = tmp_path / "models.png"
    given = (f"A={scores['a1']}", f"A={scores['a2']}", f"B|b={scores['b1']}", "--of", "by_type", "--figure", picture)
    done = succeed("stressreel", "compare", *given, "--markdown", "--transpose")
    assert "| model | E | E-NC | BE | BA | BA-NC |" in done.out
    assert "| B\\|b |" in done.out
    assert picture.is_file()
