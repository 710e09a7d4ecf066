"""The examples run on the built-in samples as their texts say, and what they write is scored."""

import io
import json
import runpy
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from commands import Ran, run_json, succeed

EXAMPLES = Path(__file__).parents[2] / "examples"


def start(name: str, *arguments: object) -> Ran:
    """Run a script in this process."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", [f"{name}.py", *map(str, arguments)])
        patch.syspath_prepend(str(EXAMPLES))
        try:
            runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        except SystemExit as ended:
            return Ran(int(bool(ended.code)), out.getvalue(), f"{err.getvalue()}{ended.code or ''}\n")
    return Ran(0, out.getvalue(), err.getvalue())


def example(name: str, *arguments: object) -> str:
    done = start(name, *arguments)
    assert done.code == 0, done.err
    return done.out


def scores(*arguments: object) -> dict[str, float]:
    found = run_json("stressreel", "score", *arguments)
    assert found["answers"].get("unreadable", 0) == 0
    return {name: estimate["value"] for name, estimate in found["headline"].items()}


def test_clavi(built: Path, tmp_path: Path) -> None:
    example("clavi", built, "--to", tmp_path)
    blind = scores(built, "--predictions", tmp_path / "question_only.jsonl")
    assert blind["CAcc_V complement"] == blind["CAcc_T complement"] == 0  # what a blind model must score
    assert 0.5 < blind["balanced accuracy"] < 11 / 13  # the best that the text alone allows: docs/scores.md
    scores(built, "--predictions", tmp_path / "frame_difference.jsonl")


@pytest.mark.full
def test_perturbed(built: Path, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    suite, folder = tmp_path / "suite", tmp_path / "similarity"
    succeed("build-perturbed", "--msrvtt", "sample", "--severity", 5, "--perturbations", "jumble", "--out", suite)
    assert "fitted on 22 segments" in example("perturbed", suite, "--train", built, "--to", folder)
    assert {path.name for path in folder.iterdir()} == {"clean.npy", "jumble-5.npy"}
    found = scores(suite, "--similarity", folder)
    assert found["R@1 clean"] > 3 / 12  # of twelve clips, none of whose performances it has seen: chance is 1 / 12
    assert "R@1 γa video" in found


@pytest.mark.full
def test_causal(built_causal: Path, tmp_path: Path) -> None:
    out, file = built_causal, tmp_path / "nearest.jsonl"
    example("causal", out, "--to", file)
    for table in ("ud", "un", "causal_confusion"):
        found = scores(out, "--predictions", file, "--config", table)
        assert 0 <= found["A+E"] <= min(found["A"], found["E"])


@pytest.mark.full
def test_decomp(built_graphs: Path, tmp_path: Path) -> None:
    example("decomp", built_graphs, "--to", tmp_path)
    for name in ("question_only", "frame_difference"):
        found = scores(built_graphs, "--predictions", tmp_path / f"{name}.jsonl")
        assert 0 < found["accuracy"] < 0.5  # what is right is hardly among what they know
        assert 0 < found["CA"] < 1


@pytest.mark.full
def test_tiny_fusion(built: Path, tmp_path: Path) -> None:
    """Few steps on the sample: models that cannot fuse lose nothing where modalities meet, whatever they learned."""
    pytest.importorskip("torch")
    said = example("tiny_fusion", built, built, "--to", tmp_path, "--epochs", 1)
    assert said.endswith((tmp_path / "scores.md").read_text())
    measured = json.loads((tmp_path / "scores.json").read_text())
    answers = {path.stem: path.read_text() for path in tmp_path.glob("*.jsonl")}
    assert len(answers) == len(measured) == 3 * (1 + 2 * 4)
    for operator in ("average", "knockout"):
        assert answers[f"late-crossmodal-{operator}"] == answers["late-none"]
    assert all(row["CAcc_V complement"]["value"] == 0 for row in measured if row["model"] == "blind")
    found = scores(built, "--predictions", tmp_path / "fusing-none.jsonl", "--split", "all")
    assert found["CAcc_V complement"] == measured[0]["CAcc_V complement"]["value"]
    assert (tmp_path / "scores.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.full
def test_quag_simulation() -> None:
    """After one step, no model has learned the task."""
    pytest.importorskip("torch")
    header, *lines = example("quag_simulation", "--alphas", 0.2, 0.4, "--steps", 1).splitlines()
    assert header.split() == ["alpha", "seed", "test", "loss", "crossmodal", "increase", "linear", "loss"]
    assert [line.split()[:2] for line in lines] == [["0.2", "0"], ["0.4", "0"]]
    assert all(line.endswith("not learnt: increase --steps") for line in lines)


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("clavi", ("clavi",), "table videos, has no rows. It was built with --no-render."),
        ("causal", ("clavi",), "expected an output of build-causal"),
        ("perturbed", ("suite", "--train", "clavi"), "table clean, split test, has no video. It was built with"),
    ],
)
def test_error_is_one_line_and_writes_nothing(
    build_once: Callable[..., Path], tmp_path: Path, name: str, arguments: tuple[str, ...], says: str
) -> None:
    recipes = {
        "clavi": build_once("build-clavi", "--charades", "sample", "--no-render"),
        "suite": build_once("build-perturbed", "--msrvtt", "sample", "--perturbations", "jumble", "--no-render"),
    }
    done = start(name, *(recipes.get(each, each) for each in arguments), "--to", tmp_path / "new" / "place")
    assert (done.code, done.err.startswith("Error: "), done.err.count("\n")) == (1, True, 1)
    assert says in done.err
    assert list(tmp_path.iterdir()) == []


def test_evalscope(built: Path, tmp_path: Path) -> None:
    """The form of its reviews is that of EvalScope 1.14.1; every second question gets its right letter."""
    example("evalscope_tasks", built, "--to", tmp_path / "q")
    questions = [json.loads(line) for line in (tmp_path / "q/test_val.jsonl").read_text("utf-8").splitlines()]
    assert {tuple(row["options"]) for row in questions} == {("no", "yes")}
    assert len({row["video_1"] for row in questions}) == len(list((tmp_path / "q").glob("*.mp4"))) == 6
    reviews = [
        {
            "index": index,
            "sample_score": {"score": {"extracted_prediction": row["answer"] if index % 2 else "", "prediction": "?"}},
        }
        for index, row in enumerate(questions)
    ]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in reviews[::-1]))
    example("evalscope_tasks", built, "--reviews", tmp_path / "r.jsonl", "--to", tmp_path / "a.jsonl")
    found = run_json("stressreel", "score", built, "--predictions", tmp_path / "a.jsonl", "--out", tmp_path / "s")
    assert found["answers"]["unreadable"] == len(questions) / 2
    assert found["headline"]["accuracy"]["value"] == 0.5
