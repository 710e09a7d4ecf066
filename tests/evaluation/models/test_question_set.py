import json
from pathlib import Path
from typing import Any

import pytest
from commands import rows
from stressreel.builders import benchmark_of
from stressreel.core.errors import InputError, UsageError
from stressreel.core.output import open_output
from stressreel.evaluation.metrics.answers import YES_NO
from stressreel.evaluation.metrics.predictions import UNREADABLE, join, read_predictions
from stressreel.evaluation.models import Reply
from stressreel.evaluation.models.question_set import (
    MODALITIES,
    Clip,
    Question,
    chosen_modalities,
    questions_of_file,
    questions_of_output,
)
from stressreel.evaluation.models.run import Call, predictions


def questions(out: Path, split: str | None = None, **options: Any) -> list[Question]:
    output = open_output(out)
    return list(questions_of_output(output, benchmark_of(output).tasks(output, split), **options))


def written(folder: Path, *lines: dict[str, Any]) -> Path:
    path = folder / "q.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_every_scored_question_is_asked(built_graphs: Path) -> None:
    found = questions(built_graphs)
    scored = {row["key"] for row in rows(built_graphs, "questions", "test") if not row["banned"]}
    assert {question.about["id"] for question in found} == scored
    assert {question.kind for question in found} == {"node_yes_no", "node"}


def test_settings_are_selected_by_pattern(built_suite: Path) -> None:
    every = {each.about["setting"] for each in questions(built_suite)}
    chosen = {each.about["setting"] for each in questions(built_suite, settings=["clean", "jpeg-*"])}
    assert {"clean", "jpeg-1", "jpeg-3"} <= chosen < every
    assert chosen == {name for name in every if name == "clean" or name.startswith("jpeg-")}
    found = questions(built_suite, settings=["clean", "jpeg-3"], limit=2)
    assert [question.about["setting"] for question in found] == ["clean"] * 2 + ["jpeg-3"] * 2
    with pytest.raises(UsageError, match="matches no setting"):
        questions(built_suite, settings=["clean", "blur-*"])
    # A caption is predicted by its id, and nothing is guessed.
    said = [found[0].predicted(answer)["answer"] for answer in ("(B)", found[0].options[2], "A or B")]
    assert said == [*found[0].option_ids[1:3], "unreadable: A or B"]


def test_file_of_questions_is_read(tmp_path: Path) -> None:
    own = {"id": 1, "question": "Who?", "options": ["a man", "a dog"], "video_id": "v", "subtitles": "Hi!", "start": 1}
    tvqa = {"qid": 7, "q": "What is it?", "vid_name": "s01e01_seg02_clip_00", "ts": "3.5-7", "answer_idx": 2}
    tvqa |= {f"a{number}": f"thing {number}" for number in range(5)} | {"sub_text": "Look."}
    one, two = questions_of_file(written(tmp_path, own, {"id": 2, "question": "Is it?", "video_id": "w", "end": 2.5}))
    asked = "A. a man\nB. a dog\nAnswer with the letter of the right option."
    heard = "Subtitles of the video:\nHi!\n\n"
    assert {name: one.prompt(parts) for name, parts in MODALITIES.items()} == {
        **dict.fromkeys(("video", "blind"), f"Who?\n{asked}"),
        **dict.fromkeys(("text", "both"), f"{heard}Who?\n{asked}"),
        "unasked": f"{heard}{asked}",
    }
    assert (two.options, two.text) == (("no", "yes"), "Is it?\nAnswer with yes or no.")
    assert [(each.clip.start_s, each.clip.end_s) for each in (one, two)] == [(1.0, None), (None, 2.5)]
    (found,) = questions_of_file(written(tmp_path, tvqa))
    assert (found.about, found.options[4], found.subtitles) == ({"id": "7"}, "thing 4", "Look.")
    assert found.clip == Clip("", (("video_id", "s01e01_seg02_clip_00"),), 3.5, 7.0)
    unknown = {"id": 1, "question": "Q?", "video_id": "v", "start": "", "ts": "nan-nan"}  # the whole clip
    (found,) = questions_of_file(written(tmp_path, unknown))
    assert (found.clip.start_s, found.clip.end_s) == (None, None)


def test_invalid_rows_are_refused(tmp_path: Path) -> None:
    for row, said in (
        ({}, "no `question`"),
        ({"question": "Q?", "options": 3}, "the options of 'a'"),
        ({"question": "Q?", "start": 4, "end": 4}, "start before end"),
        ({"question": "Q?", "ts": "soon"}, "expected times in seconds"),
    ):
        with pytest.raises(InputError, match=said):
            questions_of_file(written(tmp_path, {"id": "a", **row}))


def test_modalities_default_to_all_available(tmp_path: Path) -> None:
    (silent,) = questions_of_file(written(tmp_path, {"id": 1, "question": "Who?", "video_id": "v"}))
    (spoken,) = questions_of_file(written(tmp_path, {"id": 1, "question": "Who?", "subtitles": "Hi!"}))
    assert [chosen_modalities((), [each]) for each in (silent, spoken)] == [["video"], ["both"]]
    assert chosen_modalities(("video", "text", "both"), [spoken]) == ["video", "text", "both"]
    for wrong in ("text", "both", "sound", "video video"):
        with pytest.raises(UsageError):
            chosen_modalities(wrong.split(), [silent])


def test_empty_replies_are_unreadable_answers(tmp_path: Path) -> None:
    asked = [Question(name, "yes_no", {"id": name}, "Is it?", "", YES_NO, (), None) for name in ("q1", "q2")]
    replies = {f"blind|{name}": Reply(text) for name, text in (("q1", "Yes."), ("q2", " \n"))}
    rows = predictions([Call(question, "blind") for question in asked], replies, "f")
    assert [row.get("replied") for row in rows] == [None, True]
    assert join(read_predictions(written(tmp_path, *rows)), ["q1", "q2"]).picks.tolist() == [1, UNREADABLE]
