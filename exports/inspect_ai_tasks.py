"""Run the questions of an output as inspect-ai tasks, with `inspect eval tasks.py@NAME --model MODEL`.

`stressreel export inspect` writes this file as `tasks.py`, followed by one function per task, beside the samples
(`NAME.jsonl`), `harness.py`, `frames.py`, `answers.py` and `output.json`. It requires inspect-ai with its dependencies
anyio and numpy, and for videos pyarrow, av and pillow, but not stressreel.

Tasks have three parameters, which are given as in `-T frames=8`. `frames` is the number of frames, `size` is the
maximum length of their longer side in pixels (0 keeps the original size), and `send` is "frames", or "video" to send
the video file itself.
"""

from __future__ import annotations

import base64
import importlib.util
from functools import cache, partial
from pathlib import Path
from typing import Any

import anyio.to_thread
from inspect_ai import Task
from inspect_ai.dataset import json_dataset
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, ContentVideo, GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

HERE = Path(__file__).parent
SENT = ("frames", "video")


@cache
def beside(name: str) -> Any:
    """Import a file of this folder by path, because other task folders contain files with the same names."""
    spec = importlib.util.spec_from_file_location(f"stressreel_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def exported(name: str, frames: int, size: int, send: str) -> Task:
    """Return the inspect-ai task with this name, or raise ValueError if a parameter is invalid."""
    if send not in SENT:
        raise ValueError(f"-T send={send!r}: expected {' or '.join(SENT)}.")
    if not (type(frames) is int and frames > 0 and type(size) is int and size >= 0):
        raise ValueError(
            f"frames must be a whole number of at least 1 and size one of at least 0; got -T frames={frames!r} -T "
            f"size={size!r}."
        )
    about = beside("harness").output()["tasks"][name]
    return Task(
        dataset=json_dataset(str(HERE / f"{name}.jsonl"), name=name),
        setup=show(frames, size, send),
        solver=generate(),
        scorer=judge(),
        config=GenerateConfig(**about["config"]),
        version=about["metadata"]["version"],
        metadata=about["metadata"],
    )


@solver
def show(frames: int, size: int, send: str) -> Solver:
    """Return a solver that inserts the video before the text of each sample."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        parts = await anyio.to_thread.run_sync(partial(shown, state.metadata["video"], frames, size, send))
        state.messages = [ChatMessageUser(content=[*parts, ContentText(text=state.input_text)])]
        return state

    return solve


def shown(video: dict[str, Any], frames: int, size: int, send: str) -> list[Any]:
    """Return message parts with the content of a video, since inspect-ai accepts no paths from solvers."""
    harness = beside("harness")
    path = harness.video_path(video["table"], video["key"])
    if send == "video":
        return [ContentVideo(video=data_url("video/mp4", Path(path).read_bytes()), format="mp4")]
    pictures = beside("frames").sampled_frames(path, frames, size)
    images = [ContentImage(image=data_url("image/jpeg", picture)) for picture in pictures]
    return [ContentText(text=harness.output()["frames"]), *images]


def data_url(kind: str, content: bytes) -> str:
    """Encode bytes as a data URL of a MIME type."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


@scorer(metrics={"*": [mean()]})
def judge() -> Scorer:
    """Return a scorer that judges answers as `stressreel score` does, and logs them in the form that it reads."""

    async def score(state: TaskState, target: Target) -> Score:
        said = state.output.completion
        found = beside("harness").result(state.metadata, target.text, said)
        logged = {"stressreel": found.pop("stressreel")}
        return Score(value=found, answer=said, metadata=logged)

    return score
