import json
from pathlib import Path

import pytest
from stressreel.language.hub import local_model


def test_cached_model_is_used_once_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    commit, repository = "a" * 40, tmp_path / "models--org--model"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(commit)
    snapshot = repository / "snapshots" / commit
    snapshot.mkdir(parents=True)
    parts = ["model-1-of-2.safetensors", "model-2-of-2.safetensors"]
    index = {"weight_map": {"head": parts[0], "tail": parts[1], "bias": parts[1]}}
    (snapshot / "model.safetensors.index.json").write_text(json.dumps(index))
    for name in ("config.json", *parts):
        assert local_model("org/model", "", "") is None
        (snapshot / name).touch()
    model = local_model("org/model", "", "")
    assert (model.folder, model.revision) == (snapshot, commit)
