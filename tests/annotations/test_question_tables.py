from stressreel.annotations.question_tables import Question, read_questions
from stressreel.annotations.samples.causal import write_causal_annotations


def test_questions_have_groups_and_renamed_columns(write, tmp_path):
    header = "id,question,answer,explanation,group,split,more"
    rows = "a,Why  so?,It fell.,Gravity.,v1,train,x", "b,How?,By car.,There.,v1,test,y", "c,When?,Then.,Time.,v2,test,z"
    read = read_questions(write("q.csv", header, *rows))
    assert read.questions[0] == Question("a", "Why so?", "It fell.", "Gravity.", "train")
    assert [set(read.kept_apart[question.id]) - {question.id} for question in read.questions] == [{"b"}, {"a"}, set()]
    assert (read.counts["groups"], read.counts["splits"]) == (2, 2)
    few = read_questions(write("q.jsonl", '{"n": 7, "q": "Why?", "a": 3}'), {"id": "n", "question": "q", "answer": "a"})
    assert (few.questions, few.kept_apart) == ((Question("7", "Why?", "3", "", ""),), {})
    released = read_questions(write_causal_annotations(tmp_path))  # the layout of CausalChaos
    assert (len(released.questions), released.kept_apart["1"]) == (60, ("2",))
    assert released.questions[0].explanation
