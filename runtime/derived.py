"""Stand-in until the merge."""

from collections.abc import Iterator
from typing import Any


def differences(found: dict[str, Any], expected: dict[str, Any]) -> Iterator[str]:
    for name, value in expected.items():
        a = found.get(name)
        if a != value and (list(a) if isinstance(a, tuple) else a) != (
            list(value) if isinstance(value, tuple) else value
        ):
            yield f"{name} is {str(a)[:80]!r}, not {str(value)[:80]!r}"
