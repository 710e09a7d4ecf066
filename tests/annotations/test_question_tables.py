from collections.abc import Callable
from pathlib import Path

from stressreel.annotations.question_tables import Question, read_questions
from stressreel.annotations.samples.causal import write_causal_annotations

Write = Callable[..., Path]


def test_groups_and_optional_columns_are_read(write: Write) -> None:
    path = write(
        "q.csv",
        "id,question,answer,explanation,group,split,more",
        "a,Why  so?,It fell.,Gravity.,v1,train,x",
        "b,How?,By car.,There was one.,v1,test,y",
        "c,When?,Then.,Time.,v2,test,z",
    )
    read = read_questions(path)
    assert read.questions[0] == Question("a", "Why so?", "It fell.", "Gravity.", "train")
    assert [set(read.kept_apart[question.id]) - {question.id} for question in read.questions] == [{"b"}, {"a"}, set()]
    assert (read.counts["groups"], read.counts["splits"]) == (2, 2)


def test_columns_may_be_absent_or_renamed(write: Write) -> None:
    path = write("q.jsonl", '{"n": 7, "q": "Why?", "a": 3}')
    read = read_questions(path, {"id": "n", "question": "q", "answer": "a"})
    assert read.questions == (Question("7", "Why?", "3", "", ""),)
    assert read.kept_apart == {}


def test_released_layout_is_recognised(tmp_path: Path) -> None:
    read = read_questions(write_causal_annotations(tmp_path))
    assert len(read.questions) == 60
    assert read.questions[0].explanation
    assert read.kept_apart["1"] == ("2",)
