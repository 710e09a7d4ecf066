"""Functions for lmms-eval tasks: the video and text of a sample, and the judgement of a response.

`stressreel export lmms-eval` writes this file as `utils.py` next to `harness.py`. It requires only the packages of
lmms-eval.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

Sample = Mapping[str, Any]


@cache
def harness() -> Any:
    """Load `harness.py` by path, since lmms-eval loads many files named utils.py outside of any package."""
    spec = importlib.util.spec_from_file_location("stressreel_harness", Path(__file__).with_name("harness.py"))
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def visual(sample: Sample) -> list[str]:
    """Return the video of a sample."""
    video = sample["metadata"]["video"]
    return [harness().video_path(video["table"], video["key"])]


def text(sample: Sample, prompt: Mapping[str, str] | None = None) -> str:
    """Return the question of a sample, enclosed in a prompt."""
    prompt = prompt or {}
    return f"{prompt.get('pre_prompt', '')}{sample['input']}{prompt.get('post_prompt', '')}"


def target(sample: Sample) -> str:
    """Return the correct answer."""
    return str(sample["target"])


def results(sample: Sample, responses: Sequence[str]) -> dict[str, Any]:
    """Judge a response."""
    found: dict[str, Any] = harness().result(sample["metadata"], sample["target"], responses[0])
    return found
