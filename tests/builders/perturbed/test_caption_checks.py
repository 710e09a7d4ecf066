"""Every check of captions and combinations fails on a good build that is broken in its way."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stressreel.builders.perturbed.caption_checks import lacking_tools, text_checks
from stressreel.builders.perturbed.captions import text_tools
from stressreel.corruptions.registry import check_text_name
from stressreel.corruptions.text.tools import Tools
from stressreel.records.output import FinishedOutput, open_output
from stressreel.runtime.verify import run_checks

Row = dict
TEXTS = "no_verbs,random_noun,shuffle_order"


@pytest.fixture(scope="module")
def suite(once: Callable[..., Path], build_once: Callable[..., Path]) -> Path:
    lines = ["video,caption", "film,a man rides a horse", "film,the red car", "other,two dogs play in the snow"]
    captions = once("three_captions.csv", lambda path: path.write_text("\n".join(lines)))
    arguments = ("--modality", "all", "--text-perturbations", TEXTS, "--perturbations", "jpeg,jumble,freeze")
    given = ("--captions", captions, *arguments, "--severity", "2,3", "--tagger", "pattern", "--no-render")
    return build_once("build-perturbed", *given)


@pytest.fixture
def copy(suite: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(suite, tmp_path / "copy"))


def rewrite(out: Path, name: str, change: Callable[[list[Row]], object]) -> None:
    path = next((out / name).glob("*.parquet"))
    table = pq.read_table(path)
    found = table.to_pylist()
    change(found)
    pq.write_table(pa.Table.from_pylist(found, schema=table.schema), path)


def problems(output: FinishedOutput, name: str) -> list[str]:
    (outcome,) = run_checks(output, {name: text_checks(output.info)[name]})
    assert not any("could not be checked" in problem for problem in outcome.problems)
    return list(outcome.problems)


def at(number: int, **values: object) -> Callable[[list[Row]], object]:
    return lambda rows: rows[number].update(values)


def lose(rows: list[Row]) -> None:
    rows.pop()


def repeat(rows: list[Row]) -> None:
    rows.append(rows[0])


def swap_captions(rows: list[Row]) -> None:
    rows[0]["caption"], rows[2]["caption"] = rows[2]["caption"], rows[0]["caption"]


BREAKS: list[tuple[str, str, Callable[[list[Row]], object], str]] = [
    ("captions", "no_verbs", at(0, original="a man rides"), "no_verbs: film#0 is 'a man rides' of clip film in test"),
    ("captions", "random_noun", at(0, clip_id="other"), "of clip other in test; it should be 'a man rides a horse'"),
    ("captions", "no_verbs", at(1, caption_id="film#7"), "film#7 is no caption of clean"),
    ("captions", "shuffle_order", lose, "shuffle_order: caption other#0 comes 0 times"),
    ("captions", "no_verbs", repeat, "no_verbs: caption film#0 comes 2 times"),
    ("captions", "clean", at(0, captions=["a man", "the red car"]), "it should be 'a man' of clip film"),
    ("changed", "no_verbs", at(0, caption="a man rides a horse"), "film#0 says changed=True"),
    ("changed", "no_verbs", at(1, caption="the blue car"), "film#1 says changed=False, but is 'the blue car'"),
    ("changed", "no_verbs", at(1, reason=None), "has changed=False and no reason"),
    ("changed", "no_verbs", at(0, reason="no verb"), "has changed=True and the reason 'no verb'"),
    ("changed", "no_verbs", at(0, caption=""), "film#0 is empty"),
    ("recipes", "shuffle_order", swap_captions, "its recipe gives"),
    ("recipes", "no_verbs", at(1, caption="car", changed=True), "its recipe gives 'the red car'"),
    ("combinations", "multimodal", lose, "comes 0 times"),
    ("combinations", "multimodal", repeat, "comes 2 times"),
    ("combinations", "multimodal", at(0, perturbation="jpeg:typos"), "jpeg:typos: film#0 is not part of the build"),
    ("combinations", "multimodal", at(0, severity=2), "is not part of the build (jpeg, severity 2, no_verbs)"),
    ("combinations", "multimodal", at(0, visual="jumble"), "is not part of the build"),
    ("combinations", "multimodal", at(0, caption_id="other#0"), "other#0 is no caption of clip film"),
    ("combinations", "multimodal", at(0, caption_id="film#9"), "no_verbs has no such caption"),
    ("combinations", "jpeg", at(1, severity=4), "jpeg has no clip film at severity 3"),
    ("combinations", "no_verbs", lose, "no_verbs has no such caption"),
]


def test_every_check_is_broken_here(suite: Path) -> None:
    assert {name for name, *_ in BREAKS} == set(text_checks(open_output(suite).info))


def test_a_good_build_passes(suite: Path) -> None:
    output = open_output(suite)
    assert [problem for name in text_checks(output.info) for problem in problems(output, name)] == []


@pytest.mark.parametrize(("name", "table", "damage", "words"), BREAKS)
def test_check_fails_on_what_it_is_for(
    copy: Path, name: str, table: str, damage: Callable[[list[Row]], object], words: str
) -> None:
    output = open_output(copy)
    if table == "multimodal":  # its rows begin with the combination that the cases name
        rewrite(
            copy,
            table,
            lambda rows: rows.sort(key=lambda row: (row["perturbation"] != "jpeg:no_verbs", row["caption_id"])),
        )
    rewrite(copy, table, damage)
    found = problems(output, name)
    assert any(words in problem for problem in found), found


def test_which_checks_there_are(suite: Path) -> None:
    info = open_output(suite).info
    assert text_checks(info | {"settings": info["settings"] | {"pairs": []}}).keys() == {
        "captions",
        "changed",
        "recipes",
    }
    assert text_checks(info | {"settings": {}}) == {}


def test_captions_of_clips_that_were_skipped_may_stay(copy: Path) -> None:
    for name in ("clean", "jpeg", "jumble", "freeze"):
        rewrite(copy, name, lambda rows: rows.__delitem__(slice(None, len(rows) // 2)))
    output = open_output(copy)
    assert any("film#0 is no caption of clean" in problem for problem in problems(output, "captions"))
    skip = {"unit_id": "film", "source_id": "film", "reason": "undecodable", "detail": ""}
    excused = replace(output, info=output.info | {"skips": {"count": 1, "by_reason": {}, "list": [skip]}})
    assert problems(excused, "captions") == []


def test_recipes_are_not_made_with_other_tools(copy: Path) -> None:
    rewrite(copy, "shuffle_order", swap_captions)
    output = open_output(copy)
    other = output.info["tools"] | {"tagger": "pattern, textblob 0.0"}
    assert problems(output, "recipes") != []
    assert problems(replace(output, info=output.info | {"tools": other}), "recipes") == []


def test_no_model_is_fetched_for_a_check() -> None:
    assert lacking_tools(Tools("pattern"), "mlm_suggestion", {})
    assert lacking_tools(Tools("pattern"), "back_trans", {})
    recorded = text_tools(Tools("pattern"), [check_text_name("no_verbs")])
    assert not lacking_tools(Tools("pattern"), "no_verbs", recorded)
    assert lacking_tools(Tools("pattern"), "no_verbs", {**recorded, "lemminflect": "0"})
