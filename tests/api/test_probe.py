"""`stressreel.probe`: its tables are those that the command prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import stressreel
import tiny_models
from commands import run
from extras import needs
from stressreel.core.errors import UsageError

pytestmark = needs("transformers")


def test_losses_are_what_the_command_prints(
    built: Path, once: Callable[[str, Callable[[Path], object]], Path], tmp_path: Path
) -> None:
    model, to = once("qwen2-vl", tiny_models.write_qwen2_vl), tmp_path / "p"
    how = {"transformers": model, "frames": 1, "limit": 2, "max_tokens": 1, "resamples": 100}
    found = stressreel.probe(built, to=to, short_circuits="text", operators="average", layer=[0, "1"], **how)
    options = ("--frames", 1, "--limit", 2, "--max-tokens", 1, "--resamples", 100, "--short-circuits", "text")
    more = ("--operators", "average", "--layer", 0, "--layer", 1)
    done = run("stressreel", "probe", built, "--transformers", model, "--to", to, *options, *more)
    assert (done.code, done.out) == (0, "\n".join([str(found), *found.written, ""]))
    assert found.as_json() == json.loads((to / "probe.json").read_text())
    frame = found.to_pandas("accuracy")
    assert frame["condition"].tolist() == ["baseline", "language-only", "video-only", "text-average"]
    assert {"value", "low", "high", "change", "change low", "change high"} <= {*frame}
    for wrong in ({"operators": "mean"}, {"short_circuits": ()}, {"pairs": 0}, {"layer": 1.5}):
        with pytest.raises(UsageError):
            stressreel.probe(built, transformers=tmp_path / "none", to=tmp_path / "p", **wrong)
