"""A Hub on loopback that `huggingface_hub` talks to, which waits for nothing."""

import time
from collections.abc import Iterator

import huggingface_hub
import pytest
from hub import TOKEN, Hub, running


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with running() as found:
        for name, value in (
            ("ENDPOINT", found.url),
            ("HUGGINGFACE_CO_URL_TEMPLATE", found.url + "/{repo_id}/resolve/{revision}/{filename}"),
            ("HF_HUB_DISABLE_XET", True),
        ):
            monkeypatch.setattr(huggingface_hub.constants, name, value)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        monkeypatch.setattr(time, "sleep", lambda seconds: None)
        huggingface_hub.utils.disable_progress_bars()
        yield found
        huggingface_hub.utils.enable_progress_bars()
        huggingface_hub.close_session()
