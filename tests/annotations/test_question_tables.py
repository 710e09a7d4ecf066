from pathlib import Path

from stressreel.annotations.question_tables import Question, read_questions
from stressreel.annotations.samples.causal import write_causal_annotations


def write(folder: Path, *lines: str, name: str = "q.csv") -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_table_with_everything(tmp_path: Path) -> None:
    lines = [
        "id,question,answer,explanation,group,split,more",
        "a,Why  so?,It fell.,Gravity.,v1,train,x",
        "b,How?,By car.,There was one.,v1,test,y",
        "c,When?,Then.,Time.,v2,test,z",
    ]
    read = read_questions(write(tmp_path, *lines))
    assert read.questions[0] == Question("a", "Why so?", "It fell.", "Gravity.", "train")
    assert [set(read.kept_apart[one.id]) - {one.id} for one in read.questions] == [{"b"}, {"a"}, set()]
    assert read.counts["groups"] == 2
    assert read.counts["splits"] == 2


def test_what_is_optional_may_be_absent_and_names_may_differ(tmp_path: Path) -> None:
    read = read_questions(
        write(tmp_path, '{"n": 7, "q": "Why?", "a": 3}', name="q.jsonl"), {"id": "n", "question": "q", "answer": "a"}
    )
    assert read.questions == (Question("7", "Why?", "3", "", ""),)
    assert read.kept_apart == {}


def test_the_release_s_layout_is_known(tmp_path: Path) -> None:
    read = read_questions(write_causal_annotations(tmp_path))
    assert len(read.questions) == 60
    assert read.questions[0].explanation
    assert read.kept_apart["1"] == ("2",)
