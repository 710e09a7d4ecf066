"""Confuse options with a language model, local or behind an OpenAI-compatible endpoint, and check its answers.

The model is prompted for a negation and for a role swap. If an answer fails `check_confusion`, it is requested again.
Answers are cached on disk by the hash of everything that determines them, so that repeating a build sends no requests.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..core.documents import parse_json
from ..core.errors import BuildError
from ..core.extras import Requirement, import_extra, package
from ..core.files import sha256_text, write_json
from ..language.hub import ModelFiles, load_model, model_files, model_requirement
from ..language.people import Cast
from ..language.words import name_pattern, text_key
from .confusion import KINDS, Confusion, ConfusionKind, Unconfused

KEYS = ("STRESSREEL_LLM_KEY", "OPENAI_API_KEY")
TRIES, TIMEOUT_S, AT_ONCE = 4, 60.0, 8
NEGATION = re.compile(r"\b(?:not|never|no|nobody|nothing|cannot|without)\b|n['’]t\b", re.IGNORECASE)
ADVICE = "--llm-model takes a folder or a name on the Hub."
VERSION = 1  # version of prompts and checks
TASKS: dict[ConfusionKind, str] = {
    "negation": "State the opposite of the sentence: negate its main clause, or remove the negation that it has.",
    "swap": "Exchange who does it and to whom it is done: every mention of the one becomes the other.",
}
INSTRUCTIONS = (
    "{task} Change nothing else. Keep the capitals, the apostrophes and the final mark, name nobody new, and answer "
    'with the new sentence alone. If it cannot be done, answer with the word "impossible".'
)


@dataclass(frozen=True)
class ChatEndpoint:
    """A model behind an OpenAI-compatible endpoint. The API key is read from the environment and never written.

    Attributes:
        base_url: Address, such as "http://localhost:8000/v1".
        timeout_s: Maximum time to wait for an answer.
    """

    base_url: str
    model: str
    timeout_s: float = TIMEOUT_S

    @property
    def name(self) -> str:
        """Return the name of the model and its endpoint, which identify it in the cache."""
        return f"{self.model} at {self.base_url.rstrip('/')}"

    @property
    def model_name(self) -> str:
        """Return the name of the model without its address."""
        return self.model

    def answer(self, instructions: str, text: str, attempt: int) -> str:
        """Send a request and return the answer.

        Raises:
            BuildError: Several attempts returned no valid answer.
        """
        return asyncio.run(self._answer(instructions, text, attempt))

    async def _answer(self, instructions: str, sentence: str, attempt: int) -> str:
        chat = import_extra("..language.chat", __package__, what="--llm-base-url")
        messages = _messages(instructions, sentence)
        temperature = 0.0 if attempt == 0 else 0.7
        fields = {"temperature": temperature, "seed": attempt, "max_tokens": 40 + len(sentence) // 2}
        client = chat.ChatClient(self.base_url, KEYS, retries=TRIES - 1, timeout=self.timeout_s)
        try:
            for _ in range(TRIES):
                try:
                    text: str | None = (await client.complete(self.model, messages, fields)).text
                except ValueError:
                    problem = "the response is not a chat completion"
                    continue
                except chat.openai.OpenAIError as error:
                    problem = client.plain(error)
                    break
                if text is not None:
                    return text
                problem = "its answer holds no text"
        finally:
            await client.close()
        raise BuildError(
            f"the language model {self.name} did not answer: {problem}. Check --llm-base-url, --llm-model and the key "
            f"in {' or '.join(KEYS)}. The answers so far are kept; run the same command again to continue."
        )


@dataclass(frozen=True)
class LocalModel:
    """A causal language model for the transformers library.

    Attributes:
        path: Folder, or name on the Hub.
    """

    path: str

    @property
    def name(self) -> str:
        """Return hashes of the weights and settings, since folders of the same name may contain different models."""
        files = _local_files(self.path).identity()
        return f"transformers weights {files['weights']} settings {files['settings']}"

    @property
    def model_name(self) -> str:
        """Return the name of the model and the hash of its weights."""
        return f"{Path(self.path).name} (weights {_local_files(self.path).identity()['weights'][:12]})"

    def answer(self, instructions: str, text: str, attempt: int) -> str:
        """Answer with greedy decoding at first, and with the next best beam in later attempts."""
        tokenizer, model = _load_local(self.path)
        messages = _messages(instructions, text)
        if tokenizer.chat_template:
            prompt = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        else:
            prompt = f"{instructions}\n\nSentence: {text}\nNew sentence:"
        tokens = tokenizer(prompt, return_tensors="pt")
        outputs = model.generate(
            **tokens,
            max_new_tokens=40 + len(text) // 2,
            do_sample=False,
            num_beams=1 + attempt,
            num_return_sequences=1 + attempt,
            pad_token_id=tokenizer.eos_token_id or 0,
        )
        answer: str = tokenizer.decode(outputs[attempt][tokens["input_ids"].shape[1] :], skip_special_tokens=True)
        return answer.strip().split("\n")[0]


Generator = ChatEndpoint | LocalModel


def local_requirements(path: str) -> list[Requirement]:
    """Describe what a local language model needs: packages, and the model, in a folder or by its name on the Hub."""
    packages = [package(module, "--llm-model", "models") for module in ("transformers", "torch")]
    return [*packages, model_requirement(path, "", "--llm-model", ADVICE)]


def _local_files(path: str) -> ModelFiles:
    return model_files(path, "", ADVICE)


@cache
def _load_local(path: str) -> tuple[Any, Any]:
    return load_model(_local_files(path), "AutoModelForCausalLM", ADVICE)


def _messages(instructions: str, text: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": instructions}, {"role": "user", "content": text}]


def check_confusion(kind: ConfusionKind, right: str, answer: str, cast: Cast, options: Sequence[str] = ()) -> str:
    """Return what is wrong with a confusion, or "" if nothing is.

    A negation changes the number of negations and no name. A swap preserves both but moves names. Both preserve the
    final punctuation and approximately the length of the correct answer, and differ from every other option.
    """
    if not answer or "\n" in answer:
        return "it is not one line of text"
    if text_key(answer) in {text_key(option) for option in (right, *options)}:
        return "it says the same as the right answer or another option"
    if not 0.5 <= len(answer) / len(right) <= 1.5 + 12 / len(right):
        return "its length is too different"
    if answer.rstrip()[-1:].isalnum() != right.rstrip()[-1:].isalnum():
        return "its final mark differs"
    pattern = name_pattern(cast.names)
    before, after = ([m[0].lower() for m in pattern.finditer(t)] if pattern else [] for t in (right, answer))
    if set(after) - set(before):
        return "it names somebody new"
    negations = len(NEGATION.findall(answer)) - len(NEGATION.findall(right))
    if kind == "negation" and negations == 0:
        return "it is not negated"
    if kind == "negation" and sorted(before) != sorted(after):
        return "it names others"
    if kind == "swap" and negations:
        return "it is negated"
    if kind == "swap" and before == after:
        return "nobody is exchanged"
    return ""


def ask(
    right: str, generator: Generator, cast: Cast, folder: Path, *, tries: int = 2
) -> dict[ConfusionKind, Confusion | Unconfused]:
    """Return both confusions of a text, from the cache or from a model.

    Raises:
        BuildError: The model did not answer; see `ChatEndpoint.answer`.
    """
    confusions: dict[ConfusionKind, Confusion | Unconfused] = {}
    for kind in KINDS:
        refused = ""
        for attempt in range(tries):
            answer = _tidy(_remembered(kind, right, generator, folder, attempt), right)
            refused = "the model says that it cannot be done" if answer.lower().rstrip(".") == "impossible" else ""
            refused = refused or check_confusion(kind, right, answer, cast)
            if not refused:
                confusions[kind] = Confusion(answer, kind)
                break
        confusions.setdefault(kind, Unconfused(kind, refused))
    return confusions


def ask_all(
    texts: Sequence[str], generator: Generator, cast: Cast, folder: Path, at_once: int = AT_ONCE
) -> Iterator[tuple[str, Mapping[ConfusionKind, Confusion | Unconfused]]]:
    """Yield the confusions of many texts in order. An endpoint receives several requests in parallel."""
    with ThreadPoolExecutor(at_once if isinstance(generator, ChatEndpoint) else 1) as pool:
        yield from zip(texts, pool.map(lambda text: ask(text, generator, cast, folder), texts), strict=True)


def estimate(texts: Sequence[str]) -> str:
    """Estimate the number of requests and of tokens, at four characters per token."""
    requests = len(texts) * len(KINDS)
    tokens_asked = sum(len(INSTRUCTIONS) + len(task) + len(text) for text in texts for task in TASKS.values()) // 4
    answered = sum(len(text) for text in texts) * len(KINDS) // 4
    tokens = f"about {tokens_asked:,} tokens asked and {answered:,} answered (before what is asked again)"
    return f"{requests:,} requests, {tokens}"


def _remembered(kind: ConfusionKind, right: str, generator: Generator, folder: Path, attempt: int) -> str:
    instructions = INSTRUCTIONS.format(task=TASKS[kind])
    key = sha256_text(json.dumps([VERSION, generator.name, instructions, right, attempt]))
    path = folder / key[:2] / f"{key}.json"
    if path.is_file():
        try:
            return str(parse_json(path.read_text(encoding="utf-8"))["answer"])
        except (ValueError, KeyError, TypeError):
            pass  # if the file is damaged, request the answer again
    answer = generator.answer(instructions, right, attempt)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {"text": right, "kind": kind, "model": generator.name, "answer": answer})
    return answer


def _tidy(answer: str, right: str) -> str:
    text = answer.strip().strip('"“”').strip()
    if text and right[:1].isupper():
        text = text[:1].upper() + text[1:]
    if right.rstrip().endswith(".") and text and text[-1].isalnum():
        text += "."
    elif text.endswith(".") and not right.rstrip().endswith("."):
        text = text.rstrip(".")
    return text
