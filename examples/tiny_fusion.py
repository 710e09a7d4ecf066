"""Train a small transformer that fuses frames and words on CLAVI, and one that does not; run QUAG on both.

    python examples/drawn_world.py out/world
    build-clavi --charades out/world --rules paper --preset ultrafast --out out/clavi
    python examples/tiny_fusion.py out/clavi --to out/fusion

Three models are trained: in `fusing`, frames and words attend to each other; in `late`, each modality attends only to
itself, and only the head sees both; `blind` sees no frames. All use the same features: a convolutional network and word
vectors trained to name the action of single frames of train. CLAVI is hard to learn directly (within a pair, no two of
wording, action and order determine the answer), so training has three stages: existence questions, including some about
other videos, whose answer is "no"; questions of the types "beginning" and "before"; all questions. Each model then
answers test under every short-circuit of QUAG, by averages (the paper's) and by knockout, and is scored with
`stressreel.score`. Needs `pip install 'stressreel[probes]'`.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import stressreel
import torch
from frames import Ints, chosen_frames, opened, rows, run
from numpy.typing import NDArray
from stressreel.core.numerics import rng_for
from stressreel.core.output import FinishedOutput
from stressreel.evaluation.probes import NEITHER, TEXT, VIDEO, quag
from torch import nn

FRAMES, SMALL = 8, (64, 48)
WIDTH, HEADS, LAYERS = 64, 4, 2
ELSEWHERE = 3  # number of existence questions about other videos per training question
SHIFT = 8  # maximum shift of training frames in pixels
PADDING, UNKNOWN, ANSWER = 0, 1, 2  # ids of the special words; the answer is read at ANSWER
CIRCUITS = ("unimodal", "crossmodal", "video", "text")
SCORES = ("accuracy", "CAcc_V control", "CAcc_T control", "CAcc_V complement", "CAcc_T complement")


@dataclass(frozen=True)
class Clips:
    """The videos of a split.

    Attributes:
        numbers: Index of each video by id.
        pictures: uint8 of shape (videos, 8, 3, 48, 64), evenly spaced frames.
        actions: int64 of shape (videos, 8), annotated class of each frame, -1 if none or unknown.
    """

    numbers: dict[str, int]
    pictures: NDArray[np.uint8]
    actions: Ints


@dataclass(frozen=True)
class Questions:
    """The questions of a split: ids, words of shape (questions, longest), indices of videos, and answers 0 or 1."""

    ids: list[str]
    words: Ints
    videos: Ints
    answers: NDArray[np.float32]


def read_clips(output: FinishedOutput, split: str, classes: list[str]) -> Clips:
    """Decode the videos of a split. Actions are known only for V, from the table of pairs."""
    times = ("start_a_s", "end_a_s", "start_b_s", "end_b_s")
    pairs = {
        row["pair_id"]: row for row in rows(output, "pairs", ["pair_id", "class_a", "class_b", "out_a", *times], split)
    }
    numbers, pictures, actions = {}, [], []
    for row in rows(output, "videos", ["video_id", "pair_id", "variant", "num_frames", "duration_s", "video"], split):
        chosen = np.linspace(0, row["num_frames"] - 1, FRAMES).round().astype(int)
        pair, named = pairs[row["pair_id"]], np.full(FRAMES, -1)
        seconds = pair["out_a"] + (chosen + 0.5) / row["num_frames"] * row["duration_s"]
        for letter in "ab" if row["variant"] == "original" else "":
            inside = (seconds >= pair[f"start_{letter}_s"]) & (seconds < pair[f"end_{letter}_s"])
            if pair[f"class_{letter}"] in classes:
                named[inside] = classes.index(pair[f"class_{letter}"])
        numbers[row["video_id"]] = len(pictures)
        pictures.append(chosen_frames(row["video"]["bytes"], chosen, *SMALL).transpose(0, 3, 1, 2))
        actions.append(named)
    return Clips(numbers, np.stack(pictures), np.stack(actions))


def split_words(question: str) -> list[str]:
    """Split a question into words."""
    return re.findall(r"[a-z]+", question.lower())


def read_questions(asked: list[dict[str, Any]], clips: Clips, vocabulary: dict[str, int], longest: int) -> Questions:
    """Encode the words of each question, after the answer token."""
    words = np.full((len(asked), longest), PADDING)
    for number, row in enumerate(asked):
        ids = [ANSWER, *(vocabulary.get(word, UNKNOWN) for word in split_words(row["question"]))][:longest]
        words[number, : len(ids)] = ids
    videos = np.array([clips.numbers[row["video_id"]] for row in asked])
    answers = np.array([row["answer"] for row in asked], np.float32)
    return Questions([row["question_id"] for row in asked], words, videos, answers)


def made(rng: np.random.Generator, make: Callable[[], nn.Module]) -> Any:
    """Create a module with weights from `rng`: matrices uniform in ±√(1 / inputs), normal embeddings, zero biases."""
    with torch.random.fork_rng(devices=[]):  # keeps the layers' own initialization from changing torch's global state
        module = make()
    with torch.no_grad():
        for name, values in module.named_parameters():
            if values.ndim > 1:
                fan = values[0].numel()
                drawn = rng.normal(0, 0.5, values.shape) if "embed" in name else rng.uniform(-1, 1, values.shape)
                values.copy_(torch.from_numpy(drawn if "embed" in name else drawn * np.sqrt(1 / fan)))
            elif "bias" in name:
                values.zero_()
    return module


class Naming(nn.Module):
    """Classifies the action in a frame as the class whose mean word vector is most similar to the frame's features."""

    def __init__(self, phrases: Ints, words: int):
        """Create four convolutions, each of which halves the resolution, and word vectors for the names `phrases`."""
        super().__init__()
        self.phrases = phrases
        widths = (3, 16, 32, 64, WIDTH)
        layers: list[nn.Module] = []
        for before, after in pairwise(widths):
            layers += [nn.Conv2d(before, after, 3, stride=2, padding=1), nn.ReLU()]
        self.look = nn.Sequential(*layers, nn.Flatten(), nn.Linear(WIDTH * 3 * 4, WIDTH), nn.LayerNorm(WIDTH))
        self.embed_words = nn.Embedding(words, WIDTH)

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        """Return class scores of shape (frames, classes) for features of shape (frames, 64)."""
        words = torch.from_numpy(self.phrases)
        there = (words != PADDING).to(torch.float32).unsqueeze(-1)
        means = (self.embed_words(words) * there).sum(1) / there.sum(1)
        named: torch.Tensor = seen @ means.T / WIDTH**0.5
        return named


