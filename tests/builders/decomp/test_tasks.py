"""Question graphs as tasks of a harness: its logs are scored as its answers are."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

from commands import rows, run


def load(folder: Path) -> Any:
    spec = importlib.util.spec_from_file_location("node_utils", folder / "utils.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_scored_question_is_asked_and_right_answers_are_right(drawn: Path, tmp_path: Path) -> None:
    done = run("stressreel", "export", "lmms-eval", drawn, "--to", tmp_path / "tasks")
    assert done.code == 0, done.err
    module, logs, asked = load(tmp_path / "tasks"), tmp_path / "logs", set[str]()
    logs.mkdir()
    for name, kind in (("yes_no", "node_yes_no"), ("words", "node")):
        docs = [
            json.loads(line)
            for line in (tmp_path / "tasks" / f"stressreel_decomp_{name}.jsonl").read_text().splitlines()
        ]
        asked |= {doc["id"] for doc in docs}
        results = [getattr(module, f"{kind}_results")(doc, [f"{doc['answer'] or 'yes'}."]) for doc in docs]
        known = [found for found, doc in zip(results, docs, strict=True) if doc["answer"]]
        assert len(known) > 10
        assert all(found["accuracy"] == 1.0 for found in known)
        assert all(getattr(module, f"{kind}_results")(doc, [""])["accuracy"] == 0.0 for doc in docs)
        assert getattr(module, f"{kind}_target")(docs[0]) == docs[0]["answer"]
        lines = [json.dumps({"doc_id": number, **found}) + "\n" for number, found in enumerate(results)]
        (logs / f"0_samples_{name}.jsonl").write_text("".join(lines))
    assert asked == {row["key"] for row in rows(drawn, "questions", "test") if not row["banned"]}
    found = run("stressreel", "score", drawn, "--predictions", logs, "--json", "--resamples", 100)
    assert found.code == 0, found.err
    assert json.loads(found.out)["headline"]["accuracy"]["value"] == 1.0
    assert json.loads(found.out)["answers"]["unreadable"] == 0
