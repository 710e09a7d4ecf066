"""Load videos, format questions and judge responses for lmms-eval.

`stressreel export lmms-eval` writes this file as `utils.py` beside `harness.py`. It requires only lmms-eval.
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
    """Import `harness.py` by path, since lmms-eval loads many files named utils.py outside of any package."""
    spec = importlib.util.spec_from_file_location("stressreel_harness", Path(__file__).with_name("harness.py"))
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def visual(sample: Sample) -> list[str]:
    """Return a list with the path of the sample's video."""
    video = sample["metadata"]["video"]
    return [harness().video_path(video["table"], video["key"])]


def text(sample: Sample, prompt: Mapping[str, str] | None = None) -> str:
    """Return the prompt that asks the model a question."""
    prompt = prompt or {}
    return f"{prompt.get('pre_prompt', '')}{sample['input']}{prompt.get('post_prompt', '')}"


def target(sample: Sample) -> str:
    """Return the correct answer to a sample."""
    return str(sample["target"])


def results(sample: Sample, responses: Sequence[str]) -> dict[str, Any]:
    """Return the metrics of a response, and the log entry that `stressreel score` reads."""
    found: dict[str, Any] = harness().result(sample["metadata"], sample["target"], responses[0])
    return found
