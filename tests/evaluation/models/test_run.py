import json
from pathlib import Path

from stressreel.evaluation.metrics.answers import YES_NO
from stressreel.evaluation.metrics.predictions import UNREADABLE, join, read_predictions
from stressreel.evaluation.models import Reply
from stressreel.evaluation.models.question_set import Question
from stressreel.evaluation.models.run import Call, predictions


def test_empty_replies_are_marked(tmp_path: Path) -> None:
    asked = [Question(name, "yes_no", {"id": name}, "Is it?", "", YES_NO, (), None) for name in ("q1", "q2")]
    replies = {f"blind|{name}": Reply(text) for name, text in (("q1", "Yes."), ("q2", " \n"))}
    rows = predictions([Call(question, "blind") for question in asked], replies, "f")
    assert [row.get("replied") for row in rows] == [None, True]
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert join(read_predictions(path), ["q1", "q2"]).picks.tolist() == [1, UNREADABLE]
