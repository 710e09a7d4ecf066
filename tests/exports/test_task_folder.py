"""Tasks of all harnesses: they ask as `ask` does, judge as `score` does, and say what they leave out."""

import hashlib
import io
import json
import shlex
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from commands import refuses, run, score_json, succeed
from PIL import Image
from stressreel.builders import benchmark_of
from stressreel.core.output import open_output
from stressreel.evaluation.metrics.answers import YES_NO
from stressreel.evaluation.models.clip_sources import Sampling, StoredClips
from stressreel.evaluation.models.question_set import Clip, questions_of_output
from stressreel.evaluation.tasks import KINDS, prompts
from stressreel.exports import frames, harness
from stressreel.video.pyav import MAJOR


@pytest.fixture
def use(monkeypatch, exported, tmp_path):
    """Lets `harness` work with the export of a benchmark, and a cache of its own."""

    def work_with(name):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setattr(harness, "HERE", exported("inspect", name))
        for cached in (harness.output, harness.rules, harness.places):
            cached.cache_clear()

    return work_with


@pytest.mark.parametrize("name", ["clavi", "causal", "perturbed", "decomp"])
def test_questions_equal_those_of_ask(name, asked, opened):
    output, found = opened[name], [one for task in asked(name).values() for one in task]
    questions = list(questions_of_output(output, benchmark_of(output).tasks(output, None)))
    assert len(found) == len(questions) > 10
    for one, question in zip(found, questions, strict=True):
        about, clip = one["metadata"], question.clip
        assert (one["input"], about["about"], about["column"]) == (question.text, question.about, question.column)
        assert (tuple(about["options"]), tuple(about["option_ids"])) == (question.options, question.option_ids)
        assert clip is not None
        assert about["video"] == {"table": clip.table, "key": dict(clip.key)}
        if question.options and one["target"]:
            right = {"raw": one["target"]} if question.option_ids else {question.column: one["target"]}
            named = question.predicted(question.options[about["right"]])
            assert question.predicted(one["target"]) == named | right
        else:
            assert about["right"] == -1


ODD = [
    *("A", "(b)", "A or B", "Answer: C", "I cannot tell.", "None of the above", "", "Z", "yes", "No, it was before."),
    *("yes and no", "2.0", "The answer is (A) because B is wrong", "D.", "unreadable: a"),
]
HEADLINES = {"clavi": ("questions", "accuracy"), "causal": ("ud_answer", "A")}
HEADLINES |= {"perturbed": ("clean", "accuracy clean"), "decomp": ("", "plain accuracy")}


@pytest.mark.parametrize("name", HEADLINES)
def test_answers_are_judged_as_by_score(name, asked, use, outputs, tmp_path):
    """What tasks log of right and of odd answers is scored to the accuracy that they show."""
    use(name)
    main, headline = HEADLINES[name]
    for folder in (tmp_path / "right", tmp_path / "odd"):
        folder.mkdir()
        shown = []
        for task, found in asked(name).items():
            judged = []
            for number, one in enumerate(found):
                about = one["metadata"]
                options = [*(about["options"] or ["no", "yes"])]
                said = [options[-1].upper() + ".", f"A. {options[1]}", " ".join(options), *ODD]
                unseen = about["option_ids"][about["right"] :][:1] or said  # an id, which models are not shown
                answers = [one["target"] or options[0], said[7 * number % len(said)], unseen[0]]
                response = answers[number % 3 if folder.name == "odd" else 0]
                judged.append(harness.result(one["metadata"], one["target"], response))
            lines = [json.dumps({"doc_id": number, **one}) for number, one in enumerate(judged)]
            (folder / f"1_samples_{task}.jsonl").write_text("\n".join(lines))
            if task.startswith(f"stressreel_{name}_{main}"):
                shown += [one.get("accuracy", one.get("exact")) for one in judged]
        scores = score_json(outputs[name], folder, *(("--config", "ud") if name == "causal" else ()))
        assert scores["headline"][headline]["value"] == pytest.approx(np.mean(shown))
        assert (np.mean(shown) == 1) == (folder.name == "right")
    assert np.mean(shown) > 0
    assert scores["answers"]["unreadable"] > 0


def test_videos_match_rows_and_damage_is_refused(opened, use, monkeypatch):
    use("clavi")
    for row in opened["clavi"].rows("videos", ["video_id", "sha256"], "test"):
        path = Path(harness.video_path("videos", {"video_id": row["video_id"]}))
        assert hashlib.sha256(path.read_bytes()).hexdigest() == row["sha256"]
    shutil.rmtree(harness.cache_folder())
    monkeypatch.setattr(harness.hashlib, "sha256", lambda content: hashlib.md5(content))
    with pytest.raises(ValueError, match="differs from the one that was built"):
        harness.copy_videos(str(opened["clavi"].shards("videos")[0]), 0)
    assert not list(harness.cache_folder().glob("*.mp4"))


