from collections.abc import Callable
from pathlib import Path

import pytest
import tiny_models

Once = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def qwen(once: Once) -> Path:
    return once("qwen2-vl", tiny_models.write_qwen2_vl)


@pytest.fixture(scope="session")
def llava(once: Once) -> Path:
    return once("llava-onevision", tiny_models.write_llava_onevision)
