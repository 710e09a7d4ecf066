"""One graph for people: a tree, JSON, and what Graphviz reads."""

from __future__ import annotations

import re

from stressreel.builders.decomp.programs.decomposition import decompose
from stressreel.builders.decomp.programs.drawing import as_dot, as_json, as_tree
from stressreel.builders.decomp.programs.questions import EdgeAction, EdgeObject, ObjectEquals, ObjectExists, Window

AFTER = Window("after", ("taking a picture of something",))
FIGURE = ObjectEquals("phone", EdgeObject("first", "touching", AFTER))
STEPS = decompose(FIGURE)


def test_a_tree_has_every_question_written_out_once() -> None:
    lines = as_tree(STEPS, "Was a phone the first thing?").splitlines()
    assert lines[0] == f"[{len(STEPS) - 1}] Was a phone the first thing?  <Object Equals>"
    assert lines[-1] == f"{len(STEPS) - 1} sub-questions"
    numbers = [int(found[1]) for line in lines[1:-1] if (found := re.search(r"\[(\d+)\]", line))]
    assert set(numbers) == set(range(len(STEPS) - 1))
    again = [line for line in lines if line.endswith("(above)")]
    assert len(again) < len(lines) / 2
    assert all(line.lstrip().split(":")[0] in ("Equals", "First", "Interaction", "After") for line in lines[1:-1])


def test_numbers_are_those_of_the_steps() -> None:
    found = as_json(STEPS)
    assert found["template"] == "objFirstVerify"
    assert all(max(edge["children"]) < edge["parent"] for edge in found["edges"])
    assert found["nodes"][-1]["program"].startswith("equals(phone, firstObject(touching")


def test_a_root_that_is_alone() -> None:
    steps = decompose(ObjectExists("phone"))
    assert as_tree(steps) == "[0] Does a phone exist?  <Object Exists>\n0 sub-questions"
    assert as_json(steps)["edges"] == []
    assert "->" not in as_dot(steps)


def test_one_sub_question_is_singular() -> None:
    assert as_tree(decompose(EdgeObject("first", "touching"))).endswith("\n3 sub-questions")
    assert as_tree(decompose(EdgeAction("first"))).endswith("\n1 sub-question")


def test_a_drawing_for_graphviz_quotes_texts() -> None:
    drawn = as_dot(STEPS, 'Was "it" a \\ phone?')
    assert '[label="Was \\"it\\" a \\\\ phone?\\nObject Equals"]' in drawn
    edges = as_json(STEPS)["edges"]
    assert drawn.count(" -> ") == sum(len(edge["children"]) for edge in edges)
    assert drawn.startswith("digraph questions {")
    assert drawn.endswith("}")