def test_frames_equal_those_of_ask(opened, tmp_path):
    count, size = 3, 32
    row = next(opened["clavi"].rows("videos", ["video_id", "video"], "test"))
    (tmp_path / "a.mp4").write_bytes(row["video"]["bytes"])
    found = frames.sampled_frames(tmp_path / "a.mp4", count, size)
    clip = Clip("videos", (("video_id", row["video_id"]),))
    view = StoredClips(opened["clavi"]).view(clip, Sampling(count, size), whole=False)
    assert len(found) == len(view.pictures) == count
    assert MAJOR < 17 or found == view.jpegs
    for content, other in zip(found, view.jpegs, strict=True):  # colours are converted otherwise before
        shown, expected = (np.asarray(Image.open(io.BytesIO(file)), np.int16) for file in (content, other))
        assert np.abs(shown - expected).mean() < 2


def test_bad_arguments_are_refused(outputs, exported, tmp_path):
    new = tmp_path / "a"
    for code, arguments, said in (
        (1, (outputs["clavi"], "--to", exported("inspect", "clavi")), "already contains an export"),
        (2, (outputs["clavi"], "--to", new, "--split", "all"), "only one split at a time"),
        (2, (outputs["causal"], "--to", new, "--split", "dev"), "no split 'dev'"),
        (2, (outputs["clavi"], "--to", new, "--name", "a-b"), "--name"),
    ):
        refuses(run("stressreel", "export", "inspect", *arguments), said, code=code)
    assert not new.exists()


def test_printed_commands_name_split_table_and_folder(outputs, exported, tmp_path):
    folder = Path(shutil.copytree(exported("lmms-eval", "causal"), tmp_path / "a b"))
    (folder / "notes.yaml").write_text("theirs")
    again = ("--to", folder, "--force", "--split", "train")
    done = succeed("stressreel", "export", "inspect", outputs["causal"], *again)
    assert not {path.name for path in folder.glob("*.yaml")} - {"notes.yaml"}  # those of lmms-eval are removed
    (_, _, tasks, *_), *scores = [shlex.split(line) for line in done.out.strip().splitlines()[-4:]]
    assert not Path(tasks).is_absolute()  # which inspect-ai 0.3.285 refuses without a task's name
    assert (Path.cwd() / tasks).resolve() == (folder / "tasks.py").resolve()
    assert [line[line.index("--split") + 1] for line in scores] == ["train"] * 3
    assert [line[line.index("--config") + 1] for line in scores if "--config" in line] == ["ud", "un"]
    assert scores[-1][:3] == ["stressreel", "score", "open-ended"]
    assert len({line[line.index("--out") + 1] for line in scores}) == 3


def test_missing_shard_is_reported(built, tmp_path):
    out = Path(shutil.copytree(built, tmp_path / "out"))
    next((out / "questions").glob("test-*.parquet")).unlink()
    done = run("stressreel", "export", "lmms-eval", out, "--to", tmp_path / "tasks")
    refuses(done, "table questions, split test: found 0 rows, ", "stressreel verify")
    assert not (tmp_path / "tasks").exists()


def test_questions_without_clips_are_omitted_and_counted(outputs, tmp_path):
    out, to = Path(shutil.copytree(outputs["causal"], tmp_path / "out")), tmp_path / "to"
    asked = list(open_output(out).rows("ud", ["qid", "clip_id"], "test"))
    (shard,) = (out / "clips").glob("*.parquet")
    clips = pq.read_table(shard)
    pq.write_table(clips.filter([name != asked[0]["clip_id"] for name in clips.column("clip_id").to_pylist()]), shard)
    info = json.loads((out / "build.json").read_text())
    info["counts"]["clips"]["clips"] -= 1
    (out / "build.json").write_text(json.dumps(info))
    done = succeed("stressreel", "export", "inspect", out, "--to", to)
    assert f"Left out of ud, split test: 1 ({asked[0]['qid']}); their clips were skipped" in done.out
    assert "--config ud --split test --partial" in done.out
    assert asked[0]["qid"] in json.loads((to / "output.json").read_text())["left_out"]["ud"]
    lines = (to / "stressreel_causal_ud_answer.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [row["qid"] for row in asked[1:]]


def test_prompts_request_the_parsed_form():
    asked = {name: prompt["post_prompt"] for name, prompt in prompts()["prompts"].items()}
    assert set(asked) == set(KINDS)
    for kind in ("yes_no", "node_yes_no"):
        assert asked.pop(kind) == f"\nAnswer with {' or '.join(sorted(YES_NO, reverse=True))}."
    lettered = {name for name, text in asked.items() if "Answer with the letter of the right " in text}
    assert lettered == {name for name in asked if KINDS[name].options}
