"""What builds write: flags, controls and questions that options change, and galleries; no value can be another."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from changed import columns, derived, put
from charades_files import write_charades
from commands import refuses, rows, run, succeed
from forger import Forgery
from stressreel.annotations.charades import class_actions
from stressreel.builders.clavi.gallery import gallery
from stressreel.builders.clavi.meaning import imply
from stressreel.builders.clavi.settings import ClaviSettings, decided
from stressreel.builders.clavi.tables import clavi_configs
from stressreel.core.output import open_output
from stressreel.data_cards.gallery.answers import Answers
from stressreel.templates import load_classes

# Annotations and sources say the one, `check_shown` what the frames between show.
FREE = {"pairs": "subject other_actions source_objects source_sha256 in_a_frame in_b_frame"}
FLAGGED = {
    "CLEAR": "c008 5 10;c106 13 20;c059 40 50",
    "SPANS": "c008 5 10;c106 13 20;c008 0 50;c059 40 50",
}
HELD = {  # doors are opened while a bag is held, opened and put down
    f"VID{number:02d}": f"c008 {number / 10} 7;c020 10 20;c021 15 25;c059 40 50" for number in range(40)
}
OVERLAPS = {"OVER": "c008 0 9;c020 4 13", "IN": "c059 0 20;c008 3 5.5"}


@pytest.fixture(scope="module")
def outs(
    build_once: Callable[..., Path], four_pairs: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Outputs by name, read only: all but the first are without videos."""
    folder = tmp_path_factory.mktemp("charades")
    flagged, held, overlaps = (
        ("--charades", write_charades(folder / name, actions))
        for name, actions in (("flagged", FLAGGED), ("held", HELD), ("overlaps", OVERLAPS))
    )
    both = (*held, "--relations", "sequence,overlap")
    natural = ("--wording", "natural", "--paraphrases", 2)
    commands: dict[str, tuple[object, ...]] = {
        "flagged": flagged,  # two pairs, one of them ambiguous
        "paper": (*flagged, "--rules", "paper"),
        "implied": both,
        "implied dropped": (*both, "--implied", "drop"),
        "related": (*overlaps, "--shortest", 2, "--relations", "overlap,contain"),
        "phrases": ("--segments", "sample"),
        "natural": ("--charades", "sample", "--limit", 3, *natural),
    }
    built = {name: build_once("build-clavi", *given, "--no-render") for name, given in commands.items()}
    return {"rendered": four_pairs, **built}


# What follows from the rows


def test_another_value_is_found(outs: dict[str, Path]) -> None:
    for name, out in outs.items():
        assert derived(out) == [], name
    times = ("start_a_s", "end_a_s", "start_b_s", "end_b_s", "out_a", "in_a", "in_b", "out_b")
    free = [f"pairs.{what}_{n}" for n in "abc" for what in ("label", "phrase", "verb", "asked")]
    for name, places in (
        ("rendered", columns(clavi_configs(ClaviSettings()), FREE)),
        ("flagged", ["pairs.ambiguous", "questions.ambiguous", "pairs.relation"]),
        ("related", [f"pairs.{name}" for name in times]),
        ("phrases", free),
        ("natural", ["questions.question"]),
    ):
        assert [place for place in places if not derived(outs[name], put(place))] == []

    def control_in_the_clip(forged: Forgery) -> None:
        pair = forged.rows("pairs")[0]
        pair["clip_words"] = sorted({*pair["clip_words"], pair["verb_c"]})

    assert derived(outs["phrases"], control_in_the_clip)


# Ambiguous pairs: A or B has another interval in the clip


def answers(out: Path, path: Path, *, flagged: bool = True) -> Path:
    asked = [row for row in open_output(out).rows("questions") if flagged or not row["ambiguous"]]
    right = [{"id": row["question_id"], "answer": ("no", "yes")[row["answer"]]} for row in asked]
    path.write_text("\n".join(map(json.dumps, right)))
    return path


def test_questions_about_the_order_are_flagged(outs: dict[str, Path]) -> None:
    flagged = outs["flagged"]
    pairs = {row["pair_id"]: row for row in open_output(flagged).rows("pairs")}
    assert sorted((row["source_id"], row["ambiguous"]) for row in pairs.values()) == [("CLEAR", False), ("SPANS", True)]
    assert {row["relation"] for row in pairs.values()} == {"sequence"}
    for row in open_output(flagged).rows("questions"):
        assert row["ambiguous"] is (pairs[row["pair_id"]]["ambiguous"] and row["subset"] == "complement")
    card = " ".join((flagged / "README.md").read_text().split())
    assert "In 1 of the 2 pairs, another interval of A" in card
    assert "16 questions are about this order" in card


def test_no_column_where_no_pair_can_be_ambiguous(outs: dict[str, Path], tmp_path: Path) -> None:
    for given in ({}, {"rules": "paper"}, {"strict": True}, {"relations": ("overlap",)}):
        tables = clavi_configs(decided(ClaviSettings(charades="sample", **given)))  # type: ignore[arg-type]
        found = {table.name for table in tables if "ambiguous" in {column.name for column in table.columns}}
        assert found == (set() if given else {"questions", "pairs"})
    assert {row["source_id"] for row in rows(outs["paper"], "pairs") if row["class_a"] == "c008"} == {"CLEAR"}
    file = answers(outs["flagged"], tmp_path / "p.jsonl")
    for out, name in (("paper", "ambiguous"), ("flagged", "type")):
        refuses(run("stressreel", "score", outs[out], "--predictions", file, "--without", name), f"'{name}'", code=2)


