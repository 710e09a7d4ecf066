from pathlib import Path

from commands import rows
from stressreel.builders.causal.gallery import gallery
from stressreel.core.output import open_output
from stressreel.data_cards.gallery.answers import Answers
from stressreel.evaluation.metrics.predictions import Predictions

TABLE = "causal_confusion"


def test_options_say_where_they_come_from(built_causal: Path) -> None:
    found = gallery(open_output(built_causal), Answers())
    shown = {each.id: each for each in found.exhibits(range(found.count))}
    assert len(shown) == found.count
    clips = {row["clip_id"]: row["sha256"] for row in rows(built_causal, "clips")}
    for row in rows(built_causal, TABLE):
        content = shown[f"{TABLE}/{row['qid']}"].content
        assert content["film"] == clips[row["clip_id"]]
        answer, explanation = content["blocks"]
        assert (answer["right"], explanation["right"]) == (row["answer_index"], row["explanation_index"])
        for option, source in zip(answer["options"], row["sources"], strict=True):
            assert option["kind"] == source["kind"]
            assert option["numbers"] == [source["cos_question"], source["cos_text"], source["score"]]
            assert option["twin"] == (source["kind"] in ("negation", "swap"))


def test_answers_explanations_and_guesses_are_shown(built_causal: Path) -> None:
    given = [
        {"id": row["qid"], "answer": row["options"][row["answer_index"]], "explanation": row["explanation_options"][0]}
        for row in rows(built_causal, TABLE)
    ]
    first = given[0]["id"]
    guesses = [
        {"guesser": "one", "choice": 3, "asked": "answer"},
        {"guesser": "two", "choice": 1, "asked": "explanation"},
    ]
    answers = Answers(Predictions(Path("p.jsonl"), given), TABLE, guesses={f"{TABLE}/{first}": guesses})
    found = gallery(open_output(built_causal), answers)
    shown = {each.id: each for each in found.exhibits(range(found.count))}
    answer, explanation = shown[f"{TABLE}/{first}"].content["blocks"]
    assert [guess["guesser"] for guess in answer["guesses"]] == ["one"]
    assert [guess["guesser"] for guess in explanation["guesses"]] == ["two"]
    for name, each in shown.items():
        verdicts = [block["verdict"] for block in each.content["blocks"]]
        if not name.startswith(f"{TABLE}/"):
            assert verdicts == ["", ""]
            continue
        assert verdicts == ["right", "right" if each.content["blocks"][1]["right"] == 0 else "wrong"]
        asked = [(one.facets["asked"], one.verdict) for one in each.asked]
        assert asked == [("A", verdicts[0]), ("E", verdicts[1])]
