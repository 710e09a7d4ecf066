"""Questions as a model gets them: of every benchmark, and of a user's file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import rows
from stressreel.builders import benchmark_of
from stressreel.builders.parts import tasks_of
from stressreel.core.errors import InputError, UsageError
from stressreel.core.output import open_output
from stressreel.evaluation.models.questions import (
    MODALITIES,
    Question,
    chosen_modalities,
    questions_of_file,
    questions_of_output,
)
from stressreel.evaluation.tasks import prompts


def questions(out: Path, split: str | None = None, **options: Any) -> list[Question]:
    output = open_output(out)
    return list(questions_of_output(output, tasks_of(benchmark_of(output), output, split), **options))


def written(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_clavi_is_asked_in_full(built: Path) -> None:
    found = questions(built)
    asked = {row["question_id"]: row for row in rows(built, "questions", "test")}
    assert [question.about["id"] for question in found] == list(asked)
    first = found[0]
    assert first.text == f"{asked[first.about['id']]['question']}\nAnswer with yes or no."
    assert first.unasked == "Answer with yes or no."
    assert first.clip is not None
    assert first.clip.key == (("video_id", asked[first.about["id"]]["video_id"]),)
    assert (first.about["config"], first.column, first.most_tokens) == ("questions", "answer", 16)


def test_causal_answers_and_explanations_are_asked(built_causal: Path) -> None:
    found = questions(built_causal)
    assert {question.kind for question in found} == {"answer", "explanation", "open_answer", "open_explanation"}
    explanation = next(question for question in found if question.kind == "explanation")
    row = next(r for r in rows(built_causal, "ud", "test") if r["qid"] == explanation.about["id"])
    assert explanation.options == tuple(row["explanation_options"])
    assert explanation.column == "explanation"
    assert all(option in explanation.text and option in explanation.unasked for option in explanation.options)
    assert row["question"] in explanation.text
    assert row["question"] not in explanation.unasked
    told = next(question for question in found if question.kind == "open_answer")
    assert told.options == ()
    assert told.most_tokens == prompts()["max_new_tokens"]["text"]


def test_every_scored_node_is_asked(built_graphs: Path) -> None:
    found = questions(built_graphs)
    assert {question.about["id"] for question in found} == {
        row["key"] for row in rows(built_graphs, "questions", "test") if not row["banned"]
    }
    assert {question.kind for question in found} == {"node_yes_no", "node"}


def test_settings_are_chosen_by_pattern(built_suite: Path) -> None:
    assert {"clean", "jpeg-1", "jpeg-3", "random_noun"} <= {each.about["setting"] for each in questions(built_suite)}
    chosen = questions(built_suite, settings=["clean", "jpeg-*"])
    names = {question.about["setting"] for question in chosen}
    assert {"clean", "jpeg-1", "jpeg-3"} <= names
    assert all(name == "clean" or name.startswith("jpeg-") for name in names)
    assert "random_noun" not in names
    found = questions(built_suite, settings=["clean", "jpeg-3"], limit=2)
    assert [question.about["setting"] for question in found] == ["clean"] * 2 + ["jpeg-3"] * 2
    with pytest.raises(UsageError, match="matches no setting"):
        questions(built_suite, settings=["clean", "blur-*"])


def test_a_caption_is_predicted_by_its_id_and_nothing_is_guessed(built_suite: Path) -> None:
    question = questions(built_suite, settings=["clean"], limit=1)[0]
    assert question.predicted("(B)") == {"answer": question.option_ids[1], "raw": "(B)"}
    assert question.predicted(question.options[2]) == {"answer": question.option_ids[2], "raw": question.options[2]}
    assert question.predicted("A or B") == {"answer": "unreadable: A or B", "raw": "A or B"}


def test_a_file_of_questions_is_read(tmp_path: Path) -> None:
    path = written(
        tmp_path / "q.jsonl",
        {"id": 1, "question": "Who?", "options": ["a man", "a dog"], "video_id": "v", "subtitles": "Hi!", "start": 1},
        {"id": 2, "question": "Is it?", "video_id": "w", "end": 2.5},
    )
    one, two = questions_of_file(path)
    assert one.text == "Who?\nA. a man\nB. a dog\nAnswer with the letter of the right option."
    spoken = "Subtitles of the video:\nHi!\n\n"
    said = {name: one.prompt(parts) for name, parts in MODALITIES.items()}
    unasked = f"{spoken}A. a man\nB. a dog\nAnswer with the letter of the right option."
    assert said == {
        **{"video": one.text, "text": spoken + one.text, "both": spoken + one.text, "blind": one.text},
        "unasked": unasked,
    }
    assert one.clip is not None
    assert (one.clip.start_s, one.clip.end_s) == (1.0, None)
    assert two.clip is not None
    assert (two.clip.start_s, two.clip.end_s) == (None, 2.5)
    assert two.options == ("no", "yes")
    assert two.text == "Is it?\nAnswer with yes or no."


def test_tvqa_s_columns_are_read(tmp_path: Path) -> None:
    row = {"qid": 7, "q": "What is it?", "vid_name": "s01e01_seg02_clip_00", "ts": "3.5-7", "answer_idx": 2}
    row |= {f"a{number}": f"thing {number}" for number in range(5)} | {"sub_text": "Look."}
    (found,) = questions_of_file(written(tmp_path / "tvqa.jsonl", row))
    assert found.about == {"id": "7"}
    assert found.options == tuple(f"thing {number}" for number in range(5))
    assert found.clip is not None
    assert found.clip.key == (("video_id", "s01e01_seg02_clip_00"),)
    assert (found.clip.start_s, found.clip.end_s) == (3.5, 7.0)
    assert found.subtitles == "Look."


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": "a"}, "no `question`"),
        ({"id": "a", "question": "Q?", "options": 3}, "the options of 'a'"),
        ({"id": "a", "question": "Q?", "start": 4, "end": 4}, "start before end"),
        ({"id": "a", "question": "Q?", "start": "soon"}, "expected times in seconds"),
        ({"id": "a", "question": "Q?", "ts": "1"}, "expected times in seconds"),
        ({"id": "a", "question": "Q?", "start": "nan"}, "expected times in seconds"),
        ({"id": "", "question": "Q?"}, "has no id"),
    ],
)
def test_odd_rows_are_refused(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    path = written(tmp_path / "q.jsonl", row)
    with pytest.raises(InputError, match=said):
        questions_of_file(path)


@pytest.mark.parametrize(
    ("times", "start"), [({"ts": "nan-nan"}, None), ({"start": "", "end": ""}, None), ({"start": "", "ts": "1-2"}, 1.0)]
)
def test_unknown_times_mean_the_whole_clip(tmp_path: Path, times: dict[str, str], start: float | None) -> None:
    row = {"id": 1, "question": "Q?", "video_id": "v", **times}
    (found,) = questions_of_file(written(tmp_path / "q.jsonl", row))
    assert found.clip is not None
    assert (found.clip.start_s, found.clip.end_s) == (start, None if start is None else 2.0)


def test_modalities_are_those_that_are_there(tmp_path: Path, built: Path) -> None:
    silent = questions(built, limit=1)
    assert chosen_modalities((), silent) == ["video"]
    assert chosen_modalities(("blind", "video"), silent) == ["blind", "video"]
    for wrong in ("text", "both", "sound", "video video"):
        with pytest.raises(UsageError):
            chosen_modalities(wrong.split(), silent)
    spoken = questions_of_file(written(tmp_path / "q.jsonl", {"id": 1, "question": "Who?", "subtitles": "Hi!"}))
    assert chosen_modalities((), spoken) == ["both"]
    assert chosen_modalities(("video", "text", "both"), spoken) == ["video", "text", "both"]