@pytest.mark.usefixtures("paint")
def test_scores_without_ambiguous_questions(outs: dict[str, Path], tmp_path: Path) -> None:
    flagged = outs["flagged"]
    for all_answered in (True, False):
        file = answers(flagged, tmp_path / f"{all_answered}.jsonl", flagged=all_answered)
        succeed("stressreel", "score", flagged, "--predictions", file, "--without", "ambiguous")
        scores = json.loads((tmp_path / f"{all_answered}.without-ambiguous.scores" / "scores.json").read_text())
        assert scores["without"] == "ambiguous"
        assert (scores["answers"]["scored"], scores["answers"].get("flagged", 0)) == (2 * 38 - 16, 16 * all_answered)
        couples = {(row["score"], row["subset"]): row["couples"] for row in scores["tables"]["consistent"]}
        assert couples["CAcc_V", "complement"] == couples["CAcc_T", "complement"] == 8
        assert couples["CAcc_V", "control"] == 2 * 11
    succeed("stressreel", "score", flagged, "--predictions", tmp_path / "True.jsonl")
    folders = (tmp_path / "True.scores", tmp_path / "True.without-ambiguous.scores")
    refuses(run("stressreel", "compare", *folders), "answer different questions", "--without")


# `--implied`: controls that an annotated action implies, and "while" with an action that implies the other


def test_no_control_is_implied(outs: dict[str, Path]) -> None:
    implied = (outs["implied"], outs["implied dropped"])
    classes = class_actions(load_classes())

    def is_implied(key: str) -> bool:
        return any(imply(classes[key], classes[annotated]) for annotated in ("c008", "c020", "c021", "c059"))

    kept, dropped = ({row["pair_id"]: row["class_c"] for row in rows(out, "pairs")} for out in implied)
    replaced = {name for name, key in kept.items() if is_implied(key)}
    assert replaced == {name for name in kept if kept[name] != dropped[name]} != set()
    assert not any(map(is_implied, dropped.values()))
    notes = [open_output(out).info["notes"].get("negative_controls_replaced") for out in implied]
    assert notes == [None, len(replaced)]


def test_while_is_omitted_for_implied_actions(outs: dict[str, Path]) -> None:
    implied = (outs["implied"], outs["implied dropped"])
    pairs = {row["pair_id"] for row in rows(implied[0], "pairs") if row["relation"] == "overlap"}
    kept, left = (
        {row["question_id"]: row["type"] for row in rows(out, "questions") if row["pair_id"] in pairs}
        for out in implied
    )
    assert {kept[name] for name in kept.keys() - left.keys()} == {"W"}  # holding a bag while opening it
    assert left.items() <= kept.items()
    assert "W" not in left.values()
    named = sum(row["count"] for row in open_output(implied[1]).rows("left_out") if row["kind"] == "questions")
    noted = open_output(implied[1]).info["notes"]["questions_left_out_implied"]
    assert named == noted == len(kept) - len(left) == 4 * len(HELD)
    for out, number in zip(implied, ("12", "at most 12"), strict=True):
        assert f"In an **overlap** ({number} questions per video)" in (out / "README.md").read_text()

    def fewer_actions(forged: Forgery) -> None:
        for row in forged.rows("pairs"):
            row["source_actions"] = row["source_actions"][1:]

    assert derived(implied[1], fewer_actions)


# The gallery


def test_exhibit_shows_pieces_and_all_questions(four_pairs: Path) -> None:
    output = open_output(four_pairs)
    found, pairs = gallery(output, Answers()), list(output.rows("pairs"))
    assert found.count == len(pairs)
    films = {row["video_id"]: row for row in rows(four_pairs, "videos")}
    for pair, shown in zip(pairs, found.exhibits(range(found.count)), strict=True):
        assert shown.id == pair["pair_id"]
        first, second = shown.content["variants"]
        assert [piece["name"] for piece in first["pieces"] if piece["name"] != "filler"] == ["A", "B"]
        assert [piece["name"] for piece in second["pieces"] if piece["name"] != "filler"] == ["B", "A"]
        edges = [edge for piece in first["pieces"] for edge in (piece["start"], piece["stop"])]
        assert (edges[0], edges[-1]) == (0, films[f"{pair['pair_id']}_1"]["num_frames"])
        assert edges[1:-1:2] == edges[2::2]
        assert [film.sha256 for film in shown.films] == [films[f"{pair['pair_id']}_{n}"]["sha256"] for n in (1, 2)]
        questions = shown.content["questions"]
        assert (len(questions), sum(question["control"] for question in questions)) == (19, 9)
        for number, question in enumerate(questions):
            given = [each["answer"] for each in question["answers"]]
            assert (given[0] != given[1]) == question["flips"]
            assert question["opposite"] is None or questions[question["opposite"]]["opposite"] == number
