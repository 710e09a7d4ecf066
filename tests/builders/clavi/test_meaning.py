"""`--implied`: controls that an annotated action implies, and "while" with an action that implies the other."""

from collections.abc import Callable
from pathlib import Path

import pytest
from changed import derived
from charades_files import write_charades
from forger import Forgery
from stressreel.annotations.actions import Action
from stressreel.annotations.charades import class_actions
from stressreel.builders.clavi.meaning import imply
from stressreel.builders.clavi.settings import ClaviSettings, decided
from stressreel.core.output import open_output
from stressreel.templates import load_classes

CLASSES = class_actions(load_classes())
OPENING, GRASPING, DRINKING, CHAIR = "c008", "c141", "c106", "c059"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (GRASPING, OPENING, True),
        ("c141", "c113", True),  # a closet looks like a door
        ("c141", "c090", False),  # a window does not
        ("c061", "c065", True),  # holding food, eating a sandwich
        ("c020", "c021", True),  # holding and opening a bag
        ("c020", "c041", True),  # holding a bag, opening a box, which looks like one
        ("c020", "c008", False),
        ("c134", "c154", True),  # lying on a bed, standing up
        (CHAIR, DRINKING, False),
        ("c149", "c153", False),
    ],
)
def test_table_of_implications(one: str, other: str, expected: bool) -> None:
    assert imply(CLASSES[one], CLASSES[other]) is imply(CLASSES[other], CLASSES[one]) is expected


def test_phrases_of_sentences() -> None:
    def phrase(verb: str, *objects: str) -> Action:
        return Action("phrase", "", "", verb, frozenset(objects))

    assert imply(phrase("hold", "cup"), phrase("drink", "glass"))
    assert imply(phrase("grasp", "doorknob"), phrase("open", "door"))
    assert not imply(phrase("hold", "cup"), phrase("open", "door"))


@pytest.mark.parametrize(("wording", "implied"), [("paper", "keep"), ("natural", "drop")])
def test_default_depends_on_the_wording(wording: str, implied: str) -> None:
    assert decided(ClaviSettings(charades="sample", wording=wording)).implied == implied  # type: ignore[arg-type]
    assert decided(ClaviSettings(charades="sample", wording=wording, implied="keep")).implied == "keep"  # type: ignore[arg-type]


ACTIONS = {  # doors are opened while a bag is held, opened and put down
    f"VID{number:02d}": f"c008 {number / 10} 7;c020 10 20;c021 15 25;c059 40 50" for number in range(40)
}
ANNOTATED = ("c008", "c020", "c021", "c059")
FLAGS = ("--no-render", "--relations", "sequence,overlap")


@pytest.fixture(scope="module")
def outs(build_once: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same pairs with `--implied keep` and `drop`; read only."""
    folder = write_charades(tmp_path_factory.mktemp("implied") / "charades", ACTIONS)
    command = ("build-clavi", "--charades", folder, *FLAGS)
    return build_once(*command), build_once(*command, "--implied", "drop")


def is_implied(key: str) -> bool:
    return any(imply(CLASSES[key], CLASSES[annotated]) for annotated in ANNOTATED)


def test_no_control_is_implied(outs: tuple[Path, Path]) -> None:
    controls = [{row["pair_id"]: row["class_c"] for row in open_output(out).rows("pairs")} for out in outs]
    implied = {name for name, key in controls[0].items() if is_implied(key)}
    assert implied
    assert controls[0].keys() == controls[1].keys()
    assert {name for name in controls[0] if controls[0][name] != controls[1][name]} == implied
    assert not any(map(is_implied, controls[1].values()))
    notes = [open_output(out).info["notes"] for out in outs]
    assert notes[1]["negative_controls_replaced"] == len(implied)
    assert "negative_controls_replaced" not in notes[0]


def test_while_is_omitted_for_implied_actions(outs: tuple[Path, Path]) -> None:
    def asked(out: Path) -> dict[str, str]:
        pairs = {row["pair_id"] for row in open_output(out).rows("pairs") if row["relation"] == "overlap"}
        return {
            row["question_id"]: row["type"] for row in open_output(out).rows("questions") if row["pair_id"] in pairs
        }

    kept, left = map(asked, outs)
    assert {kept[name] for name in kept.keys() - left.keys()} == {"W"}  # holding a bag while opening it
    assert left.items() <= kept.items()
    assert "W" not in left.values()
    info = open_output(outs[1]).info
    assert info["notes"]["questions_left_out_implied"] == len(kept) - len(left) == 4 * len(ACTIONS)
    rows = [row for row in open_output(outs[1]).rows("left_out") if row["kind"] == "questions"]
    assert sum(row["count"] for row in rows) == 4 * len(ACTIONS)
    for out, number in zip(outs, ("12", "at most 12"), strict=True):
        assert f"In an **overlap** ({number} questions per video)" in (out / "README.md").read_text()


def test_forged_controls_and_actions_are_found(outs: tuple[Path, Path]) -> None:
    def fewer_actions(forged: Forgery) -> None:
        for row in forged.rows("pairs"):
            row["source_actions"] = row["source_actions"][1:]

    assert [derived(out) for out in outs] == [[], []]
    assert derived(outs[1], fewer_actions)
