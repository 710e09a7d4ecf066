"""A Hub on loopback."""

from collections.abc import Iterator

import pytest
from hub import Hub, connected


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with connected(monkeypatch) as found:
        yield found
