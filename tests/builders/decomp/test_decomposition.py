import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from hypothesis import given, settings
from stressreel.builders.decomp import questions as ask
from stressreel.builders.decomp.decomposition import as_dot, as_json, as_tree, decompose
from stressreel.builders.decomp.parsing import parse_program
from stressreel.builders.decomp.questions import EdgeAction, EdgeObject, ObjectEquals, Window
from stressreel.builders.decomp.wording import Wording, word
from stressreel.templates.agqa import load_agqa

from tests.support.compositional import roots


def check_golden(name: str, lines: Iterable[str]) -> None:
    """Compare lines with those of a golden file, or write them there."""
    golden, text = Path(__file__).with_name(name), "\n".join(lines) + "\n"
    if os.environ.get("STRESSREEL_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def shown(root: ask.Question, wording: Wording = "ours") -> Iterator[str]:
    """Kind, text and rules of every step; children by number."""
    steps = decompose(root)
    place = {step.question: number for number, step in enumerate(steps)}
    for step in steps:
        rules = "; ".join(f"{rule} {[place[child] for child in children]}" for rule, children in step.rules)
        yield f"{step.kind}: {word(step.question, wording)} {rules}".rstrip()


def test_authors_graphs_are_reproduced() -> None:
    """The graph of the paper's figures 1 and 2, and the one that the authors' notebooks show whole."""
    figure = (
        "Equals(phone, OnlyItem(IterateUntil(forward, Localize(after, taking a picture of something), Exists(touching, "
        "Filter(frame, [relations])), Filter(frame, [relations, touching, objects]))))"
    )
    shortest = "Superlative(min, Filter(video, [actions]), Subtract(Query(end, action), Query(start, action)))"
    notebook = f"Exists(phone, Iterate(Localize(before, {shortest}), Filter(frame, [objects])))"
    ours, theirs = parse_program(figure), parse_program(notebook)
    check_golden("figures.txt", [*shown(ours), *shown(theirs, "engine")])


@given(roots())
@settings(max_examples=50, deadline=None)
def test_graphs_follow_composition_rules(root: ask.Question) -> None:
    vocabulary = load_agqa()
    steps = decompose(root)
    place = {step.question: number for number, step in enumerate(steps)}
    assert steps[-1].question == root
    assert len(place) == len(steps)
    used = {root}
    for number, step in enumerate(steps):
        kind = vocabulary.kinds[step.kind]
        for name, children in step.rules:
            rule = vocabulary.rules[name]
            assert kind.group in rule.parents
            allowed = rule.children * len(children) if rule.any_number else rule.children
            assert len(children) == len(allowed) > 0
            for child, groups in zip(children, allowed, strict=True):
                assert place[child] < number
                assert vocabulary.kinds[steps[place[child]].kind].group in groups
            used |= {*children}
    assert used == set(place)


def test_tree_json_and_graphviz_of_a_graph() -> None:
    figure = ObjectEquals("phone", EdgeObject("first", "touching", Window("after", ("taking a picture of something",))))
    steps = decompose(figure)
    lines = as_tree(steps, "Was a phone the first thing?").splitlines()
    assert lines[0] == f"[{len(steps) - 1}] Was a phone the first thing?  <Object Equals>"
    assert lines[-1] == f"{len(steps) - 1} sub-questions"
    expanded = [int(line.split("[")[1].split("]")[0]) for line in lines[:-1] if not line.endswith("(above)")]
    assert {*expanded} == {*range(len(steps))}
    assert as_tree(decompose(EdgeAction("first"))).endswith("\n1 sub-question")
    found = as_json(steps)
    assert found["template"] == "objFirstVerify"
    assert found["nodes"][-1]["program"].startswith("equals(phone, firstObject(touching")
    drawn = as_dot(steps, 'Was "it" a \\ phone?')
    assert '[label="Was \\"it\\" a \\\\ phone?\\nObject Equals"]' in drawn
    assert drawn.count(" -> ") == sum(len(edge["children"]) for edge in found["edges"])
