"""Tasks of both harnesses: what is refused, what is left out, and what an export in the place of another leaves."""

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from commands import refuses, run
from stressreel.core.output import open_output
from stressreel.evaluation.metrics.answers import YES_NO
from stressreel.evaluation.tasks import KINDS, prompts

HARNESSES = ("lmms-eval", "inspect")


@pytest.mark.parametrize("harness", HARNESSES)
def test_bad_arguments_are_refused(
    harness: str, outputs: dict[str, Path], exported: Callable[..., Path], tmp_path: Path
) -> None:
    clavi, new, file = outputs["clavi"], tmp_path / "a", tmp_path / "file"
    file.touch()
    for code, arguments, said in (
        (1, (clavi, "--to", exported(harness, "clavi")), "already contains an export"),
        (2, (clavi, "--to", new, "--split", "all"), "only one split at a time"),
        (2, (outputs["causal"], "--to", new, "--split", "dev"), "no split 'dev'"),
        (1, (clavi, "--to", file), "is a file"),
    ):
        refuses(run("stressreel", "export", harness, *arguments), said, code=code)
    assert not new.exists()


def test_force_replaces_an_earlier_export(outputs: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    export = ("stressreel", "export", "lmms-eval", outputs["clavi"], "--to", folder)
    assert run(*export).code == 0
    (folder / "notes.yaml").write_text("theirs")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for wrong in (("--split", "dev"), ("--name", "a-b"), ("--name", "")):
        assert run(*export, "--force", *wrong).code == 2
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert run(*export, "--force", "--name", "mine", "--split", "train").code == 0
    assert {path.name for path in folder.glob("*.yaml")} == {"mine.yaml", "mine_questions.yaml", "notes.yaml"}
    done = run("stressreel", "export", "inspect", outputs["clavi"], "--to", folder, "--force", "--split", "train")
    assert done.code == 0, done.err
    run_time = {"tasks.py", "frames.py", "harness.py", "answers.py", "output.json"}
    assert {path.name for path in folder.iterdir()} == {*run_time, "stressreel_clavi_questions.jsonl", "notes.yaml"}
    evaluate, score = map(shlex.split, done.out.strip().splitlines()[-2:])
    # inspect-ai 0.3.285 refuses an absolute path to a file without a task's name
    assert not Path(evaluate[2]).is_absolute()
    assert (Path.cwd() / evaluate[2]).resolve() == (folder / "tasks.py").resolve()
    assert score[score.index("--split") + 1] == "train"


def test_printed_commands_name_split_table_and_folder(outputs: dict[str, Path], tmp_path: Path) -> None:
    done = run("stressreel", "export", "lmms-eval", outputs["causal"], "--to", tmp_path / "a b", "--split", "train")
    harness, *scores = [shlex.split(line) for line in done.out.strip().splitlines()[-4:]]
    assert harness[harness.index("--include_path") + 1] == str(tmp_path / "a b")
    assert [line[line.index("--split") + 1] for line in scores] == ["train"] * 3
    assert [line[line.index("--config") + 1] for line in scores if "--config" in line] == ["ud", "un"]
    assert scores[-1][:3] == ["stressreel", "score", "open-ended"]
    assert len({line[line.index("--out") + 1] for line in scores}) == 3


def test_missing_and_truncated_shards_are_reported(built: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(built, tmp_path / "out"))
    (shard,) = (out / "questions").glob("test-*.parquet")
    whole = shard.read_bytes()
    shard.unlink()
    export = ("stressreel", "export", "lmms-eval", out, "--to", tmp_path / "tasks")
    refuses(run(*export), "table questions, split test: found 0 rows, ", "stressreel verify")
    assert not (tmp_path / "tasks").exists()
    shard.write_bytes(whole[:-100])
    refuses(run(*export), f"questions/{shard.name} cannot be read", "it is damaged or not a shard of this build")


def test_questions_without_clips_are_omitted_and_counted(outputs: dict[str, Path], tmp_path: Path) -> None:
    out = Path(shutil.copytree(outputs["causal"], tmp_path / "out"))
    asked = list(open_output(out).rows("ud", ["qid", "clip_id"], "test"))
    (shard,) = (out / "clips").glob("*.parquet")
    clips = pq.read_table(shard)
    pq.write_table(clips.filter([name != asked[0]["clip_id"] for name in clips.column("clip_id").to_pylist()]), shard)
    info = json.loads((out / "build.json").read_text())
    info["counts"]["clips"]["clips"] -= 1
    (out / "build.json").write_text(json.dumps(info))
    for harness in HARNESSES:
        done = run("stressreel", "export", harness, out, "--to", tmp_path / harness)
        assert done.code == 0, done.err
        assert f"Left out of ud, split test: 1 ({asked[0]['qid']}); their clips were skipped" in done.out
        assert "--config ud --split test --partial" in done.out
        about = json.loads((tmp_path / harness / "output.json").read_text())
        assert asked[0]["qid"] in about["left_out"]["ud"]
        lines = (tmp_path / harness / "stressreel_causal_ud_answer.jsonl").read_text().splitlines()
        assert [json.loads(line)["id"] for line in lines] == [row["qid"] for row in asked[1:]]


def test_prompts_request_the_parsed_form() -> None:
    asked = {name: prompt["post_prompt"] for name, prompt in prompts()["prompts"].items()}
    assert set(asked) == set(KINDS)
    for kind in ("yes_no", "node_yes_no"):
        assert asked.pop(kind) == f"\nAnswer with {' or '.join(sorted(YES_NO, reverse=True))}."
    lettered = {name for name, text in asked.items() if "Answer with the letter of the right " in text}
    assert lettered == {name for name in asked if KINDS[name].options}
