import pytest
from stressreel.core.errors import UsageError
from stressreel.evaluation.probes.quadrants import TEXT, VIDEO, quadrants_of

V, T = VIDEO, TEXT


@pytest.mark.parametrize(
    ("name", "quadrants"),
    [
        ("unimodal", {(V, V), (T, T)}),
        ("crossmodal", {(V, T), (T, V)}),
        ("video", {(V, V), (T, V)}),
        ("text", {(T, T), (V, T)}),
        ("VT", {(V, T)}),
        ([(1, 2)], {(V, T)}),
    ],
)
def test_names_of_quadrants(name: object, quadrants: set[tuple[int, int]]) -> None:
    assert quadrants_of(name) == quadrants


@pytest.mark.parametrize("wrong", ["visual", [], ["VX"], [(0, 1)], [(1, 2, 3)]])
def test_unknown_quadrants_are_refused(wrong: object) -> None:
    with pytest.raises(UsageError, match="Allowed: unimodal"):
        quadrants_of(wrong)
