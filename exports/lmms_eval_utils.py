"""What the tasks of this folder do with a document: its video, its text, and what an answer means.

`stressreel export lmms-eval` writes this file as `utils.py`, beside `answers.py` (the rules of `stressreel score`) and
`output.json` (where the output lies). It needs neither stressreel nor anything that lmms-eval does not need. Functions
that are about one table are written below it, each as a `partial` of one here: lmms-eval does not tell which table a
document is from. Videos are copied out of the output's Parquet files when they are first asked for, a row group at a
time, into `$XDG_CACHE_HOME/stressreel/videos` (default `~/.cache`), each under its SHA-256.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

Doc = Mapping[str, Any]
Prompt = Mapping[str, Any]
Place = tuple[str, int, str]  # shard, row group, SHA-256
HERE = Path(__file__).parent
YES_NO = ("no", "yes")


@cache
def output() -> dict[str, Any]:
    """Read where the output lies, and its fingerprint."""
    content: dict[str, Any] = json.loads((HERE / "output.json").read_text(encoding="utf-8"))
    if not Path(content["path"]).is_dir():
        raise FileNotFoundError(
            f"the output {content['path']} is gone. Run `stressreel export lmms-eval` again where it is now."
        )
    return content


@cache
def rules() -> Any:
    """Load the rules by which answers are read."""
    spec = importlib.util.spec_from_file_location("stressreel_answers", HERE / "answers.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"{HERE / 'answers.py'} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Videos


@cache
def places(table: str, keys: tuple[str, ...]) -> dict[tuple[Any, ...], Place]:
    """Find every video of a table by the columns that name it."""
    import pyarrow.parquet as pq

    found: dict[tuple[Any, ...], Place] = {}
    for shard in sorted((Path(output()["path"]) / table).glob("[!.]*.parquet")):
        with pq.ParquetFile(shard) as file:
            for group in range(file.num_row_groups):
                rows = file.read_row_group(group, columns=[*keys, "sha256"]).to_pydict()
                for *name, sha256 in zip(*(rows[key] for key in keys), rows["sha256"], strict=True):
                    found[tuple(name)] = (str(shard), group, sha256)
    return found


def cache_folder() -> Path:
    """Return the folder that videos are copied to."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stressreel" / "videos"


def video_path(table: str, name: Mapping[str, Any]) -> str:
    """Return the path of a video, copying it (and those stored with it) out of the output first.

    Raises:
        KeyError: The table has no such video.
        ValueError: A stored video is not the one that was built.
    """
    shard, group, sha256 = places(table, tuple(name))[tuple(name.values())]
    target = cache_folder() / f"{sha256}.mp4"
    if not target.is_file():
        copy_videos(shard, group)
    return str(target)


def copy_videos(shard: str, group: int) -> None:
    """Copy the videos of a row group to the cache; several processes may do so at once."""
    import pyarrow.parquet as pq

    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with pq.ParquetFile(shard) as file:
        rows = file.read_row_group(group, columns=["sha256", "video"])
    for sha256, video in zip(rows.column("sha256").to_pylist(), rows.column("video"), strict=True):
        target = folder / f"{sha256}.mp4"
        if target.is_file():
            continue
        content = video["bytes"].as_py()
        if hashlib.sha256(content).hexdigest() != sha256:
            raise ValueError(f"a video in {shard} is not the one that was built; `stressreel verify` says more")
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".part")
        with os.fdopen(handle, "wb") as part:
            part.write(content)
        os.replace(temporary, target)


def row_visual(table: str, key: str, doc: Doc) -> list[str]:
    """Return the video of a question, which names it in the column that is the key of another table."""
    return [video_path(table, {key: doc[key]})]


def caption_visual(doc: Doc) -> list[str]:
    """Return the clip of a setting."""
    return [video_path(doc["table"], {"clip_id": doc["clip_id"], "severity": doc["severity"]})]


def item_visual(doc: Doc) -> list[str]:
    """Return the video of an item."""
    return [video_path(doc["table"], {doc["key"]: doc["video"]})]


def with_video(table: str, key: str, docs: Any) -> Any:
    """Leave out the questions whose videos were skipped in the build."""
    known = places(table, (key,))
    return docs.select([number for number, name in enumerate(docs[key]) if (name,) in known])


# Text


def letter(number: int) -> str:
    """Name an option."""
    return chr(ord("A") + number)


def lettered(question: str, options: Sequence[str], prompt: Prompt | None) -> str:
    """Write a question with its options."""
    prompt = prompt or {}
    lines = [f"{letter(number)}. {option}" for number, option in enumerate(options)]
    return "\n".join([f"{prompt.get('pre_prompt', '')}{question}", *lines]) + str(prompt.get("post_prompt", ""))


