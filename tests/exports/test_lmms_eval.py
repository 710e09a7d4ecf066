"""Tasks of lmms-eval: what is written, what `utils.py` makes of a document, and the real harness."""

import hashlib
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from commands import refuses, run
from stressreel.builders.parts import open_rows
from stressreel.builders.perturbed.choices import NUM_CAPTIONS
from stressreel.core.output import FinishedOutput, open_output
from stressreel.evaluation.metrics.answers import YES_NO
from stressreel.evaluation.metrics.references import read_generated, read_references
from stressreel.evaluation.metrics.robustness import Setting
from stressreel.evaluation.tasks import KINDS, prompts

# lmms-eval wants other versions than stressreel, so it may live in an environment of its own: see CONTRIBUTING.md.
PYTHON = os.environ.get("STRESSREEL_LMMS_PYTHON", sys.executable)


@pytest.fixture(scope="session")
def exported(outputs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tasks")
    for name, out in outputs.items():
        done = run("stressreel", "export", "lmms-eval", out, "--to", folder / name)
        assert done.code == 0, done.err
        assert f"stressreel score {out} --predictions logs" in done.out
        assert "Left out" not in done.out
    return {name: folder / name for name in outputs}


def load(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("utils", folder / "utils.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def utils(exported: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Load `utils.py` as lmms-eval does: by its path, with no module of that name."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return lambda name: load(exported[name])


class Loader(yaml.SafeLoader):
    pass


Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def caption_docs(folder: Path, task: str) -> list[dict[str, Any]]:
    lines = (folder / f"stressreel_perturbed_{task}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def read(path: Path) -> dict[str, Any]:
    return yaml.load(path.read_text(), Loader)


def test_every_table_has_its_tasks(exported: dict[str, Path], opened: dict[str, FinishedOutput]) -> None:
    names = {
        "clavi": ["questions"],
        "causal": [
            f"{table}_{asked}"
            for table in ("ud", "ps", "un", "causal_confusion", "open_ended")
            for asked in ("answer", "explanation")
        ],
        "perturbed": ["clean", "jpeg", "random_noun", "pairs"],
    }
    for builder, tasks in names.items():
        group = read(exported[builder] / f"stressreel_{builder}.yaml")
        assert group["task"] == [f"stressreel_{builder}_{task}" for task in tasks]
        info = opened[builder].info
        for name in group["task"]:
            task = read(exported[builder] / f"{name}.yaml")
            assert task["task"] == name
            assert task["metadata"]["version"] == f"{info['dataset_version']}+{info['fingerprint'][:16]}"
            assert task["test_split"] == "test"


def test_the_functions_that_tasks_name_are_there(exported: dict[str, Path], utils: Any) -> None:
    for name, folder in exported.items():
        module = utils(name)
        for path in folder.glob("*.yaml"):
            for value in read(path).values():
                if isinstance(value, str) and value.startswith("utils."):
                    assert callable(getattr(module, value.removeprefix("utils.")))


def test_clavi_documents(opened: dict[str, FinishedOutput], utils: Any) -> None:
    module = utils("clavi")
    rows = list(opened["clavi"].rows("questions", None, "test"))
    sha = {row["video_id"]: row["sha256"] for row in opened["clavi"].rows("videos", ["video_id", "sha256"])}
    for row in rows:
        (path,) = module.video_visual(row)
        assert hashlib.sha256(Path(path).read_bytes()).hexdigest() == sha[row["video_id"]]
    assert module.question_text(rows[0], {"pre_prompt": "Q: ", "post_prompt": "?"}) == f"Q: {rows[0]['question']}?"
    right = module.yes_no_target(rows[0])
    assert right == ("no", "yes")[rows[0]["answer"]]
    found = module.questions_yes_no_results(rows[0], [f"{right.title()}."])
    assert (found["accuracy"], found["unreadable"]) == (1.0, 0.0)
    assert found["stressreel"]["id"] == rows[0]["question_id"]
    assert module.questions_yes_no_results(rows[0], ["perhaps"])["unreadable"] == 1.0


def test_a_damaged_video_is_refused(opened: dict[str, FinishedOutput], utils: Any, monkeypatch: Any) -> None:
    module = utils("clavi")
    shard = str(opened["clavi"].shards("videos")[0])
    monkeypatch.setattr(module.harness().hashlib, "sha256", lambda content: hashlib.md5(content))
    with pytest.raises(ValueError, match="not the one that was built"):
        module.harness().copy_videos(shard, 0)
    assert not list(module.harness().cache_folder().glob("*.mp4"))


def test_causal_documents(opened: dict[str, FinishedOutput], utils: Any) -> None:
    module = utils("causal")
    row = next(opened["causal"].rows("un", None, "test"))
    assert Path(module.clip_visual(row)[0]).read_bytes()[4:8] == b"ftyp"
    text = module.explanation_text(row, {"pre_prompt": "", "post_prompt": ""})
    assert text.split("\n") == [
        row["question"],
        *(f"{a}. {b}" for a, b in zip("ABCDE", row["explanation_options"], strict=True)),
    ]
    right = module.explanation_target(row)
    found = module.un_explanation_results(row, [f"({right})"])
    assert found["accuracy"] == 1.0
    assert found["stressreel"] | {"fingerprint": ""} == {
        "id": row["qid"],
        "config": "un",
        "explanation": f"({right})",
        "fingerprint": "",
    }


def test_captions_are_the_same_in_every_setting_and_shown_as_perturbed(exported: dict[str, Path], utils: Any) -> None:
    docs = {name: caption_docs(exported["perturbed"], name) for name in ("clean", "jpeg", "random_noun", "pairs")}
    assert [len(found) for found in docs.values()] == [12, 24, 12, 12]
    clean = {doc["clip_id"]: doc for doc in docs["clean"]}
    for doc in (doc for found in docs.values() for doc in found):
        assert doc["option_ids"] == clean[doc["clip_id"]]["option_ids"]
        assert doc["option_ids"][doc["answer_index"]] == f"{doc['clip_id']}#0"
        assert len(doc["options"]) == NUM_CAPTIONS
    assert any(doc["options"] != clean[doc["clip_id"]]["options"] for doc in docs["random_noun"])
    module = utils("perturbed")
    paths = {module.caption_visual(doc)[0] for doc in docs["jpeg"] + docs["clean"]}
    assert len(paths) == 36
    assert {module.caption_visual(doc)[0] for doc in docs["pairs"]} < paths
    assert [doc["options"] for doc in docs["pairs"]] == [doc["options"] for doc in docs["random_noun"]]
    assert {doc["setting"] for doc in docs["pairs"]} == {"jpeg-3+random_noun"}
    assert module.caption_visual(docs["random_noun"][0]) == module.caption_visual(docs["clean"][0])
    wrong = "ABCD"[docs["jpeg"][0]["answer_index"] - 1]
    found = module.caption_results(docs["jpeg"][0], [wrong])
    assert found["accuracy"] == 0.0
    assert found["stressreel"]["answer"] == docs["jpeg"][0]["option_ids"]["ABCD".index(wrong)]


def test_what_cannot_be_exported_is_said(outputs: dict[str, Path], exported: dict[str, Path], tmp_path: Path) -> None:
    questions = tmp_path / "questions"
    assert run("build-clavi", "--charades", "sample", "--out", questions, "--no-render", "--no-progress").code == 0
    for code, arguments, said in (
        (1, (questions, "--to", tmp_path / "a"), "holds no videos"),
        (2, (outputs["clavi"], "--to", outputs["clavi"] / "tasks"), "lies in the output itself"),
        (1, (outputs["clavi"], "--to", exported["clavi"]), "holds something already"),
        (2, (outputs["clavi"], "--to", tmp_path / "a", "--split", "dev"), "no split 'dev'"),
        (2, (outputs["clavi"], "--to", tmp_path / "a", "--split", "all"), "one split is asked"),
        (2, (outputs["causal"], "--to", tmp_path / "a", "--split", "dev"), "no split 'dev'"),
        (1, (outputs["clavi"], "--to", questions / "build.json"), "is a file"),
        (1, (outputs["clavi"], "--to", questions / "build.json" / "a"), "cannot write"),
        (2, (outputs["clavi"], "--to", tmp_path / "a", "--name", "a-b"), "letters, digits and _ only"),
        (1, (tmp_path, "--to", tmp_path / "a"), "is not the output of a build"),
    ):
        refuses(run("stressreel", "export", "lmms-eval", *arguments), said, code=code)
    assert not (tmp_path / "a").exists()


def test_an_earlier_export_is_written_over_when_asked(outputs: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "tasks"
    export = ("stressreel", "export", "lmms-eval", outputs["clavi"], "--to", folder)
    assert run(*export).code == 0
    (folder / "notes.yaml").write_text("theirs")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for wrong in (("--split", "dev"), ("--name", "a-b"), ("--name", "")):
        assert run(*export, "--force", *wrong).code == 2
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    done = run(*export, "--force", "--name", "mine", "--split", "train")
    assert done.code == 0, done.err
    assert "--split train" in done.out
    assert {path.name for path in folder.glob("*.yaml")} == {"mine.yaml", "mine_questions.yaml", "notes.yaml"}
    assert read(tmp_path / "tasks" / "mine_questions.yaml")["test_split"] == "train"


def damaged(output: Path, folder: Path, table: str, split: str) -> Path:
    """Copy an output without a table's shards."""
    shutil.copytree(output, folder)
    for path in (folder / table).glob(f"{split}-*.parquet"):
        path.unlink()
    return folder


@pytest.mark.parametrize(
    ("name", "table", "split"),
    [
        ("clavi", "questions", "test"),
        ("clavi", "questions", "train"),
        ("clavi", "videos", "test"),
        ("causal", "causal_confusion", "test"),
        ("causal", "open_ended", "validation"),
        ("causal", "clips", "clips"),
        ("perturbed", "clean", "test"),
        ("perturbed", "random_noun", "test"),
        ("perturbed", "jpeg", "test"),
    ],
)
def test_missing_and_truncated_shards_are_said(
    name: str, table: str, split: str, outputs: dict[str, Path], tmp_path: Path
) -> None:
    out = damaged(outputs[name], tmp_path / "out", table, split)
    done = run("stressreel", "export", "lmms-eval", out, "--to", tmp_path / "tasks")
    assert done.code == 1
    assert f"table {table}, split {split}: 0 rows are there, " in done.err
    assert "stressreel verify" in done.err
    assert not (tmp_path / "tasks").exists()
    whole = next((outputs[name] / table).glob(f"{split}-*.parquet"))
    (out / table / whole.name).write_bytes(whole.read_bytes()[:-100])
    done = run("stressreel", "export", "lmms-eval", out, "--to", tmp_path / "tasks")
    refuses(done, f"{table}/{whole.name} cannot be read", "it is damaged or no shard of this build")


def test_a_table_that_a_harness_cannot_hold_is_not_exported(outputs: dict[str, Path], tmp_path: Path) -> None:
    out = shutil.copytree(outputs["clavi"], tmp_path / "out")
    path = next((out / "questions").glob("test-*.parquet"))
    table = pq.read_table(path)
    rows = pa.array([0] * table.num_rows, pa.int32())
    column = pa.DictionaryArray.from_arrays(rows, pa.array(["x" * (1_200_000_000 // table.num_rows)]))
    pq.write_table(table.append_column("more", column), path, compression="zstd", store_schema=False)
    for harness in ("lmms-eval", "inspect"):
        refuses(run("stressreel", "export", harness, out, "--to", tmp_path / harness), "questions/test-00000-of-00001")
        assert not (tmp_path / harness).exists()


def test_questions_whose_clips_were_skipped_are_left_out_and_counted(
    outputs: dict[str, Path], tmp_path: Path, monkeypatch: Any
) -> None:
    import pyarrow.parquet as pq

    out, tasks = tmp_path / "out", tmp_path / "tasks"
    shutil.copytree(outputs["causal"], out)
    row = next(open_output(out).rows("ud", ["qid", "clip_id"], "test"))
    (shard,) = (out / "clips").glob("*.parquet")
    clips = pq.read_table(shard)
    kept = [name != row["clip_id"] for name in clips.column("clip_id").to_pylist()]
    pq.write_table(clips.filter(kept), shard)
    info = json.loads((out / "build.json").read_text())
    info["counts"]["clips"]["clips"] -= 1
    (out / "build.json").write_text(json.dumps(info))
    done = run("stressreel", "export", "lmms-eval", out, "--to", tasks)
    assert done.code == 0, done.err
    assert f"Left out of ud, split test: 1 ({row['qid']}); their clips were skipped" in done.out
    assert "--config ud --split test --partial" in done.out
    task = read(tasks / "stressreel_causal_ud_answer.yaml")
    assert task["process_docs"] == "utils.with_clip"
    assert task["metadata"]["left_out"]["count"] == 1
    assert row["qid"] in json.loads((tasks / "output.json").read_text())["left_out"]["ud"]
    assert "process_docs" not in read(tasks / "stressreel_causal_un_answer.yaml") or "Left out of un" in done.out
    module = load(tasks)

    class Docs(list[dict[str, Any]]):
        def __getitem__(self, name: Any) -> Any:
            return [doc[name] for doc in self]

        def select(self, numbers: list[int]) -> list[dict[str, Any]]:
            return [doc for number, doc in enumerate(self) if number in numbers]

    docs = Docs(open_output(out).rows("ud", None, "test"))
    assert [doc["qid"] for doc in docs if doc["qid"] != row["qid"]] == [doc["qid"] for doc in module.with_clip(docs)]


def test_a_choice_that_some_setting_cannot_ask_is_left_out_and_counted(
    outputs: dict[str, Path], tmp_path: Path
) -> None:
    """A clip says under `random_noun` what no other does not say: it cannot be asked, and score agrees."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out, tasks = tmp_path / "out", tmp_path / "tasks"
    shutil.copytree(outputs["perturbed"], out)
    (shard,) = (out / "random_noun").glob("test-*.parquet")
    rows = pq.read_table(shard)
    texts = ["", *rows.column("caption").to_pylist()[1:]]
    place = rows.schema.get_field_index("caption")
    pq.write_table(rows.set_column(place, rows.schema.field(place), pa.array(texts, pa.string())), shard)
    done = run("stressreel", "export", "lmms-eval", out, "--to", tasks)
    assert done.code == 0, done.err
    clip = rows.column("clip_id")[0].as_py()
    assert f"Left out of every setting, split test: 1 ({clip}); in some setting their captions" in done.out
    command = done.out.strip().splitlines()[-1]
    assert command == f"stressreel score {out} --predictions logs --split test --partial"
    docs = {task: caption_docs(tasks, task) for task in ("clean", "jpeg", "random_noun", "pairs")}
    assert [len(found) for found in docs.values()] == [11, 22, 11, 11]
    assert read(tasks / "stressreel_perturbed_jpeg.yaml")["metadata"]["left_out"]["count"] == 1
    module = load(tasks)
    log(tmp_path / "logs", "all", [module.caption_results(doc, ["B"]) for found in docs.values() for doc in found])
    scored = run(
        "stressreel", "score", out, "--predictions", tmp_path / "logs", "--split", "test", "--partial", "--json"
    )
    assert scored.code == 0, scored.err
    found = json.loads(scored.out)
    assert found["answers"]["scored"] == 55
    right = np.mean([doc["answer_index"] == 1 for doc in docs["clean"]])
    assert found["headline"]["accuracy clean"]["value"] == pytest.approx(right)


def log(folder: Path, task: str, results: list[dict[str, Any]]) -> None:
    """Write what lmms-eval logs, as far as it is read."""
    folder.mkdir(exist_ok=True)
    lines = [json.dumps({"doc_id": number, **found}) for number, found in enumerate(results)]
    (folder / f"1_samples_{task}.jsonl").write_text("\n".join(lines))


ODD = [
    *(
        "A",
        "(b)",
        "B.",
        "A or B",
        "A and C",
        "Answer: C",
        "I cannot tell.",
        "None of the above",
        "no idea",
        "",
        "E",
        "Z",
    ),
    *(
        "yes",
        "No, it was before.",
        "yes and no",
        "1",
        "2.0",
        "The answer is (A) because B is wrong",
        "a",
        "unreadable: a",
    ),
]


@pytest.mark.parametrize("shift", range(3))
def test_the_harness_and_score_judge_odd_answers_alike(
    shift: int, exported: dict[str, Path], outputs: dict[str, Path], opened: dict[str, FinishedOutput], tmp_path: Path
) -> None:
    def said(number: int, options: list[str], right: int, others: list[str]) -> str:
        texts = [
            options[right],
            options[right - 1],
            options[right].upper() + ".",
            f"A. {options[right]}",
            *others,
            *ODD,
        ]
        return texts[(7 * number + shift * 5) % len(texts)]

    def scored(name: str, logs: Path, *more: str) -> dict[str, Any]:
        done = run("stressreel", "score", outputs[name], "--predictions", logs, *more, "--json")
        assert done.code == 0, done.err
        found: dict[str, Any] = json.loads(done.out)
        return found

    def same(results: list[dict[str, Any]], value: float, unreadable: int) -> None:
        assert np.mean([found["accuracy"] for found in results]) == pytest.approx(value)
        assert sum(found["unreadable"] for found in results) == unreadable
        assert 0 < unreadable < len(results)

    module = load(exported["clavi"])
    rows = list(opened["clavi"].rows("questions", None, "test"))
    results = [
        module.questions_yes_no_results(row, [said(number, ["no", "yes"], row["answer"], [])])
        for number, row in enumerate(rows)
    ]
    log(tmp_path / "clavi", "questions", results)
    found = scored("clavi", tmp_path / "clavi")
    same(results, found["headline"]["accuracy"]["value"], found["answers"]["unreadable"])

    module = load(exported["causal"])
    for table in ("ud", "causal_confusion"):
        rows = list(opened["causal"].rows(table, None, "test"))
        judged: dict[str, list[dict[str, Any]]] = {"answer": [], "explanation": []}
        for number, row in enumerate(rows):
            for asked, options, right in (
                ("answer", row["options"], row["answer_index"]),
                ("explanation", row["explanation_options"], row["explanation_index"]),
            ):
                elsewhere = [rows[number - 1]["options"][0], rows[number - 1]["explanation_options"][0]]
                response = said(number + (asked == "answer"), options, right, elsewhere)
                judged[asked].append(getattr(module, f"{table}_{asked}_results")(row, [response]))
        for asked, results in judged.items():
            log(tmp_path / table, asked, results)
        found = scored("causal", tmp_path / table, "--config", table)
        same(judged["answer"], found["headline"]["A"]["value"], found["answers"]["unreadable"])
        assert np.mean([one["accuracy"] for one in judged["explanation"]]) == found["headline"]["E"]["value"]

    module = load(exported["perturbed"])
    suite = {task: caption_docs(exported["perturbed"], task) for task in ("clean", "jpeg", "random_noun", "pairs")}
    docs = [doc for found in suite.values() for doc in found]
    everything = sorted(
        {text for doc in docs for text in doc["options"]} | {name for doc in docs for name in doc["option_ids"]}
    )
    results = []
    for number, doc in enumerate(docs):
        elsewhere = [text for text in everything if text not in doc["options"]]
        results.append(module.caption_results(doc, [said(number, doc["options"], doc["answer_index"], elsewhere)]))
    log(tmp_path / "perturbed", "all", results)
    found = scored("perturbed", tmp_path / "perturbed")
    assert found["answers"]["unreadable"] == sum(one["unreadable"] for one in results) > 0
    value = {
        Setting(row["visual"], row["severity"], row["text"]).name: row["value"] for row in found["tables"]["settings"]
    }
    for setting in {doc["setting"] for doc in docs}:
        mine = [one["accuracy"] for one, doc in zip(results, docs, strict=True) if doc["setting"] == setting]
        assert np.mean(mine) == pytest.approx(value[setting])


def test_a_caption_that_was_not_offered_is_unreadable_to_both(exported: dict[str, Path], utils: Any) -> None:
    module = utils("perturbed")
    docs = caption_docs(exported["perturbed"], "clean")
    other = next(text for doc in docs for text in doc["options"] if text not in docs[0]["options"])
    for response in (other, "", "A or B", f"{docs[0]['clip_id']}#0"):
        found = module.caption_results(docs[0], [response])
        assert (found["accuracy"], found["unreadable"]) == (0.0, 1.0)
        assert found["stressreel"]["answer"] == f"unreadable: {response}"


def test_open_ended_documents(opened: dict[str, FinishedOutput], exported: dict[str, Path], utils: Any) -> None:
    module = utils("causal")
    row = next(opened["causal"].rows("open_ended", None, "test"))
    task = read(exported["causal"] / "stressreel_causal_open_ended_explanation.yaml")
    text = module.question_text(row, task["lmms_eval_specific_kwargs"]["default"])
    assert text.split("\n")[0] == row["question"]
    assert row["explanation"] not in text
    assert row["answer"] not in text
    assert task["generation_kwargs"]["max_new_tokens"] > 30
    found = module.open_ended_explanation_results(row, [row["explanation"].upper()])
    assert (found["exact"], found["empty"]) == (1.0, 0.0)
    assert found["stressreel"]["explanation"] == row["explanation"].upper()
    found = module.open_ended_answer_results(row, [""])
    assert (found["exact"], found["empty"], found["stressreel"]["answer"]) == (0.0, 1.0, "")


def test_the_commands_that_are_printed_name_split_table_and_folder(outputs: dict[str, Path], tmp_path: Path) -> None:
    done = run("stressreel", "export", "lmms-eval", outputs["causal"], "--to", tmp_path / "a b", "--split", "train")
    assert done.code == 0, done.err
    harness, *scores = [shlex.split(line) for line in done.out.strip().splitlines()[-5:]]
    assert harness[harness.index("--include_path") + 1] == str(tmp_path / "a b")
    assert [line[line.index("--split") + 1] for line in scores] == ["train"] * 4
    assert [line[line.index("--config") + 1] for line in scores if "--config" in line] == ["ud", "ps", "un"]
    assert scores[-1][:3] == ["stressreel", "score", "open-ended"]
    assert len({line[line.index("--out") + 1] for line in scores}) == 4


# The real package

LOAD = """
import json, sys
from lmms_eval.tasks import TaskManager, get_task_dict
folder, group = sys.argv[1:]
manager = TaskManager(include_path=folder, include_defaults=False)
(tasks,) = get_task_dict([group], manager).values()
found = {}
for name, task in tasks.items():
    docs = task.test_docs()
    doc = docs[0]
    seen = task.doc_to_text(doc), task.doc_to_visual(doc), task.doc_to_target(doc)
    found[name] = [len(docs), *seen, str(task.VERSION)]
print("FOUND " + json.dumps(found))
"""


@pytest.fixture(scope="session")
def lmms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment for lmms-eval, with caches of its own and no network."""
    done = subprocess.run(
        [PYTHON, "-c", "import lmms_eval.tasks, pytablewriter"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(
            f"no lmms-eval ({done.stderr.strip().splitlines()[-1]}): see CONTRIBUTING.md, STRESSREEL_LMMS_PYTHON"
        )
    cache = tmp_path_factory.mktemp("cache")
    return {**os.environ, "XDG_CACHE_HOME": str(cache), "HF_HOME": str(cache / "hf"), "HF_HUB_OFFLINE": "1"}


@pytest.mark.parametrize(("name", "count"), [("clavi", 1), ("causal", 10), ("perturbed", 4)])
def test_lmms_eval_loads_the_tasks(
    name: str, count: int, exported: dict[str, Path], opened: dict[str, FinishedOutput], lmms: dict[str, str]
) -> None:
    done = subprocess.run(
        [PYTHON, "-c", LOAD, exported[name], f"stressreel_{name}"],
        env=lmms,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.split("FOUND ")[1])
    assert len(found) == count
    for questions, text, (video,), target, version in found.values():
        assert questions >= 5
        assert text.strip().endswith(("no.", "option.", "caption.", "sentence.", "want."))
        assert Path(video).read_bytes()[4:8] == b"ftyp"
        assert target in ("yes", "no", *"ABCDE") or len(target.split()) > 2
        assert version.endswith(opened[name].info["fingerprint"][:16])


@pytest.mark.parametrize(
    ("name", "response", "score"),
    [("clavi", "Yes.", "accuracy"), ("causal", "B", "A+E"), ("perturbed", "(A)", "accuracy clean")],
)
def test_lmms_eval_runs_and_its_logs_are_scored(
    name: str,
    response: str,
    score: str,
    exported: dict[str, Path],
    outputs: dict[str, Path],
    opened: dict[str, FinishedOutput],
    lmms: dict[str, str],
    tmp_path: Path,
) -> None:
    logs, tasks = tmp_path / "logs", tmp_path / "moved"
    shutil.copytree(exported[name], tasks)
    for path in tasks.iterdir():
        assert str(exported[name]) not in path.read_text()
    arguments = {
        "--model": "dummy",
        "--model_args": f"response={response},read_bytes=64",
        "--include_path": tasks,
        "--tasks": f"stressreel_{name}",
        "--batch_size": 1,
        "--output_path": logs,
    }
    done = subprocess.run(
        [PYTHON, "-m", "lmms_eval", "--log_samples", *(str(part) for pair in arguments.items() for part in pair)],
        env=lmms,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    scored = run("stressreel", "score", outputs[name], "--predictions", logs, "--json")
    assert scored.code == 0, scored.err
    found = json.loads(scored.out)
    assert found["answers"]["unreadable"] == 0
    rows = (
        list(opened[name].rows("questions" if name == "clavi" else "ud", None, "test")) if name != "perturbed" else []
    )
    expected = {
        "clavi": lambda: np.mean([row["answer"] for row in rows]),
        "causal": lambda: np.mean([row["answer_index"] == row["explanation_index"] == 1 for row in rows]),
        "perturbed": lambda: np.mean([doc["answer_index"] == 0 for doc in caption_docs(exported[name], "clean")]),
    }[name]()
    assert found["headline"][score]["value"] == pytest.approx(expected)
    if name == "causal":
        generated = read_generated(logs, read_references(outputs[name], open_rows))
        assert generated.texts == {letter: [response] * len(rows) for letter in "AE"}


def test_prompts_ask_for_what_is_read() -> None:
    asked = {name: prompt["post_prompt"] for name, prompt in prompts()["prompts"].items()}
    assert set(asked) == set(KINDS)
    for kind in ("yes_no", "node_yes_no"):
        assert asked.pop(kind) == f"\nAnswer with {' or '.join(sorted(YES_NO, reverse=True))}."
    lettered = {name for name, text in asked.items() if "Answer with the letter of the right " in text}
    assert lettered == {name for name in asked if KINDS[name].options}
