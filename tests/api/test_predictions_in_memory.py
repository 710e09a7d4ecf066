"""Functions that take predictions accept rows in memory, with the results of a file."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import stressreel
from stressreel.core.errors import InputError, UsageError
from stressreel.evaluation.metrics.predictions import IN_MEMORY


@pytest.fixture(scope="module")
def ids(built: Path) -> list[str]:
    return stressreel.read(built).items().ids


@pytest.fixture
def file(ids: list[str], tmp_path: Path) -> Path:
    path = tmp_path / "yes.jsonl"
    path.write_text("".join(json.dumps({"id": name, "answer": "yes"}) + "\n" for name in ids))
    return path


def test_rows_are_scored_as_a_file_is(built: Path, ids: list[str], file: Path) -> None:
    wanted = {**stressreel.score(built, file).as_json(), "predictions": None}
    out = stressreel.read(built)
    for rows in (
        dict.fromkeys(ids, "yes"),
        {"qid": ids, "pred": [1] * len(ids)},
        pd.DataFrame({"id": ids, "answer": 1}),
    ):
        assert {**stressreel.score(out, rows).as_json(), "predictions": None} == wanted
    assert stressreel.score(out, out.load("questions", "test")).headline["accuracy"].value == 1


def test_missing_answers_are_refused_and_counted(built: Path, ids: list[str]) -> None:
    rest = ["yes"] * (len(ids) - 3)
    frame = pd.DataFrame({"id": ids, "answer": [None, float("nan"), pd.NA, *rest]})
    with pytest.raises(InputError, match=rf"the DataFrame: 3 of {len(ids)} .*{ids[0]}, {ids[1]}, {ids[2]}"):
        stressreel.score(built, frame)
    texts = [{"Sample": name, "Output": said} for name, said in zip(ids, ["", "NaN", "null", *rest], strict=True)]
    assert stressreel.score(built, frame, partial=True).answers["missing"] == 3
    columns = {"id": "sample", "answer": "output"}
    assert stressreel.score(built, texts, columns=columns, partial=True).answers["missing"] == 3
    for rows, says in (([], "contains no predictions"), ([{"id": ids[0], "anwser": "yes"}], "the list: .*'answer'")):
        with pytest.raises(InputError, match=says):
            stressreel.score(built, rows)


def test_scores_are_compared_without_folders(built: Path, ids: list[str], tmp_path: Path) -> None:
    yes, no = (stressreel.score(built, dict.fromkeys(ids, answer), to=tmp_path / answer) for answer in ("yes", "no"))
    again = stressreel.score(built, pd.DataFrame({"id": ids, "answer": "yes"}), to=tmp_path / "yes")
    assert again.about["predictions"] == yes.about["predictions"]
    with pytest.raises(InputError, match=IN_MEMORY):
        stressreel.score(built, dict.fromkeys(ids, "no"), to=tmp_path / "yes")
    wanted = [gap.difference for gap in stressreel.compare(tmp_path / "yes", tmp_path / "no").differences]
    for other in (no, tmp_path / "no"):
        assert [gap.difference for gap in stressreel.compare(yes, other).differences] == wanted
    assert stressreel.compare(yes, no).models == (f"{IN_MEMORY} 1", f"{IN_MEMORY} 2")
    folders = {"a": tmp_path / "yes", "b": [tmp_path / "yes", tmp_path / "no"]}
    assert str(stressreel.compare({"a": yes, "b": [yes, no]})) == str(stressreel.compare(folders))
    with pytest.raises(UsageError, match="Verification"):
        stressreel.compare(yes, stressreel.verify(built, decode=False))


def test_other_functions_take_rows(built: Path, ids: list[str], file: Path, tmp_path: Path) -> None:
    rows = [{"id": name, "answer": "yes"} for name in ids]
    pages = stressreel.gallery(built, to=tmp_path / "gallery", predictions=rows, embed="none", progress=False)
    assert pages.answered == pages.shown
    given: dict[str, Any] = {"video": rows, "text": pd.DataFrame(rows), "video+text": dict.fromkeys(ids, "yes")}
    importance = stressreel.score_modalities(built, given)
    assert importance.category == stressreel.score_modalities(built, dict.fromkeys(given, file)).category
    with pytest.raises(InputError, match="the list of text: "):
        stressreel.score_modalities(built, {**given, "text": rows[:3]})
    permuted = stressreel.permute(built, to=tmp_path / "p.jsonl", sets=2).to_pandas()[["permuted", "seed", "id"]]
    permuted["answer"] = "yes"
    found = stressreel.score_permuted(built, original=rows, permuted=permuted)
    assert found.table.rows == stressreel.score_permuted(built, original=file, permuted=permuted).table.rows
    two = stressreel.score_permuted(built, original=[rows, pd.DataFrame(rows)], permuted=permuted)
    assert {"run 1", "run 2"} <= set(two.answers)


def test_generated_texts_and_explanations_are_rows_too(built_graphs: Path, tmp_path: Path) -> None:
    references = tmp_path / "references.jsonl"
    references.write_text('{"id": "a", "answer": "it was raining", "source_id": "v"}\n')
    options: dict[str, Any] = {"no_sbert": True, "meteor": "nltk"}
    with pytest.raises(InputError, match="the dict: `answer` of 'a' is 3"):
        stressreel.score_open_ended(references, {"a": 3}, **options)
    assert stressreel.score_open_ended(references, {"a": "it was raining"}, **options).answers["scored"] == 1
    items = stressreel.read(built_graphs).items()
    root = next(name for name in items.ids if "_" not in name)
    text = str(stressreel.explain(built_graphs, dict.fromkeys(items.ids, "yes"), question=root))
    assert items.texts[items.ids.index(root)] in text
