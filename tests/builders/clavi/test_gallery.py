from pathlib import Path

from commands import rows
from stressreel.builders.clavi.gallery import gallery
from stressreel.core.output import open_output
from stressreel.data_cards.gallery.answers import Answers
from stressreel.evaluation.metrics.predictions import Predictions


def test_exhibit_shows_pieces_and_all_questions(built: Path) -> None:
    output = open_output(built)
    found = gallery(output, Answers())
    pairs = list(output.rows("pairs"))
    assert found.count == len(pairs)
    films = {row["video_id"]: row for row in rows(built, "videos")}
    for pair, shown in zip(pairs, found.exhibits(range(found.count)), strict=True):
        assert shown.id == pair["pair_id"]
        first, second = shown.content["variants"]
        length = films[f"{pair['pair_id']}_1"]["num_frames"]
        assert [piece["name"] for piece in first["pieces"] if piece["name"] != "filler"] == ["A", "B"]
        assert [piece["name"] for piece in second["pieces"] if piece["name"] != "filler"] == ["B", "A"]
        edges = [edge for piece in first["pieces"] for edge in (piece["start"], piece["stop"])]
        assert (edges[0], edges[-1]) == (0, length)
        assert edges[1:-1:2] == edges[2::2]
        assert [film.sha256 for film in shown.films] == [films[f"{pair['pair_id']}_{n}"]["sha256"] for n in (1, 2)]
        questions = shown.content["questions"]
        assert len(questions) == 19
        assert sum(question["control"] for question in questions) == 9
        for number, question in enumerate(questions):
            answers = [each["answer"] for each in question["answers"]]
            assert (answers[0] != answers[1]) == question["flips"]
            if question["opposite"] is not None:
                assert questions[question["opposite"]]["opposite"] == number


def test_answers_are_judged_question_by_question(built: Path) -> None:
    given = [{"id": row["question_id"], "answer": "yes"} for row in rows(built, "questions", "test")]
    found = gallery(open_output(built), Answers(Predictions(Path("p.jsonl"), given)))
    for shown in found.exhibits(range(found.count)):
        verdicts = [each.verdict for each in shown.asked]
        if shown.facets["split"] == ["train"]:
            assert set(verdicts) == {""}
            continue
        right = [each["answer"] == "yes" for row in shown.content["questions"] for each in row["answers"]]
        assert verdicts.count("right") == sum(right)
        assert verdicts.count("wrong") == len(right) - sum(right)
