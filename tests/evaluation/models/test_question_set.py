import json
from pathlib import Path
from typing import Any

import pytest
from commands import rows
from stressreel.builders import benchmark_of
from stressreel.core.errors import InputError, UsageError
from stressreel.core.output import open_output
from stressreel.evaluation.models.question_set import (
    MODALITIES,
    Clip,
    Question,
    chosen_modalities,
    questions_of_file,
    questions_of_output,
)


def questions(out: Path, split: str | None = None, **options: Any) -> list[Question]:
    output = open_output(out)
    return list(questions_of_output(output, benchmark_of(output).tasks(output, split), **options))


def written(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_every_scored_node_is_asked(built_graphs: Path) -> None:
    found = questions(built_graphs)
    scored = {row["key"] for row in rows(built_graphs, "questions", "test") if not row["banned"]}
    assert {question.about["id"] for question in found} == scored
    assert {question.kind for question in found} == {"node_yes_no", "node"}


def test_every_clavi_question_is_asked(built: Path) -> None:
    found = questions(built)
    asked = list(rows(built, "questions", "test"))
    assert [question.about["id"] for question in found] == [row["question_id"] for row in asked]
    assert [question.text for question in found] == [f"{row['question']}\nAnswer with yes or no." for row in asked]
    assert [question.clip.key for question in found] == [(("video_id", row["video_id"]),) for row in asked]
    assert (found[0].about["config"], found[0].column, found[0].most_tokens) == ("questions", "answer", 16)


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
    said = {answer: found[0].predicted(answer)["answer"] for answer in ("(B)", found[0].options[2], "A or B")}
    assert [*said.values()] == [*found[0].option_ids[1:3], "unreadable: A or B"]


def test_file_of_questions_is_read(tmp_path: Path) -> None:
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
    heard = {"text": spoken + one.text, "both": spoken + one.text}
    assert said == {"video": one.text, **heard, "blind": one.text, "unasked": unasked}
    assert [(each.clip.start_s, each.clip.end_s) for each in (one, two)] == [(1.0, None), (None, 2.5)]
    assert two.options == ("no", "yes")
    assert two.text == "Is it?\nAnswer with yes or no."


def test_tvqa_columns_are_read(tmp_path: Path) -> None:
    row = {"qid": 7, "q": "What is it?", "vid_name": "s01e01_seg02_clip_00", "ts": "3.5-7", "answer_idx": 2}
    row |= {f"a{number}": f"thing {number}" for number in range(5)} | {"sub_text": "Look."}
    (found,) = questions_of_file(written(tmp_path / "tvqa.jsonl", row))
    assert found.about == {"id": "7"}
    assert found.options == tuple(f"thing {number}" for number in range(5))
    assert found.clip == Clip("", (("video_id", "s01e01_seg02_clip_00"),), 3.5, 7.0)
    assert found.subtitles == "Look."


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": "a"}, "no `question`"),
        ({"id": "a", "question": "Q?", "options": 3}, "the options of 'a'"),
        ({"id": "a", "question": "Q?", "start": 4, "end": 4}, "start before end"),
        ({"id": "a", "question": "Q?", "start": "soon"}, "expected times in seconds"),
        ({"id": "a", "question": "Q?", "ts": "1"}, "expected times in seconds"),
        ({"id": "", "question": "Q?"}, "has no id"),
    ],
)
def test_invalid_rows_are_refused(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    path = written(tmp_path / "q.jsonl", row)
    with pytest.raises(InputError, match=said):
        questions_of_file(path)


def test_unknown_times_mean_the_whole_clip(tmp_path: Path) -> None:
    row = {"question": "Q?", "video_id": "v", "start": ""}
    rows = [{**row, "id": 1, "ts": "nan-nan"}, {**row, "id": 2, "ts": "1-2"}]
    found = questions_of_file(written(tmp_path / "q.jsonl", *rows))
    assert [(each.clip.start_s, each.clip.end_s) for each in found] == [(None, None), (1.0, 2.0)]


def test_modalities_default_to_all_available(tmp_path: Path, built: Path) -> None:
    silent = questions(built, limit=1)
    assert chosen_modalities((), silent) == ["video"]
    assert chosen_modalities(("blind", "video"), silent) == ["blind", "video"]
    for wrong in ("text", "both", "sound", "video video"):
        with pytest.raises(UsageError):
            chosen_modalities(wrong.split(), silent)
    spoken = questions_of_file(written(tmp_path / "q.jsonl", {"id": 1, "question": "Who?", "subtitles": "Hi!"}))
    assert chosen_modalities((), spoken) == ["both"]
    assert chosen_modalities(("video", "text", "both"), spoken) == ["video", "text", "both"]
