import pytest
from stressreel.builders.decomp.question_graphs import Edge
from stressreel.builders.decomp.question_paths import UNANSWERED, UNKNOWN, question_path, question_path_text
from stressreel.core.errors import InputError
from sub_questions import figure_one, one_graph

SAID = dict.fromkeys(("phone", "touching", "photographing", "touching after"), "yes")
SAID |= dict.fromkeys(("picture", "taking"), "no") | {"first": "dish", "root": "maybe"}


def test_unknown_and_unanswered_questions() -> None:
    video = one_graph({"a": ("Interaction", None), "b": ("And", "yes")}, [("b", "And", ["a"])])
    path = question_path(video, "b", {"a": "yes"})
    assert [step.verdict for step in path.steps] == [UNKNOWN, UNANSWERED]
    assert [step.prediction for step in path.steps] == ["yes", None]
    assert path.edges == (Edge(1, "And", (0,)),)
    text = question_path_text(path)
    assert "b? [And] → not answered" in text
    assert not path.error_edges
    assert "a? [Interaction] → 'yes', correct answer unknown" in text


def test_error_path_as_text() -> None:
    text = question_path_text(question_path(figure_one(), "root", SAID))
    after = "after taking a picture of something?"
    assert text.splitlines() == [
        f"✗ Was a phone the first thing they were touching {after} [Object Equals] → 'maybe', wrong: yes",
        "└─ Equals ↯ contradicts these answers",
        "   ├─ Does a phone exist? [Object Exists] → 'yes', right",
        f"   └─ ✗ What is the first object that the person is touching {after} [First Object] → 'dish', wrong: phone",
        "      └─ First",
        f"         └─ ✗ What is the person touching {after} [Object After] → not scored",
        "            ├─ Interaction",
        f"            │  └─ Is the person touching something {after} [Exists After] → 'yes', right",
        "            │     └─ After ↯ contradicts these answers",
        "            │        ├─ Is the person touching something? [Relation Exists] → 'yes', right",
        "            │        └─ Is the person taking a picture of something? [Interaction] → 'no', wrong: yes",
        "            │           └─ Interaction",
        "            │              ├─ Is the person photographing something? [Relation Exists] → 'yes', right",
        "            │              └─ ✗ Does a picture exist? [Object Exists] → 'no', wrong: yes",
        "            └─ After",
        "               ├─ What is the person touching? [Object] → not scored",
        "               │  └─ Interaction",
        "               │     └─ Is the person touching something? [Relation Exists] → 'yes', right",
        "               └─ ✗ Is the person taking a picture of something? [Interaction] → 'no', wrong: yes (see above)",
        "",
        "Error origins:",
        "  Does a picture exist?",
    ]


def test_unknown_root_is_refused() -> None:
    with pytest.raises(InputError, match=r"'phone' .* video 'v1' \(1 in total\): 'root'"):
        question_path(figure_one(), "phone", {})
