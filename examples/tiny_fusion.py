"""Train a small transformer that fuses frames and words on CLAVI, and two that do not; run QUAG on all three.

    python examples/tiny_fusion.py out/train-clavi out/test-clavi --to out/fusion

The models learn from all questions of the first output and answer those of the second; docs/probes.md shows how to draw
and build both. A convolutional network first learns to name the action in a picture, by comparing the picture with
vectors of words. Three transformers then learn to answer from its features and vectors. In `fusing`, frames and words
attend to each other. `late` is the same, except that each modality attends only to itself, so that only the head
combines them, one vector of each. `blind` sees no frames. CLAVI is hard to learn directly (within a pair, no two of
wording, action and order determine the answer), so there are three lessons: what happens, what happens first, and all
questions. Each model answers under every short-circuit of QUAG, by averages (the paper's) and by knockout, and is
scored with `stressreel.score`. Needs `pip install 'stressreel[probes]'`.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice, pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import stressreel
import torch
from frames import Ints, chosen_frames, opened, rows, run
from numpy.typing import NDArray
from stressreel.core.numerics import rng_for
from stressreel.core.results import Estimate
from stressreel.data_cards.figures import COLOURS, bar_axes, draw_png, estimated_bars
from stressreel.evaluation.probes import NEITHER, TEXT, VIDEO, quag
from torch import nn
from torch.nn import functional

MOMENTS, SMALL, APART_S = 16, (80, 60), 0.5  # pictures per video, their size, seconds from each to its second frame
WIDTH, HEADS, LAYERS = 64, 4, 2
SHIFT = 8  # maximum shift of training pictures in pixels
PADDING, UNKNOWN, ANSWER = 0, 1, 2  # ids of the special words; the answer is read at ANSWER
LONGEST = 40  # maximum words of a question
ELSEWHERE = 3  # number of other videos about which each question is asked in the first lesson
CORES = 2  # results depend on the number of threads, because it determines the order of summation
KINDS = ("fusing", "late", "blind")
CIRCUITS = ("unimodal", "crossmodal", "video", "text")
CONDITIONS = ("none", *(f"{circuit}, {operator}" for operator in ("average", "knockout") for circuit in CIRCUITS))
SCORES = ("accuracy", "CAcc_V complement", "CAcc_T complement")


@dataclass(frozen=True)
class Benchmark:
    """The videos and questions of all splits of an output.

    Attributes:
        pictures: uint8 of shape (videos, 16, 4, 60, 80): colours, and 128 + half the change of brightness in 0.5 s.
        actions: Class of the action in each picture of shape (videos, 16), "" if none is annotated.
        there: Annotated classes of each video's source.
        phrases: The phrase of each class.
        questions: Rows of the table of questions.
        videos: Index of each question's video.
    """

    pictures: NDArray[np.uint8]
    actions: NDArray[np.str_]
    there: list[set[str]]
    phrases: dict[str, str]
    questions: list[dict[str, Any]]
    videos: Ints


def read(path: Path) -> Benchmark:
    """Read an output, and decode a few small frames of each video."""
    output, sides = opened(path, "clavi"), [f"{name}_{letter}" for letter in "ab" for name in ("class", "phrase")]
    times = [f"{end}_{letter}_s" for letter in "ab" for end in ("start", "end")]
    pairs = {row["pair_id"]: row for row in rows(output, "pairs", ["pair_id", "source_id", "out_a", *sides, *times])}
    known: dict[str, set[str]] = {pair["source_id"]: set() for pair in pairs.values()}
    for pair in pairs.values():
        known[pair["source_id"]] |= {pair["class_a"], pair["class_b"]}
    numbers, pictures, actions, there = {}, [], [], []
    videos = rows(output, "videos", ["video_id", "pair_id", "variant", "num_frames", "fps", "video"])
    with ThreadPoolExecutor(CORES) as pool:
        while some := list(islice(videos, 64)):
            pictures += pool.map(read_pictures, some)
            for row in some:
                numbers[row["video_id"]] = len(numbers)
                there.append(known[pairs[row["pair_id"]]["source_id"]])
                actions.append(named_actions(row, pairs[row["pair_id"]]))
    questions = list(rows(output, "questions", ["question_id", "video_id", "question", "answer", "type"]))
    phrases = {pair[f"class_{letter}"]: pair[f"phrase_{letter}"] for pair in pairs.values() for letter in "ab"}
    videos_of = np.array([numbers[row["video_id"]] for row in questions])
    return Benchmark(np.stack(pictures), np.array(actions), there, phrases, questions, videos_of)


@dataclass(frozen=True)
class Questions:
    """Questions: words of shape (questions, longest), indices of videos, and answers 0 or 1."""

    words: Ints
    videos: Ints
    answers: NDArray[np.float32]

    def __getitem__(self, chosen: Ints) -> Questions:
        """Return some of the questions."""
        return Questions(self.words[chosen], self.videos[chosen], self.answers[chosen])


def moments(num_frames: int) -> Ints:
    """Return the numbers of evenly spaced frames."""
    return ((np.arange(MOMENTS) + 0.5) * num_frames / MOMENTS).astype(np.int64)


def read_pictures(row: dict[str, Any]) -> NDArray[np.uint8]:
    """Decode the pictures of a video, and how they change."""
    first = moments(row["num_frames"])
    second = np.minimum(first + max(1, round(APART_S * row["fps"])), row["num_frames"] - 1)
    numbers, where = np.unique([first, second], return_inverse=True)
    now, then = chosen_frames(row["video"]["bytes"], numbers, *SMALL)[where.reshape(2, -1)]
    change = 128 + (then.mean(axis=3) - now.mean(axis=3)) / 2
    return np.concatenate([now, change[..., None].astype(np.uint8)], axis=3).transpose(0, 3, 1, 2)


def named_actions(row: dict[str, Any], pair: dict[str, Any]) -> list[str]:
    """Return the class of the action in each picture of V; V′ shows the same actions at other times."""
    named = np.full(MOMENTS, "", object)
    seconds = pair["out_a"] + (moments(row["num_frames"]) + 0.5) / row["fps"]
    for letter in "ab" if row["variant"] == "original" else "":
        named[(seconds >= pair[f"start_{letter}_s"]) & (seconds < pair[f"end_{letter}_s"])] = pair[f"class_{letter}"]
    return named.tolist()


def encoded(texts: list[str], vocabulary: dict[str, int]) -> Ints:
    """Return ANSWER and the ids of the words of each text, padded to the same length."""
    ids = [[ANSWER, *(vocabulary.get(word, UNKNOWN) for word in words_of(text))][:LONGEST] for text in texts]
    longest = max(map(len, ids))
    return np.array([one + [PADDING] * (longest - len(one)) for one in ids])


def words_of(text: str) -> list[str]:
    """Split a text into words."""
    return re.findall(r"[a-z]+", text.lower())


class Naming(nn.Module):
    """Names the action in a picture: the class whose mean word vector is most similar to the picture's features."""

    def __init__(self, phrases: Ints, words: int):
        super().__init__()
        self.phrases = torch.from_numpy(phrases)
        layers: list[nn.Module] = []
        for before, after in pairwise((4, 16, 32, 64, 96)):
            layers += [nn.Conv2d(before, after, 3, 2, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
        self.look = nn.Sequential(*layers)
        self.shrink = nn.Sequential(nn.Linear(2 * 96, WIDTH), nn.LayerNorm(WIDTH))
        self.embed = nn.Embedding(words, WIDTH)

    def features(self, pictures: torch.Tensor) -> torch.Tensor:
        """Return features of shape (pictures, 64). The brightness and contrast of the pictures do not matter."""
        shown = pictures.float() / 255 - 0.5
        colours, change = shown[:, :3], shown[:, 3:]
        spread, mean = torch.std_mean(colours, (1, 2, 3), keepdim=True)
        scaled = torch.cat([(colours - mean) / (spread + 0.05), 6 * change / (spread + 0.05)], 1)
        seen = self.look(scaled.contiguous(memory_format=torch.channels_last))
        found: torch.Tensor = self.shrink(torch.cat([seen.amax((2, 3)), seen.mean((2, 3))], 1))
        return found

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return scores of shape (…, classes) for features of shape (…, 64)."""
        there = (self.phrases > ANSWER).float().unsqueeze(-1)
        means = (self.embed(self.phrases) * there).sum(1) / there.sum(1)
        named: torch.Tensor = features @ means.T / WIDTH**0.5
        return named


class Answering(nn.Module):
    """Answers questions about videos. `kind` is one of KINDS."""

    def __init__(self, kind: str, embed: torch.Tensor):
        super().__init__()
        self.kind = kind
        self.embed = nn.Embedding.from_pretrained(embed, freeze=False)
        self.places = nn.Parameter(0.5 * torch.randn(MOMENTS + LONGEST, WIDTH))
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, LAYERS, nn.LayerNorm(WIDTH), enable_nested_tensor=False)
        for one in self.layers.layers:  # at first, a token attends to those that resemble it, as a word its frames
            one.self_attn.in_proj_weight.data[: 2 * WIDTH] = torch.eye(WIDTH).repeat(2, 1)
        self.head = nn.Sequential(nn.Linear(2 * WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, 1))

    def forward(self, features: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """Return the logits of "yes", shape (questions,), for features (questions, 16, 64) and words (questions, …)."""
        frames = (0 * features if self.kind == "blind" else features) + self.places[:MOMENTS]
        tokens = torch.cat([frames, self.embed(words) + self.places[MOMENTS : MOMENTS + words.shape[1]]], 1)
        is_frame = torch.arange(tokens.shape[1]) < MOMENTS
        apart = is_frame[:, None] != is_frame if self.kind == "late" else None
        padding = torch.cat([torch.zeros(len(words), MOMENTS, dtype=torch.bool), words == PADDING], 1)
        mixed = self.layers(tokens, apart, padding)
        scored: torch.Tensor = self.head(torch.cat([mixed[:, :MOMENTS].mean(1), mixed[:, MOMENTS]], 1)).squeeze(1)
        return scored


def learn(model: nn.Module, rng: np.random.Generator, count: int, epochs: int, rate: float,
          loss_of: Callable[[Ints], torch.Tensor]) -> None:  # fmt: skip
    """Train with AdamW on batches of 64. The learning rate rises during the first tenth, then decays to 0."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.02)
    per_epoch = -(-count // 64)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=epochs * per_epoch, pct_start=0.1)
    model.train()
    for _ in range(epochs):
        for chosen in np.array_split(rng.permutation(count), per_epoch):
            optimiser.zero_grad()
            loss_of(chosen).backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
    model.eval()


def learn_features(seed: int, epochs: int, learned: Benchmark, phrases: Ints, words: int) -> Naming:
    """Train the namer of actions on the annotated pictures, randomly shifted, mirrored and tinted."""
    torch.manual_seed(int(rng_for(seed, "naming", "weights").integers(2**31)))
    model, rng = Naming(phrases, words), rng_for(seed, "naming", "order")
    where = np.nonzero(learned.actions != "")
    actions = torch.from_numpy(np.searchsorted(sorted(learned.phrases), learned.actions[where]))

    def loss_of(chosen: Ints) -> torch.Tensor:
        shown = torch.from_numpy(learned.pictures[where[0][chosen], where[1][chosen]])
        shown = torch.roll(shown, tuple(rng.integers(-SHIFT, SHIFT + 1, 2).tolist()), (2, 3))
        shown = shown.flip(3) if rng.random() < 0.5 else shown
        tint = rng.uniform(0.8, 1.2, (len(chosen), 4, 1, 1)).astype(np.float32)
        tint[:, 3] = 1  # the change
        tinted = shown * torch.from_numpy(tint)
        return functional.cross_entropy(model(model.features(tinted)), actions[chosen], label_smoothing=0.05)

    learn(model, rng, len(actions), epochs, 0.004, loss_of)
    return model


def features_of(model: Naming, seen: Benchmark) -> torch.Tensor:
    """Return features of shape (videos, 16, 64)."""
    with torch.no_grad():
        return torch.stack([model.features(torch.from_numpy(pictures)) for pictures in seen.pictures])


def share_named(model: Naming, features: torch.Tensor, seen: Benchmark, classes: list[str]) -> float:
    """Return the share of annotated pictures whose action is named correctly."""
    with torch.no_grad():
        named = np.array(classes)[model(features).argmax(-1).numpy()]
    return float((named == seen.actions)[seen.actions != ""].mean())


def read_questions(seen: Benchmark, vocabulary: dict[str, int]) -> Questions:
    """Encode the questions of an output."""
    words = encoded([row["question"] for row in seen.questions], vocabulary)
    return Questions(words, seen.videos, np.array([row["answer"] for row in seen.questions], np.float32))


def lessons(seed: int, seen: Benchmark, asked: Questions) -> list[Questions]:
    """Return three lessons: what happens in a video; what happens first; all questions.

    As every action in question happens, the first also asks about other videos, where the answer is "no".
    """
    rng, texts = rng_for(seed, "lessons"), [row["question"] for row in seen.questions]
    exists = np.array([row["type"] == "E" for row in seen.questions])
    first = np.array([bool({"beginning", "before"} & set(words_of(text))) for text in texts]) & np.array(
        [row["type"] in ("BE", "BA") for row in seen.questions]
    )
    about = {f"Was someone {phrase}?": name for name, phrase in seen.phrases.items()}
    lacking = {name: [n for n, there in enumerate(seen.there) if name not in there] for name in seen.phrases}
    one = asked[np.repeat(np.flatnonzero(exists), 1 + ELSEWHERE)]
    for number, text in enumerate(np.repeat(np.array(texts)[exists], 1 + ELSEWHERE)):
        if number % (1 + ELSEWHERE):
            others = lacking[about[text]]
            one.videos[number], one.answers[number] = others[rng.integers(len(others))], 0
    return [one, asked[np.flatnonzero(exists | first)], asked]


def learn_answers(
    seed: int, epochs: int, features: torch.Tensor, taught: list[Questions], embed: torch.Tensor, kind: str
) -> Answering:
    """Train one of the three models on each lesson."""
    torch.manual_seed(int(rng_for(seed, "answering", "weights").integers(2**31)))
    model = Answering(kind, embed)
    for number, lesson in enumerate(taught):

        def loss_of(chosen: Ints, lesson: Questions = lesson) -> torch.Tensor:
            asked = lesson[chosen]
            logits = model(features[asked.videos], torch.from_numpy(asked.words))
            return functional.binary_cross_entropy_with_logits(logits, torch.from_numpy(asked.answers))

        learn(model, rng_for(seed, "answering", "order", number), len(lesson.videos), epochs, 0.001, loss_of)
    return model


def answer(model: Answering, features: torch.Tensor, asked: Questions, condition: str) -> list[str]:
    """Answer all questions under a condition, one of CONDITIONS."""
    found: list[str] = []
    for chosen in np.array_split(np.arange(len(asked.videos)), -(-len(asked.videos) // 512)):
        words = asked.words[chosen]
        around: AbstractContextManager[Any] = nullcontext()
        if condition != "none":
            circuit, operator = condition.split(", ")
            text = np.where(words == PADDING, NEITHER, TEXT)
            labels = np.concatenate([np.full((len(text), MOMENTS), VIDEO), text], axis=1)
            around = quag(model, circuit, modality=labels, operator=operator, measure=False)
        with torch.no_grad(), around:
            scores = model(features[asked.videos[chosen]], torch.from_numpy(words))
        found += ["yes" if score > 0 else "no" for score in scores.tolist()]
    return found


def measured(learn_it: Callable[[str], Answering], features: torch.Tensor, asked: Questions, ids: list[str], out: Path,
             to: Path, kind: str) -> list[dict[str, Any]]:  # fmt: skip
    """Train one of the three models, and score it under each condition."""
    torch.set_num_threads(1)
    model, found, usual = learn_it(kind), [], None
    for condition in CONDITIONS:
        path = to / f"{kind}-{condition.replace(', ', '-')}.jsonl"
        said = zip(ids, answer(model, features, asked, condition), strict=True)
        path.write_text("".join(json.dumps({"id": id, "answer": one}) + "\n" for id, one in said), encoding="utf-8")
        scored = stressreel.score(out, path, split="all")
        usual = usual or scored
        differences = stressreel.compare({"usual": usual}, {"changed": scored}).differences
        change = next(one.difference for one in differences if one.score == SCORES[1])
        values = {name: scored.headline[name] for name in SCORES}
        found.append({"model": kind, "condition": condition, **values, "change": change})
    return found


def table(found: list[dict[str, Any]]) -> str:
    """Format the scores and their intervals, in percent, as a Markdown table."""
    lines = [f"| model | short-circuit | {' | '.join(SCORES)} | change of CAcc_V |", f"|---|---|{'--:|' * 4}"]
    for row in found:
        values = [shown(row[name]) for name in SCORES] + [shown(row["change"])]
        lines.append(f"| {row['model']} | {row['condition']} | {' | '.join(values)} |")
    return "\n".join(lines) + "\n"


def shown(estimate: Estimate) -> str:
    """Format an estimate in percent, with its interval if it has one."""
    value, low, high = (100 * one for one in (estimate.value, estimate.low, estimate.high))
    return f"{value:.1f}" if np.isnan(low) else f"{value:.1f} ({low:.1f} to {high:.1f})"


def picture(found: list[dict[str, Any]]) -> bytes:
    """Draw the scores as bars with their intervals."""

    def draw(figure: Any) -> None:
        for axes, name in zip(figure.subplots(1, len(SCORES), sharey=True), SCORES, strict=True):
            for number, kind in enumerate(KINDS):
                heights = np.arange(len(CONDITIONS)) + 0.27 * (number - 1)
                values = [row[name] for row in found if row["model"] == kind]
                look = {"height": 0.25, "color": COLOURS[number], "label": kind}
                estimated_bars(axes, heights.tolist(), values, numbers=False, **look)
            bar_axes(axes, CONDITIONS, name)
        figure.axes[0].legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=3)

    return draw_png(draw, 5.2)


def main() -> None:
    """Train the models, answer the questions of the second output, and score and plot the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path, help="output of build-clavi from which to learn")
    parser.add_argument("test", type=Path, help="output of build-clavi whose questions to answer")
    parser.add_argument("--to", type=Path, required=True, help="folder in which to save answers, table and picture")
    parser.add_argument("--epochs", type=int, default=5, help="epochs of each transformer; the namer has twice as many")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    started = time.perf_counter()
    torch.set_num_threads(CORES)

    def say(text: str) -> None:
        print(f"{time.perf_counter() - started:5.0f} s  {text}", flush=True)

    learned, tested = read(given.train), read(given.test)
    say(f"read {len(learned.pictures):,} videos for training and {len(tested.pictures):,} for testing")
    words = sorted({word for row in learned.questions for word in words_of(row["question"])})
    vocabulary = {word: number for number, word in enumerate(words, ANSWER + 1)}
    classes = sorted(learned.phrases)
    phrases = encoded([learned.phrases[name] for name in classes], vocabulary)
    naming = learn_features(given.seed, 2 * given.epochs, learned, phrases, ANSWER + 1 + len(words))
    features = [features_of(naming, one) for one in (learned, tested)]
    for what, seen, found_in in zip(("training", "testing"), (learned, tested), features, strict=True):
        say(f"named {share_named(naming, found_in, seen, classes):.1%} of the actions in pictures for {what}")
    given.to.mkdir(parents=True, exist_ok=True)
    taught = lessons(given.seed, learned, read_questions(learned, vocabulary))
    vectors, ids = naming.embed.weight.detach(), [row["question_id"] for row in tested.questions]
    learn_it = partial(learn_answers, given.seed, given.epochs, features[0], taught, vectors)
    asked = read_questions(tested, vocabulary)
    measure = partial(measured, learn_it, features[1], asked, ids, given.test, given.to)
    found: list[dict[str, Any]] = []
    with ProcessPoolExecutor(CORES, get_context("spawn")) as pool:
        for rows_of_kind in pool.map(measure, KINDS):
            found += rows_of_kind
            say(f"scored {found[-1]['model']}")
    (given.to / "scores.json").write_text(json.dumps(found, indent=1, default=asdict) + "\n", encoding="utf-8")
    (given.to / "scores.md").write_text(table(found), encoding="utf-8")
    (given.to / "scores.png").write_bytes(picture(found))
    print(table(found), end="")


if __name__ == "__main__":
    run(main)
