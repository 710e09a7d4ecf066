from pathlib import Path
from typing import Any

from commands import rows
from stressreel.builders.causal.gallery import gallery
from stressreel.core.output import open_output
from stressreel.data_cards.gallery.answers import Answers
from stressreel.data_cards.gallery.exhibits import Exhibit
from stressreel.evaluation.metrics.predictions import Predictions

TABLE = "causal_confusion"


def shown(out: Path, answers: Answers) -> dict[str, Exhibit]:
    found = gallery(open_output(out), answers)
    exhibits = {each.id: each for each in found.exhibits(range(found.count))}
    assert len(exhibits) == found.count
    return exhibits


def test_options_say_where_they_come_from(built_causal: Path) -> None:
    exhibits = shown(built_causal, Answers())
    clips = {row["clip_id"]: row["sha256"] for row in rows(built_causal, "clips")}
    for row in rows(built_causal, TABLE):
        content = exhibits[f"{TABLE}/{row['qid']}"].content
        assert content["film"] == clips[row["clip_id"]]
        answer, explanation = content["blocks"]
        assert (answer["right"], explanation["right"]) == (row["answer_index"], row["explanation_index"])
        for option, source in zip(answer["options"], row["sources"], strict=True):
            assert option["kind"] == source["kind"]
            assert option["numbers"] == [source["cos_question"], source["cos_text"], source["score"]]
            assert option["twin"] == (source["kind"] in ("negation", "swap"))


def test_answers_explanations_and_guesses_are_shown(built_causal: Path) -> None:
    given: list[dict[str, Any]] = [
        {"id": row["qid"], "answer": row["options"][row["answer_index"]], "explanation": row["explanation_options"][0]}
        for row in rows(built_causal, TABLE)
    ]
    first = f"{TABLE}/{given[0]['id']}"
    guesses = [{"guesser": asked[0], "choice": 1, "asked": asked} for asked in ("answer", "explanation")]
    exhibits = shown(built_causal, Answers(Predictions(Path("p.jsonl"), given), TABLE, guesses={first: guesses}))
    guessers = [[guess["guesser"] for guess in block["guesses"]] for block in exhibits[first].content["blocks"]]
    assert guessers == [["a"], ["e"]]
    for name, each in exhibits.items():
        verdicts = [block["verdict"] for block in each.content["blocks"]]
        of_table, right_explained = name.startswith(f"{TABLE}/"), each.content["blocks"][1]["right"] == 0
        assert verdicts == (["right", "right" if right_explained else "wrong"] if of_table else ["", ""])
        asked = [(one.facets["asked"], one.verdict) for one in each.asked]
        assert not of_table or asked == [("A", verdicts[0]), ("E", verdicts[1])]
