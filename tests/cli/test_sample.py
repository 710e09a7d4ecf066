"""`stressreel sample`: a world that is drawn, built from, and may be passed on."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import stressreel
from commands import succeed
from drawn_worlds import write_annotations
from stressreel.annotations.world.writer import World
from stressreel.api.sample import Sample
from stressreel.core.errors import UsageError


def test_built_in_samples_take_no_options_of_the_world(tmp_path: Path):
    for given in ({"seed": 1}, {"workers": 1}, {"fix": "room=1"}):
        with pytest.raises(UsageError, match="Add --count"):
            stressreel.sample(tmp_path / "new", **given)
    with pytest.raises(UsageError, match="no built-in sample of kind agqa"):
        stressreel.sample(tmp_path / "new", kind="agqa")
    with pytest.raises(UsageError, match="name the folder"):
        stressreel.sample(count=2)
    with pytest.raises(UsageError, match="FOLDER, --count cannot be combined"):
        stressreel.sample(tmp_path / "new", count=2, list_factors=True)
    assert not [*tmp_path.iterdir()]


def test_factors_are_listed():
    listed = stressreel.sample(list_factors=True)
    assert isinstance(listed, Sample)
    assert listed.as_tables()[0].rows[0][0] == "room"
    assert "1 kitchen" in str(listed)


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("drawn") / "world"
    stressreel.sample(folder, count=2, seed=2, workers=1, fix="rate=1,distractors=1,people=1,held=9")
    return folder


def test_clavi_of_a_drawn_world_may_be_passed_on(world: Path, tmp_path: Path):
    stressreel.build_clavi(charades=world, rules="paper", render=False, out=tmp_path / "out")
    info = json.loads((tmp_path / "out" / "build.json").read_text())
    assert info["source"]["key"] == "drawn"
    assert info["source"]["license"] == {"license": "cc-by-4.0"}
    assert info["source"]["redistributable"]
    assert not stressreel.verify(tmp_path / "out").failed


def test_names_of_actions_are_no_cue(tmp_path: Path):
    write_annotations(tmp_path, World("charades", 120, 4, {}))
    given = {"rules": "paper", "cuts": "balanced", "controls": "pairs", "render": False, "split": "train"}
    built = stressreel.build_clavi(charades=tmp_path, out=tmp_path / "out", **given)
    assert not stressreel.verify(tmp_path / "out").failed
    pairs = list(built.load("pairs", split="train"))
    uses = Counter(pair[f"phrase_{one}"] for pair in pairs for one in "ab")
    asked = Counter(pair["phrase_c"] for pair in pairs)
    assert asked.keys() <= uses.keys()
    no = sum(count for phrase, count in asked.items() if count > uses[phrase])  # where "no" is the better guess
    yes = sum(count for phrase, count in uses.items() if count >= asked[phrase])
    assert (no / asked.total() + yes / uses.total()) / 2 < 0.6  # with --controls all: above 0.8


def test_an_edited_world_is_like_charades(world: Path, tmp_path: Path):
    for name in ("world.json", "Charades_v1_train.csv"):
        (tmp_path / name).write_bytes((world / name).read_bytes())
    table = (tmp_path / "Charades_v1_train.csv").read_text().replace("A person", "One person")
    (tmp_path / "Charades_v1_train.csv").write_text(table)
    stressreel.build_clavi(charades=tmp_path, rules="paper", render=False, out=tmp_path / "out")
    info = json.loads((tmp_path / "out" / "build.json").read_text())
    assert info["source"]["key"] == "charades"


@pytest.mark.parametrize(
    ("kind", "count", "command"),
    [
        ("charades", 24, "decomp --charades {0} --embed no"),
        ("msrvtt", 16, "perturbed --msrvtt {0} --modality text --text-perturbations typos"),
        (
            "causal",
            24,
            "causal --annotations {0}/Annotations.csv --no-render --negatives random --pool all --num-options 3",
        ),
    ],
)
def test_every_benchmark_of_a_drawn_world_may_be_passed_on(kind: str, count: int, command: str, tmp_path: Path):
    folder = write_annotations(tmp_path / "world", World(kind, count, 6, {}))
    succeed("stressreel", "build", *command.format(folder).split(), "--out", tmp_path / "out", "--no-progress")
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert re.match(r"---\npretty_name: .* on the drawn world of stressreel.*\nlicense: cc-by-4.0\n", card)
    assert "crediting “drawn with stressreel”" in card
    succeed("stressreel", "push", tmp_path / "out", "ORG/drawn", "--dry-run")