def question_text(doc: Doc, prompt: Prompt | None = None) -> str:
    """Write a question without options: of yes or no, or answered with a text."""
    prompt = prompt or {}
    return f"{prompt.get('pre_prompt', '')}{doc['question']}{prompt.get('post_prompt', '')}"


def answer_text(doc: Doc, prompt: Prompt | None = None) -> str:
    """Write a causal question with the answers to choose from."""
    return lettered(doc["question"], doc["options"], prompt)


def explanation_text(doc: Doc, prompt: Prompt | None = None) -> str:
    """Write a causal question with the explanations to choose from."""
    return lettered(doc["question"], doc["explanation_options"], prompt)


def caption_text(doc: Doc, prompt: Prompt | None = None) -> str:
    """Write the captions to choose from."""
    return lettered("", doc["options"], prompt)


def item_text(doc: Doc, prompt: Prompt | None = None) -> str:
    """Write an item with its options."""
    return lettered(doc["question"], doc["options"], prompt)


# Right answers


def yes_no_target(doc: Doc) -> str:
    """Return the right answer."""
    return YES_NO[doc["answer"]]


def answer_target(doc: Doc) -> str:
    """Return the letter of the right answer, or caption."""
    return letter(doc["answer_index"])


def explanation_target(doc: Doc) -> str:
    """Return the letter of the right explanation."""
    return letter(doc["explanation_index"])


def node_yes_no_target(doc: Doc) -> str:
    """Return the right answer to a node of a question graph; none where nothing decides it."""
    return str(doc["answer"] or "")


node_target = node_yes_no_target


def open_answer_target(doc: Doc) -> str:
    """Return the right answer as a text."""
    return str(doc["answer"])


def open_explanation_target(doc: Doc) -> str:
    """Return the right explanation as a text."""
    return str(doc["explanation"])


# Results. Every sample log has the key `stressreel`: what `stressreel score` reads.


def judged(response: str, options: Sequence[str], right: int, **logged: Any) -> dict[str, Any]:
    """Judge an answer, and log what identifies it."""
    pick = rules().read_answer(response, options)
    return {
        "accuracy": float(pick == right),
        "unreadable": float(pick is None),
        "stressreel": {**logged, "fingerprint": output()["fingerprint"]},
    }


def yes_no_results(config: str, doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Judge an answer of yes or no."""
    return judged(results[0], YES_NO, doc["answer"], id=doc["question_id"], config=config, answer=results[0])


def caption_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Judge a choice of captions; the id of the chosen one is logged.

    `stressreel score` takes any caption of the suite for an answer, by its text. An answer that means none of those
    that were offered is logged as what is no caption.
    """
    pick = rules().read_answer(results[0], doc["options"])
    answer = f"unreadable: {results[0]}" if pick is None else doc["option_ids"][pick]
    return judged(
        results[0], doc["options"], doc["answer_index"], id=doc["clip_id"], setting=doc["setting"], answer=answer
    )


def item_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Judge the choice of an option."""
    right = doc["answer_index"]
    return judged(results[0], doc["options"], right, id=doc["id"], config=doc["config"], answer=results[0])


def node_yes_no_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Judge an answer of yes or no to a node of a question graph; nothing is right where no answer is known."""
    right = YES_NO.index(rules().plain(doc["answer"])) if doc["answer"] else -1
    return judged(results[0], YES_NO, right, id=doc["id"], config=doc["config"], answer=results[0])


def node_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Judge the words that answer a node of a question graph; `stressreel score` reads more forms as right."""
    plain = rules().plain
    return {
        "accuracy": float(plain(results[0]) == plain(doc["answer"] or "")),
        "unreadable": float(not results[0].strip()),
        "stressreel": {
            "id": doc["id"],
            "config": doc["config"],
            "answer": results[0],
            "fingerprint": output()["fingerprint"],
        },
    }


def answer_results(config: str, doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Judge the choice of an answer."""
    return judged(results[0], doc["options"], doc["answer_index"], id=doc["qid"], config=config, answer=results[0])


def explanation_results(config: str, doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Judge the choice of an explanation."""
    right = doc["explanation_index"]
    return judged(results[0], doc["explanation_options"], right, id=doc["qid"], config=config, explanation=results[0])


def written(response: str, right: str, **logged: Any) -> dict[str, Any]:
    """Log a text. Whether it says what is right, `stressreel score open-ended` measures; here it is only compared."""
    plain = rules().plain
    return {
        "exact": float(plain(response) == plain(right)),
        "empty": float(not response.strip()),
        "stressreel": {**logged, "fingerprint": output()["fingerprint"]},
    }


def open_answer_results(config: str, doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Log a generated answer."""
    return written(results[0], doc["answer"], id=doc["qid"], config=config, answer=results[0])


def open_explanation_results(config: str, doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Log a generated explanation."""
    return written(results[0], doc["explanation"], id=doc["qid"], config=config, explanation=results[0])
