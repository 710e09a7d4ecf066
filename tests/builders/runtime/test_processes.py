import operator
from collections.abc import Iterator

import pytest
from stressreel.builders.runtime.processes import on_processes


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order(workers: int) -> None:
    calls = [(number, 2) for number in range(20)]
    assert list(on_processes(operator.mul, calls, workers)) == [2 * number for number in range(20)]


@pytest.mark.parametrize("workers", [1, 2])
def test_calls_are_taken_as_they_are_needed(workers: int) -> None:
    taken = []

    def calls() -> Iterator[tuple[int]]:
        for number in range(100):
            taken.append(number)
            yield (number,)

    results = on_processes(operator.neg, calls(), workers)
    assert next(results) == 0
    assert len(taken) <= 4 * workers + 1
    results.close()  # type: ignore[attr-defined]
