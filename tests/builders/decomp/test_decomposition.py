from pathlib import Path

from hypothesis import given, settings
from stressreel.builders.decomp import questions as ask
from stressreel.builders.decomp.decomposition import Step, as_dot, as_json, as_tree, decompose
from stressreel.builders.decomp.parsing import parse_program
from stressreel.builders.decomp.questions import EdgeAction, EdgeObject, ObjectEquals, Window
from stressreel.builders.decomp.wording import Wording, word
from stressreel.templates.agqa import load_agqa

from tests.support.compositional import roots

Shown = list[tuple[str, str, list[tuple[str, list[int]]]]]
FIGURES = Path(__file__).with_name("figures.txt")


"""The graph of the paper's figures 1 and 2, and the one that the authors' notebooks show whole, as they are there."""


def shown(steps: list[Step], wording: Wording = "ours") -> Shown:
    """Kind, text and rules of every step; children by number."""
    place = {step.question: number for number, step in enumerate(steps)}
    found = []
    for step in steps:
        rules = [(rule, [place[child] for child in children]) for rule, children in step.rules]
        found.append((step.kind, word(step.question, wording), rules))
    return found


def test_authors_graphs_are_reproduced() -> None:
    figure = (
        "Equals(phone, OnlyItem(IterateUntil(forward, Localize(after, taking a picture of something), Exists(touching, "
        "Filter(frame, [relations])), Filter(frame, [relations, touching, objects]))))"
    )
    shortest = "Superlative(min, Filter(video, [actions]), Subtract(Query(end, action), Query(start, action)))"
    notebook = f"Exists(phone, Iterate(Localize(before, {shortest}), Filter(frame, [objects])))"
    lines = []
    for program, wording in ((figure, "ours"), (notebook, "engine")):
        for kind, text, rules in shown(decompose(parse_program(program)), wording):  # type: ignore[arg-type]
            lines.append(f"{kind}: {text} {'; '.join(f'{rule} {children}' for rule, children in rules)}".rstrip())
    assert lines == FIGURES.read_text(encoding="utf-8").splitlines()


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


AFTER = Window("after", ("taking a picture of something",))
FIGURE = ObjectEquals("phone", EdgeObject("first", "touching", AFTER))
STEPS = decompose(FIGURE)


def test_tree_expands_every_question_once() -> None:
    lines = as_tree(STEPS, "Was a phone the first thing?").splitlines()
    assert lines[0] == f"[{len(STEPS) - 1}] Was a phone the first thing?  <Object Equals>"
    assert lines[-1] == f"{len(STEPS) - 1} sub-questions"
    expanded = [int(line.split("[")[1].split("]")[0]) for line in lines[:-1] if not line.endswith("(above)")]
    assert set(expanded) == set(range(len(STEPS)))
    assert all(line.lstrip().split(":")[0] in ("Equals", "First", "Interaction", "After") for line in lines[1:-1])
    assert as_tree(decompose(EdgeAction("first"))).endswith("\n1 sub-question")


def test_json_and_graphviz_of_a_graph() -> None:
    found = as_json(STEPS)
    assert found["template"] == "objFirstVerify"
    assert all(max(edge["children"]) < edge["parent"] for edge in found["edges"])
    assert found["nodes"][-1]["program"].startswith("equals(phone, firstObject(touching")
    drawn = as_dot(STEPS, 'Was "it" a \\ phone?')
    assert '[label="Was \\"it\\" a \\\\ phone?\\nObject Equals"]' in drawn
    assert drawn.count(" -> ") == sum(len(edge["children"]) for edge in found["edges"])
    assert (drawn.startswith("digraph questions {"), drawn.endswith("}")) == (True, True)
