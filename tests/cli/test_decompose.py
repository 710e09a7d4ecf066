"""`stressreel decompose`."""

from __future__ import annotations

from commands import run, succeed

PROGRAM = "Exists(phone, Iterate(Localize(after, opening a door), Filter(frame, [objects])))"


def test_a_tree_is_printed() -> None:
    done = succeed("stressreel", "decompose", PROGRAM)
    assert done.out.splitlines()[0].endswith(
        "Is the person interacting with a phone after opening a door?  <Interaction After>"
    )
    assert "After: [" in done.out
    assert "Is the person opening a door?" in done.out
    assert done.out.endswith("sub-questions\n")
    done = run("stressreel", "decompose", PROGRAM, "--question", "Did they have a phone afterwards?")
    assert "Did they have a phone afterwards?  <Interaction After>" in done.out.splitlines()[0]
