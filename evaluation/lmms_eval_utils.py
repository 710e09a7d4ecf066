"""Process the documents of this folder's tasks: videos, prompts, and interpretation of answers.

`stressreel export lmms-eval` writes this file as `utils.py`, next to `harness.py`, which contains the parts common to
all harnesses. The file requires neither stressreel nor packages beyond those of lmms-eval. Functions specific to a
table are written below it, each as a `partial` of one here, because lmms-eval does not pass the table of a document.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

Doc = Mapping[str, Any]
Prompt = Mapping[str, Any]
YES_NO = ("no", "yes")


@cache
def harness() -> Any:
    """Load `harness.py` by path, as lmms-eval loads many files named utils.py, none of them as part of a package."""
    spec = importlib.util.spec_from_file_location("stressreel_harness", Path(__file__).with_name("harness.py"))
    if spec is None or spec.loader is None:
        raise ImportError(f"{Path(__file__).with_name('harness.py')} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Videos


def row_visual(table: str, key: str, doc: Doc) -> list[str]:
    """Return the video of a question, which refers to it by the key of another table."""
    return [harness().video_path(table, {key: doc[key]})]


def caption_visual(doc: Doc) -> list[str]:
    """Return the clip of a setting."""
    return [harness().video_path(doc["table"], {"clip_id": doc["clip_id"], "severity": doc["severity"]})]


def item_visual(doc: Doc) -> list[str]:
    """Return the video of an item."""
    return [harness().video_path(doc["table"], {doc["key"]: doc["video"]})]


def with_video(table: str, key: str, docs: Any) -> Any:
    """Remove the questions about videos that the build skipped."""
    known = harness().places(table, (key,))
    return docs.select([number for number, name in enumerate(docs[key]) if (name,) in known])


# Text


def letter(number: int) -> str:
    """Return the letter of an option."""
    return chr(ord("A") + number)


def lettered(question: str, options: Sequence[str], prompt: Prompt | None) -> str:
    """Return a question with its options."""
    prompt = prompt or {}
    lines = [f"{letter(number)}. {option}" for number, option in enumerate(options)]
    return "\n".join([f"{prompt.get('pre_prompt', '')}{question}", *lines]) + str(prompt.get("post_prompt", ""))


def question_text(doc: Doc, prompt: Prompt | None = None) -> str:
    """Return a question without options: yes/no or open-ended."""
    prompt = prompt or {}
    return f"{prompt.get('pre_prompt', '')}{doc['question']}{prompt.get('post_prompt', '')}"


def answer_text(doc: Doc, prompt: Prompt | None = None) -> str:
    """Return a causal question with its answer options."""
    return lettered(doc["question"], doc["options"], prompt)


def explanation_text(doc: Doc, prompt: Prompt | None = None) -> str:
    """Return a causal question with its explanation options."""
    return lettered(doc["question"], doc["explanation_options"], prompt)


def caption_text(doc: Doc, prompt: Prompt | None = None) -> str:
    """Return the captions to choose from."""
    return lettered("", doc["options"], prompt)


def item_text(doc: Doc, prompt: Prompt | None = None) -> str:
    """Return an item with its options."""
    return lettered(doc["question"], doc["options"], prompt)


# Correct answers


def yes_no_target(doc: Doc) -> str:
    """Return the correct answer; "" if it is withheld."""
    return "" if doc["answer"] is None else YES_NO[doc["answer"]]


def answer_target(doc: Doc) -> str:
    """Return the letter of the correct answer or caption."""
    return "" if doc["answer_index"] is None else letter(doc["answer_index"])


def explanation_target(doc: Doc) -> str:
    """Return the letter of the correct explanation."""
    return "" if doc["explanation_index"] is None else letter(doc["explanation_index"])


def node_yes_no_target(doc: Doc) -> str:
    """Return the correct answer to a node of a question graph; "" if it is unknown."""
    return str(doc["answer"] or "")


node_target = node_yes_no_target


def open_answer_target(doc: Doc) -> str:
    """Return the correct answer as text."""
    return str(doc["answer"] or "")


def open_explanation_target(doc: Doc) -> str:
    """Return the correct explanation as text."""
    return str(doc["explanation"] or "")


# Results


def yes_no_results(config: str, doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Score a yes/no answer."""
    return judged(results, YES_NO, doc["answer"], id=doc["question_id"], config=config)


def caption_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Score a choice of captions and log the id of the chosen one."""
    about = {"id": doc["clip_id"], "setting": doc["setting"]}
    return judged(results, doc["options"], doc["answer_index"], option_ids=doc["option_ids"], **about)


def item_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Score the choice of an option."""
    return judged(results, doc["options"], doc["answer_index"], id=doc["id"], config=doc["config"])


def node_yes_no_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Score a yes/no answer to a node of a question graph; all answers are incorrect if the truth is unknown."""
    right = YES_NO.index(harness().rules().plain(doc["answer"])) if doc["answer"] else -1
    return judged(results, YES_NO, right, id=doc["id"], config=doc["config"])


def node_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Score an open-ended answer to a node of a question graph."""
    metrics = ("accuracy", "unreadable")
    return compared(results, doc["answer"] or "", metrics, id=doc["id"], config=doc["config"])


def answer_results(config: str, doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Score the choice of an answer."""
    return judged(results, doc["options"], doc["answer_index"], id=doc["qid"], config=config)


def explanation_results(config: str, doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Score the choice of an explanation."""
    options, right = doc["explanation_options"], doc["explanation_index"]
    return judged(results, options, right, column="explanation", id=doc["qid"], config=config)


def open_answer_results(config: str, doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Log a generated answer."""
    return compared(results, doc["answer"], id=doc["qid"], config=config)


def open_explanation_results(config: str, doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Log a generated explanation."""
    return compared(results, doc["explanation"], column="explanation", id=doc["qid"], config=config)


def judged(results: Sequence[str], *given: Any, **about: Any) -> dict[str, Any]:
    """Score the choice of an option; see `harness.judged`."""
    found: dict[str, Any] = harness().judged(results[0], *given, **about)
    return found


def compared(results: Sequence[str], *given: Any, **about: Any) -> dict[str, Any]:
    """Compare a text with the correct one; see `harness.compared`."""
    found: dict[str, Any] = harness().compared(results[0], *given, **about)
    return found
