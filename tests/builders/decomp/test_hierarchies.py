"""Published graphs as rows: the order of questions, roots that are children of other graphs, and the answers' gaps."""

from __future__ import annotations

from stressreel.annotations.agqa_hierarchies import Hierarchy, HierarchyNode
from stressreel.builders.decomp.hierarchies import PublishedGraphs


def hierarchy(root: str, *nodes: tuple[str, str], rules: dict[str, dict[str, tuple[str, ...]]]) -> Hierarchy:
    """A graph of questions, all of kind And; the last is the root."""
    found = {text: HierarchyNode(text, key, "And", "yes", "") for text, key in nodes}
    return Hierarchy(root, nodes[-1][0], "", found, rules)


def test_a_root_that_another_graph_has_as_a_child_is_one_row_and_a_root() -> None:
    one = hierarchy("V-1", ("a", "V-2"), ("b", "V-1_0"), ("r", "V-1"), rules={"r": {"And": ("a", "b")}})
    other = hierarchy("V-2", ("c", "V-2_0"), ("a", "V-2"), rules={"a": {"Interaction": ("c",)}})
    alone = {"key": "V-3", "type": "And", "answer": "no", "question": "d"}
    also = hierarchy("V-4", ("d", "V-3"), ("s", "V-4"), rules={"s": {"Interaction": ("d",)}})
    graphs = PublishedGraphs("V", [also, other, one], [alone])
    assert [(row["key"], row["is_root"]) for row in graphs.rows()] == [
        ("V-1_0", False),
        ("V-1", True),
        ("V-2_0", False),
        ("V-2", True),
        ("V-3", True),
        ("V-4", True),
    ]
    assert [(row["root"], row["isolated"], row["depth"]) for row in graphs.graphs()] == [
        ("V-1", False, 1),
        ("V-2", False, 1),
        ("V-3", True, 0),
        ("V-4", False, 1),
    ]
