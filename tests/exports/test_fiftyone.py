"""The example for FiftyOne in docs/share.md, run with the real package."""

import json
import os
import subprocess

import pytest
from pages import python_blocks

# fiftyone brings 120 packages and a database, so it is installed in an environment of its own: see CONTRIBUTING.md.
PYTHON = os.environ.get("STRESSREEL_FIFTYONE_PYTHON", "")
WITHOUT_DATABASE = """
import fiftyone
try:
    fiftyone.list_datasets()
except fiftyone.core.config.FiftyOneConfigError:
    class Samples(list):
        add_sample = list.append
    fiftyone.Dataset = lambda name: Samples()
"""
SHOW = """
found = {
    Path(sample.filepath).name: {
        "variant": sample.variant,
        "questions": [[label.question, label.label] for label in sample.questions.classifications],
        "actions": [[segment.label, segment.support] for segment in sample.actions.detections],
    }
    for sample in dataset
}
print(json.dumps(found))
"""


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.full
def test_fiftyone_example_has_labels_and_segments(exported, tmp_path):
    """Where FiftyOne cannot download its database, a list holds the samples that it makes."""
    if not PYTHON:
        pytest.skip("no FiftyOne: see CONTRIBUTING.md, STRESSREEL_FIFTYONE_PYTHON")
    files = exported("files", "clavi")
    (tmp_path / "files").symlink_to(files)
    (example,) = (block for block in python_blocks("docs/share.md") if "import fiftyone" in block)
    code = f"from pathlib import Path\n{WITHOUT_DATABASE}\n{example}\n{SHOW}"
    environment = {**os.environ, "HOME": str(tmp_path / "home"), "FIFTYONE_DO_NOT_TRACK": "true"}
    done = subprocess.run([PYTHON, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    videos = lines(files / "videos" / "test" / "metadata.jsonl")
    questions = lines(files / "questions" / "test.jsonl")
    pairs = {row["pair_id"]: row for row in lines(files / "pairs" / "test.jsonl")}
    assert found.keys() == {video["file_name"] for video in videos}
    for video in videos:
        shown, pair = found[video["file_name"]], pairs[video["pair_id"]]
        asked = [[row["question"], row["answer"]] for row in questions if row["video_id"] == video["video_id"]]
        assert shown["questions"] == asked != []
        phrases, ((start, end), (next_start, last)) = zip(*shown["actions"], strict=True)
        order = ["phrase_a", "phrase_b"]
        assert list(phrases) == [pair[name] for name in (order if video["variant"] == "original" else order[::-1])]
        assert (start, last) == (1, video["num_frames"])
        assert end < next_start