class Answering(nn.Module):
    """Answers questions about videos. `kind` is "fusing", "late" or "blind"."""

    def __init__(self, kind: str, words: int, longest: int):
        super().__init__()
        self.kind = kind
        self.embed_words, self.embed_places = nn.Embedding(words, WIDTH), nn.Embedding(FRAMES + longest, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, LAYERS, nn.LayerNorm(WIDTH), enable_nested_tensor=False)
        parts = 3 if kind == "late" else 1
        self.head = nn.Sequential(nn.Linear(parts * WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, 1))

    def forward(self, frames: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """Return the logits of "yes", shape (questions,), for features (questions, 8, 64) and words (questions, …)."""
        text = self.embed_words(words) + self.embed_places.weight[FRAMES:]
        padding, mask, count = words == PADDING, None, 0
        if self.kind != "blind":
            video, count = frames + self.embed_places.weight[:FRAMES], FRAMES
            text = torch.cat([video, text], 1)
            padding = torch.cat([padding.new_zeros(len(words), FRAMES), padding], 1)
        if self.kind == "late":
            kinds = torch.arange(text.shape[1]) < FRAMES
            mask = kinds[:, None] != kinds
        mixed = self.layers(text, mask, padding)
        answer = mixed[:, count]
        if self.kind == "late":
            looked = mixed[:, :FRAMES].mean(1)
            answer = torch.cat([answer, looked, answer * looked], 1)
        scored: torch.Tensor = self.head(answer).squeeze(1)
        return scored

    def labels(self, words: Ints) -> Ints:
        """Return the modality of each token."""
        text = np.where(words == PADDING, NEITHER, TEXT)
        video = np.full((len(words), 0 if self.kind == "blind" else FRAMES), VIDEO)
        return np.concatenate([video, text], axis=1)


def train(
    model: nn.Module,
    rng: np.random.Generator,
    count: int,
    batch: int,
    epochs: int,
    rate: float,
    loss_of: Callable[[Ints], torch.Tensor],
) -> None:
    """Train with Adam. The learning rate rises during the first twentieth of the steps, then decays to 0."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    steps, step = epochs * -(-count // batch), 0
    for _ in range(epochs):
        for chosen in np.array_split(rng.permutation(count), -(-count // batch)):
            optimiser.param_groups[0]["lr"] = rate * min(1, 20 * (step + 1) / steps) * (1 - step / steps)
            optimiser.zero_grad()
            loss_of(chosen).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            step += 1
    model.eval()


def differences(clips: Clips) -> torch.Tensor:
    """Subtract from each frame the median picture of its video, and return shape (videos, 8, 3, 48, 64)."""
    usual = np.median(clips.pictures, axis=1, keepdims=True)
    return torch.from_numpy(((clips.pictures - usual) / 127.5).astype(np.float32))


def learn_features(seed: int, epochs: int, learned: Clips, phrases: Ints, words: int) -> Naming:
    """Train the action classifier on the annotated frames of the training videos, randomly shifted and mirrored."""
    model: Naming = made(rng_for(seed, "naming", "weights"), lambda: Naming(phrases, words))
    pictures = differences(learned)[torch.from_numpy(learned.actions >= 0)]
    actions = torch.from_numpy(learned.actions[learned.actions >= 0])
    loss, rng = nn.CrossEntropyLoss(), rng_for(seed, "naming", "order")

    def loss_of(chosen: Ints) -> torch.Tensor:
        shown = torch.roll(pictures[chosen], int(rng.integers(-SHIFT, SHIFT + 1)), 3)
        shown = shown.flip(3) if rng.random() < 0.5 else shown
        found: torch.Tensor = loss(model(model.look(shown)), actions[chosen])
        return found

    train(model, rng, len(actions), 64, epochs, 0.002, loss_of)
    return model


def features_of(model: Naming, clips: Clips) -> tuple[torch.Tensor, float]:
    """Return features of shape (videos, 8, 64) and the accuracy of the action classifier."""
    with torch.no_grad():
        found = torch.stack([model.look(one) for one in differences(clips)])
        named = model(found.flatten(0, 1)).argmax(-1).view(found.shape[:2]).numpy()
    known = clips.actions >= 0
    return found, float((named == clips.actions)[known].mean())


def put_elsewhere(rng: np.random.Generator, asked: Questions, known: Sequence[set[str]], about: list[str]) -> Questions:
    """Ask existence questions about videos whose sources do not contain the action, so that the answer is "no".

    `asked` are the questions to copy, and `about` is the class that each one asks about. `known` holds the annotated
    classes of each video's source.
    """
    words, videos = np.repeat(asked.words, ELSEWHERE, axis=0), []
    for action in np.repeat(about, ELSEWHERE):
        others = [number for number, there in enumerate(known) if action not in there]
        videos.append(others[rng.integers(len(others))])
    return Questions([], words, np.array(videos), np.zeros(len(words), np.float32))


def learn_answers(
    kind: str, seed: int, epochs: int, features: torch.Tensor, lessons: Sequence[Questions], word_vectors: torch.Tensor
) -> Answering:
    """Train one of the three models stage by stage."""
    count, longest = len(word_vectors), lessons[0].words.shape[1]
    model: Answering = made(rng_for(seed, "answering", "weights"), lambda: Answering(kind, count, longest))
    with torch.no_grad():
        model.embed_words.weight.copy_(word_vectors)
    loss = nn.BCEWithLogitsLoss()
    for number, lesson in enumerate(lessons):
        words, answers = torch.from_numpy(lesson.words), torch.from_numpy(lesson.answers)

        def loss_of(chosen: Ints, lesson: Questions = lesson, words: Any = words, answers: Any = answers) -> Any:
            return loss(model(features[lesson.videos[chosen]], words[chosen]), answers[chosen])

        order = rng_for(seed, "answering", "order", number)
        train(model, order, len(answers), 64, epochs, 0.001, loss_of)
    return model


def answer(model: Answering, features: torch.Tensor, asked: Questions, circuit: str, operator: str) -> list[str]:
    """Answer all questions, under a short-circuit unless `circuit` is ""."""
    found: list[str] = []
    for begin in range(0, len(asked.ids), 512):
        words, videos = asked.words[begin : begin + 512], asked.videos[begin : begin + 512]
        around: AbstractContextManager[Any] = nullcontext()
        if circuit:
            around = quag(model, circuit, modality=model.labels(words), operator=operator, measure=False)
        with torch.no_grad(), around:
            scores = model(features[videos], torch.from_numpy(words))
        found += ["yes" if score > 0 else "no" for score in scores.tolist()]
    return found


def conditions() -> Iterator[tuple[str, str]]:
    """Yield pairs of a short-circuit and an operator. The first pair has neither."""
    yield "", ""
    yield from ((circuit, operator) for operator in ("average", "knockout") for circuit in CIRCUITS)


def table(measured: Sequence[dict[str, Any]]) -> str:
    """Format the scores, in percent, as a Markdown table."""
    lines = [f"| model | short-circuit | {' | '.join(SCORES)} |", f"|---|---|{'--:|' * len(SCORES)}"]
    for row in measured:
        what = f"{row['circuit']}, {row['operator']}" if row["circuit"] else "none"
        lines.append(f"| {row['model']} | {what} | {' | '.join(f'{100 * row[name]:.1f}' for name in SCORES)} |")
    return "\n".join(lines) + "\n"


def read_all(output: FinishedOutput, seed: int) -> tuple[dict[str, Clips], list[Questions], Questions, Ints, int]:
    """Return the clips by split, training stages, test questions, words of the classes, and vocabulary size."""
    columns = ["question_id", "video_id", "pair_id", "question", "answer", "type"]
    asked = {split: list(rows(output, "questions", columns, split)) for split in ("train", "test")}
    columns = ["pair_id", "source_id", "class_a", "class_b", "phrase_a", "phrase_b"]
    pairs = list(rows(output, "pairs", columns, "train"))
    phrases = {row[f"class_{one}"]: row[f"phrase_{one}"] for row in pairs for one in "ab"}
    classes = sorted(phrases)
    clips = {split: read_clips(output, split, classes) for split in asked}
    words = sorted({word for row in asked["train"] for word in split_words(row["question"])})
    vocabulary = {word: number for number, word in enumerate(words, ANSWER + 1)}
    longest = 1 + max(len(split_words(row["question"])) for row in asked["train"])

    def read(chosen: list[dict[str, Any]], split: str = "train") -> Questions:
        return read_questions(chosen, clips[split], vocabulary, longest)

    by_source: dict[str, set[str]] = {}
    for row in pairs:
        by_source.setdefault(row["source_id"], set()).update((row["class_a"], row["class_b"]))
    source_of = {row["pair_id"]: row["source_id"] for row in pairs}
    known = [by_source[source_of[video.rpartition("_")[0]]] for video in clips["train"].numbers]
    existence = [row for row in asked["train"] if row["type"] == "E"]
    first = existence + [
        row
        for row in asked["train"]
        if row["type"] in ("BE", "BA") and {"beginning", "before"} & set(split_words(row["question"]))
    ]
    class_of = {f"Was someone {phrase}?": name for name, phrase in phrases.items()}
    there = read(existence)
    about = [class_of[row["question"]] for row in existence]
    elsewhere = put_elsewhere(rng_for(seed, "elsewhere"), there, known, about)
    lessons = [
        Questions(
            [],
            *(
                np.concatenate([getattr(one, name) for one in (there, elsewhere)])
                for name in ("words", "videos", "answers")
            ),
        ),
        read(first),
        read(asked["train"]),
    ]
    named = np.full((len(classes), longest), PADDING)
    for number, name in enumerate(classes):
        ids = [vocabulary[word] for word in split_words(phrases[name])]
        named[number, : len(ids)] = ids
    return clips, lessons, read(asked["test"], "test"), named, ANSWER + 1 + len(words)


def main() -> None:
    """Train the models, answer the test split, and score and plot the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="output of build-clavi")
    parser.add_argument("--to", type=Path, required=True, help="folder in which to save predictions and table")
    parser.add_argument(
        "--epochs",
        type=int,
        default=6,
        help="number of epochs per stage; the frame classifier is trained for three times as many",
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    started = time.perf_counter()
    torch.set_num_threads(1)  # the order of summation, and therefore the result, depends on the number of threads

    def say(text: str) -> None:
        print(f"{time.perf_counter() - started:5.0f} s  {text}", flush=True)

    output = opened(given.out, "clavi")
    clips, lessons, asked, phrases, words = read_all(output, given.seed)
    say(f"read {', '.join(f'{len(clips[one].numbers):,} videos of {one}' for one in clips)}")
    naming = learn_features(given.seed, 3 * given.epochs, clips["train"], phrases, words)
    features, right = {}, {}
    for split in clips:
        features[split], right[split] = features_of(naming, clips[split])
    say(f"frame accuracy over {len(phrases)} actions: {right['train']:.1%} on train, {right['test']:.1%} on test")
    given.to.mkdir(parents=True, exist_ok=True)
    measured = []
    for kind in ("fusing", "late", "blind"):
        vectors = naming.embed_words.weight.detach()
        model = learn_answers(kind, given.seed, given.epochs, features["train"], lessons, vectors)
        say(f"trained {kind}, {sum(one.numel() for one in model.parameters()):,} weights")
        for circuit, operator in conditions():
            said = answer(model, features["test"], asked, circuit, operator)
            path = given.to / f"{'-'.join(filter(None, (kind, circuit, operator)))}.jsonl"
            lines = [json.dumps({"id": id, "answer": one}) for id, one in zip(asked.ids, said, strict=True)]
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            headline = stressreel.score(given.out, path, resamples=100).headline  # intervals are not shown
            values = {name: estimate.value for name, estimate in headline.items()}
            measured.append({"model": kind, "circuit": circuit, "operator": operator, **values})
        row = measured[-1 - 2 * len(CIRCUITS)]
        say(f"scored {kind}: " + ", ".join(f"{name} {row[name]:.3f}" for name in SCORES))
    (given.to / "scores.json").write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    (given.to / "scores.md").write_text(table(measured), encoding="utf-8")
    print(table(measured), end="")


if __name__ == "__main__":
    run(main)
