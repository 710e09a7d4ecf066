from stressreel.builders.decomp.decomposition import as_dot, as_json, as_tree, decompose
from stressreel.builders.decomp.questions import EdgeAction, EdgeObject, ObjectEquals, Window

AFTER = Window("after", ("taking a picture of something",))
FIGURE = ObjectEquals("phone", EdgeObject("first", "touching", AFTER))
STEPS = decompose(FIGURE)


def test_a_tree_writes_every_question_out_once() -> None:
    lines = as_tree(STEPS, "Was a phone the first thing?").splitlines()
    assert lines[0] == f"[{len(STEPS) - 1}] Was a phone the first thing?  <Object Equals>"
    assert lines[-1] == f"{len(STEPS) - 1} sub-questions"
    expanded = [int(line.split("[")[1].split("]")[0]) for line in lines[:-1] if not line.endswith("(above)")]
    assert set(expanded) == set(range(len(STEPS)))
    assert all(line.lstrip().split(":")[0] in ("Equals", "First", "Interaction", "After") for line in lines[1:-1])
    assert as_tree(decompose(EdgeAction("first"))).endswith("\n1 sub-question")


def test_a_graph_as_json_and_for_graphviz() -> None:
    found = as_json(STEPS)
    assert found["template"] == "objFirstVerify"
    assert all(max(edge["children"]) < edge["parent"] for edge in found["edges"])
    assert found["nodes"][-1]["program"].startswith("equals(phone, firstObject(touching")
    drawn = as_dot(STEPS, 'Was "it" a \\ phone?')
    assert '[label="Was \\"it\\" a \\\\ phone?\\nObject Equals"]' in drawn
    assert drawn.count(" -> ") == sum(len(edge["children"]) for edge in found["edges"])
    assert (drawn.startswith("digraph questions {"), drawn.endswith("}")) == (True, True)
