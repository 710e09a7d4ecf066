"""Measure whether the cuts of CLAVI reveal V′ to models that only see frame differences.

    python benchmarks/clavi_cues.py --charades DIR --footage DIR
    python benchmarks/clavi_cues.py --youcook2 FILE --footage DIR --options "default; both"
    python benchmarks/clavi_cues.py --charades DIR --relations overlap --footage DIR

If the footage contains the source videos, pairs are cut from these. Otherwise, as the videos of Charades, YouCook2 and
CausalChaos may not be redistributed, each source video is assigned a clip from the folder and a position in it, and
times are compressed if the clip is shorter than the pair. Models are then tested on clips that they were not trained
on, unless `--folds 1` lets them memorise the clips, which is an upper bound.

Three models are trained to tell V from V′: logistic regression and gradient-boosted trees on the sizes and times of the
largest jumps between frames, and a convolutional network on maps of frame differences. Each is combined with knowledge
of which classes of actions, and which words of free phrases, come first in the training split. The highest CAcc_V on
the complement subset is printed with its 95% bootstrap interval over source videos.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from stressreel.builders.clavi.pairs import is_late, relation_of
from stressreel.builders.clavi.prepare import prepare
from stressreel.builders.clavi.settings import RELATIONS, ClaviSettings
from stressreel.core.numerics import rng_for
from stressreel.evaluation.blind.word_baselines import fit_logistic, words_of

Floats = NDArray[np.float64]
Row = dict[str, Any]
VIDEO_SUFFIXES = (".mp4", ".mkv", ".webm")
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "order balanced": {"order": "balanced"},
    "order pairs": {"order": "pairs"},
    "cuts balanced": {"cuts": "balanced"},
    "both": {"cuts": "balanced", "order": "pairs"},
}
SIZE, BINS, JUMPS, MOST_FRAMES = (32, 24), 96, 6, 3000


@dataclass(frozen=True)
class Clip:
    """A clip as small greyscale frames, with its frame rate."""

    frames: NDArray[np.uint8]
    fps: float


@dataclass(frozen=True)
class Footage:
    """The clips that pairs are cut from.

    Attributes:
        clips: Clips by name, sorted.
        own: Whether the clips are the source videos of the pairs.
        seed: Seed of the assignment of clips to source videos.
    """

    clips: dict[str, Clip]
    own: bool
    seed: int

    def assigned(self, pair: Row) -> tuple[str, float]:
        """Return the name of the clip of a pair's source, and a place in it from 0 to 1 unless it is its own."""
        if self.own:
            return pair["source_id"], 0.0
        number, place = rng_for(self.seed, "footage", pair["source_id"]).random(2).tolist()
        return list(self.clips)[int(number * len(self.clips))], place

    def fold(self, pair: Row, folds: int) -> int:
        """Return the fold of a pair's clip."""
        return list(self.clips).index(self.assigned(pair)[0]) % folds


def read_clip(path: Path) -> Clip:
    """Decode at most `MOST_FRAMES` frames of a video."""
    frames, times = [], []
    with av.open(path) as container:
        for frame in container.decode(video=0):
            frames.append(cv2.resize(frame.to_ndarray(format="gray"), SIZE, interpolation=cv2.INTER_AREA))
            times.append(frame.time)
            if len(frames) == MOST_FRAMES:
                break
    return Clip(np.asarray(frames), (len(frames) - 1) / (times[-1] - times[0]))


def read_footage(folder: Path, sources: set[str], seed: int) -> Footage:
    """Read the source videos if they are in the folder, and else all clips that are long enough."""
    paths = {path.stem: path for path in sorted(folder.rglob("*")) if path.suffix in VIDEO_SUFFIXES}
    own = sources <= paths.keys()
    if own:
        return Footage({name: read_clip(paths[name]) for name in sorted(sources)}, own, seed)
    clips = {path.stem: read_clip(path) for path in paths.values() if path.parent == folder}
    return Footage({name: clip for name, clip in clips.items() if len(clip.frames) >= 200}, own, seed)


def shown(pair: Row, footage: Footage, *, balanced: bool) -> list[NDArray[np.float32]]:
    """Return the frames of V and of V′, cut from the clip that the pair's source is assigned."""
    name, place = footage.assigned(pair)
    clip = footage.clips[name]
    length = pair["out_b"] - pair["out_a"]
    rate = clip.fps if footage.own else min(clip.fps, len(clip.frames) / length)
    first = pair["out_a"] * rate if footage.own else int(place * (len(clip.frames) - length * rate))
    edges = [int(first + (pair[name] - pair["out_a"]) * rate) for name in ("out_a", "in_a", "in_b", "out_b")]
    a, middle, b = (np.arange(*edges[at : at + 2]) for at in range(3))
    if balanced:
        middle = np.roll(middle, -(len(middle) // 2))
    orders = (np.concatenate(order) for order in ((a, middle, b), (b, middle, a)))
    return [clip.frames[np.minimum(order, len(clip.frames) - 1)].astype(np.float32) for order in orders]


def changes(frames: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.abs(np.diff(frames, axis=0))


def jump_features(frames: NDArray[np.float32]) -> list[float]:
    """Describe the largest jumps: how far each exceeds the changes around it, and when it occurs."""
    change = changes(frames).mean((1, 2)).astype(float)
    padded = np.pad(change, 3, mode="edge")
    around = np.max([padded[k : k + len(change)] for k in (0, 1, 2, 4, 5, 6)], 0)
    jumps = np.log1p(np.maximum(change - around, 0) / (np.median(change) + 0.05))
    top = np.argsort(-jumps)[:JUMPS]
    found = [*jumps[top], *(float(np.sum(jumps > limit)) for limit in (0.5, 1, 2))]
    for count in (2, 3, 4):
        first = np.sort(top[:count])
        found += [*(first / len(change)), *jumps[first], *np.diff(jumps[first])]
    return [float(value) for value in found]


def change_maps(frames: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the largest change of each pixel in each of `BINS` equal parts of a video, `(1, BINS, height, width)`."""
    change = np.log1p(changes(frames))
    parts = np.linspace(0, len(change), BINS + 1).astype(int)
    maps = [
        change[a : max(b, a + 1)].max(0)
        for a, b in zip(np.minimum(parts[:-1], len(change) - 1), parts[1:], strict=True)
    ]
    return np.stack(maps)[None, :, ::2, ::2]


def network(x: NDArray[np.float32], y: NDArray[np.int64], seed: int) -> Callable[[NDArray[np.float32]], Floats]:
    """Train a small 3D convolutional network on maps of changes; return a function that predicts P(V′)."""
    import torch
    from torch import nn

    torch.manual_seed(seed)
    model = nn.Sequential(
        *(nn.Conv3d(1, 8, (5, 3, 3), stride=(2, 2, 2)), nn.ReLU()),
        *(nn.Conv3d(8, 16, (5, 3, 3), stride=(2, 2, 2)), nn.ReLU()),
        *(nn.AdaptiveAvgPool3d((12, 1, 1)), nn.Flatten(), nn.Dropout(0.3), nn.Linear(192, 2)),
    )
    optimizer = torch.optim.AdamW(model.parameters(), 2e-3, weight_decay=0.01)
    data, labels = torch.from_numpy(x), torch.from_numpy(y)
    for _ in range(8):
        for batch in torch.randperm(len(data)).split(32):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(data[batch]), labels[batch]).backward()
            optimizer.step()

    def predict(given: NDArray[np.float32]) -> Floats:
        model.eval()
        with torch.no_grad():
            return np.concatenate(
                [model(part).softmax(1)[:, 1].numpy() for part in torch.from_numpy(given).split(64)]
            ).astype(float)

    return predict


def detect(
    splits: Sequence[Sequence[Row]],
    labels: Sequence[NDArray[np.int64]],
    footage: Footage,
    *,
    balanced: bool,
    folds: int,
) -> dict[str, Floats]:
    """Return, by model, the probability of label 1 for V and V′ of each test pair, `(pairs, 2)`.

    With several folds, the pairs cut from the clips of a fold are judged by models trained on pairs from other clips.

    `labels` are those of V and V′ of each pair, `(pairs, 2)`, of both splits.
    """
    features: list[tuple[NDArray[np.float64], NDArray[np.float32], NDArray[np.int64]]] = []
    for rows in splits:
        videos = (video for pair in rows for video in shown(pair, footage, balanced=balanced))
        found = [(jump_features(video), change_maps(video)) for video in videos]
        places = np.repeat([footage.fold(pair, folds) for pair in rows], 2)
        features.append((np.asarray([each[0] for each in found]), np.asarray([each[1] for each in found]), places))
    (jumps, maps, places), (test_jumps, test_maps, test_places) = features
    known_labels = labels[0].ravel()
    chances = {name: np.empty(len(test_places)) for name in ("logistic regression", "boosted trees", "3D network")}
    for fold in range(folds):
        known = places != fold if folds > 1 else np.full(len(places), True)
        asked = test_places == fold
        models = (
            make_pipeline(StandardScaler(), LogisticRegression(C=0.3, max_iter=1000)),
            HistGradientBoostingClassifier(max_iter=150, max_leaf_nodes=8, learning_rate=0.06),
        )
        for name, model in zip(chances, models, strict=False):
            chances[name][asked] = model.fit(jumps[known], known_labels[known]).predict_proba(test_jumps[asked])[:, 1]
        chances["3D network"][asked] = network(maps[known], known_labels[known], footage.seed)(test_maps[asked])
    return {name: values.reshape(-1, 2) for name, values in chances.items()}


def classes_of(row: Row) -> tuple[str, str]:
    """Return what `--order` balances, the first of the two in V first: the classes of A and B, or their verbs.

    Of a contained action and the action around it, the contained one counts as first if it lies in the first third.
    """
    kind = "class" if row["class_a"] != row["label_a"] and not row.get("source") else "verb"
    a, b = row[f"{kind}_a"], row[f"{kind}_b"]
    if relation_of(row) == "contain":
        return (f"around: {a}", b) if is_late(row) else (b, f"around: {a}")
    return a, b


Prior = Callable[[Row, str, str | None], float]
"""The probability that an action of a pair ("one" or "other") comes before the other, or before an unknown one."""


def class_prior(train: Sequence[Row]) -> Prior:
    """Learn from training pairs how often one class comes before another.

    For unknown classes, the alphabetically first name is slightly more probable, so that models that see the cuts still
    answer differently about V and V′.
    """
    pairs = Counter(map(classes_of, train))
    first, second = (Counter(classes_of(row)[place] for row in train) for place in (0, 1))

    def prior(row: Row, x: str, y: str | None) -> float:
        named = dict(zip(("one", "other"), classes_of(row), strict=True))
        one = named[x]
        alone = (first[one] + 1) / (first[one] + second[one] + 2)
        if y is None:
            return alone + 1e-9
        other = named[y]
        against = (second[other] + 1) / (first[other] + second[other] + 2)
        backed = alone * against / (alone * against + (1 - alone) * (1 - against))
        seen = pairs[one, other] + pairs[other, one]
        return (pairs[one, other] + backed) / (seen + 1) + (1e-9 if one < other else -1e-9)

    return prior


def word_prior(train: Sequence[Row]) -> Prior:
    """Learn from training pairs which words and pairs of words occur in the first phrase (logistic regression)."""

    def bag(row: Row, x: str, y: str | None) -> dict[str, float]:
        letters = {"one": "a", "other": "b"}
        found = Counter(words_of(row[f"phrase_{letters[x]}"]))
        if y:
            found.subtract(words_of(row[f"phrase_{letters[y]}"]))
        return {name: float(count) for name, count in found.items() if count}

    asked = [(row, *names) for row in train for names in (("one", "other"), ("other", "one"))]
    bags = [bag(row, x, y) for row, x, y in asked]
    model = fit_logistic(bags, [x for _, x, _ in asked], ["one", "other"])

    def prior(row: Row, x: str, y: str | None) -> float:
        first, second = model.scores(bag(row, x, y))
        return float(1 / (1 + np.exp(second - first))) + 1e-9

    return prior


def cacc_v(test: Sequence[Row], prior: Prior, complement: Floats) -> Floats:
    """Return for each test pair the share of its complement questions answered correctly about V and about V′.

    A question asks whether X is first, either at the beginning or before Y; its negation is answered accordingly.
    Questions about overlapping actions are all of the second kind.
    """
    found = []
    for row, chances in zip(test, complement, strict=True):
        asked = [("one", "other", True), ("other", "one", False)]
        if relation_of(row) == "sequence":
            asked += [("one", None, True), ("other", None, False)]
        right = []
        for x, y, is_first in asked:
            known = prior(row, x, y)
            said = [known * (1 - chance) + (1 - known) * chance > 0.5 for chance in chances]
            right.append(said[0] == is_first and said[1] != is_first)
        found.append(float(np.mean(right)))
    return np.asarray(found)


def interval(values: Floats, sources: Sequence[str], seed: int) -> tuple[float, float]:
    """Return the 95% bootstrap interval of a mean, resampling source videos."""
    names, places = np.unique(sources, return_inverse=True)
    sums, counts = np.bincount(places, values), np.bincount(places)
    draws = np.random.default_rng(seed).integers(0, len(names), (2000, len(names)))
    means = sums[draws].sum(1) / counts[draws].sum(1)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--charades", help="folder with the Charades annotations, or `sample`")
    parser.add_argument(
        "--charades-sta", type=Path, help="folder with the Charades-STA sentences, to be used instead of the classes"
    )
    parser.add_argument("--youcook2", type=Path, help="youcookii_annotations_trainval.json")
    parser.add_argument("--causalchaos", type=Path, help="Annotations.csv")
    parser.add_argument("--footage", type=Path, required=True, help="folder with real video clips")
    parser.add_argument("--rules", choices=("released", "paper"), default="paper", help="rules that select pairs")
    parser.add_argument("--relations", choices=RELATIONS, default=RELATIONS[0])
    parser.add_argument("--options", default="; ".join(VARIANTS), help="; ".join(VARIANTS))
    parser.add_argument("--pairs", type=int, default=1500, help="maximum number of training and of test pairs")
    parser.add_argument(
        "--folds",
        type=int,
        default=4,
        help="number of parts into which the footage is divided; 1 trains and tests on the same clips",
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    inputs = {name: getattr(given, name) for name in ("charades", "youcook2", "causalchaos") if getattr(given, name)}
    if given.charades_sta:
        inputs |= {"charades_sta": given.charades_sta, "source": "sta"}
    if given.charades:
        inputs |= {"rules": given.rules, "relations": (given.relations,)}
    footage: Footage | None = None
    print(f"{'options':17}{'train':>7}{'test':>7}  {'V from V′ (accuracy)':30}CAcc_V, complement")
    for name in given.options.split("; "):
        settings = ClaviSettings(**inputs, render=False, same_by="lemmas", **VARIANTS[name])
        splits: dict[str, list[Row]] = {"train": [], "test": []}
        for unit in prepare(settings).plan.units:
            splits["train" if unit.split == "train" else "test"].append(unit.payload)
        if footage is None:
            footage = read_footage(
                given.footage, {row["source_id"] for rows in splits.values() for row in rows}, given.seed
            )
        every = splits["train"]
        for split, rows in splits.items():
            order = rng_for(given.seed, "cue pairs", split).permutation(len(rows))[: given.pairs]
            splits[split] = [rows[place] for place in order.tolist()]
        test = splits["test"]
        told, scores = judged(list(splits.values()), every, footage, given, balanced="cuts" in VARIANTS[name])
        best = max(scores, key=lambda model: scores[model].mean())
        low, high = interval(scores[best], [row["source_id"] for row in test], given.seed)
        accuracy = ", ".join(f"{value:.1%}" for value in told.values())
        score = f"{scores[best].mean():.1%} ({low:.1%} to {high:.1%}), {best}"
        print(f"{name:17}{len(splits['train']):>7,}{len(test):>7,}  {accuracy:30}{score}", flush=True)


def judged(
    splits: Sequence[Sequence[Row]],
    every: Sequence[Row],
    footage: Footage,
    given: argparse.Namespace,
    *,
    balanced: bool,
) -> tuple[dict[str, float], dict[str, Floats]]:
    """Return how often each model tells V from V′, and the share of correct answers of each test pair.

    The cuts around a contained action show where it lies, so for these pairs the models also learn that directly.
    """
    test = splits[1]
    folds = 1 if footage.own else given.folds
    recut = [np.tile([0, 1], (len(rows), 1)) for rows in splits]
    found = detect(splits, recut, footage, balanced=balanced, folds=folds)
    told = {model: float(((values > 0.5) == [0, 1]).mean()) for model, values in found.items()}
    if not balanced:
        told["cuts counted"] = 1.0
        found["cuts counted"] = np.tile([0.0, 1.0], (len(test), 1))
    priors = {"classes": class_prior(every)}
    if every[0].get("source") or given.charades_sta:
        priors["words"] = word_prior(every)
    scores = {
        f"{model}, {known}": cacc_v(test, prior, values)
        for model, values in found.items()
        for known, prior in priors.items()
    }
    if given.relations == "contain":
        late = [np.array([[is_late(row), not is_late(row)] for row in rows], np.int64) for rows in splits]
        for model, values in detect(splits, late, footage, balanced=balanced, folds=folds).items():
            scores[f"{model}, place of the cuts"] = ((values > 0.5) == late[1]).all(axis=1).astype(float)
    return told, scores


if __name__ == "__main__":
    main()
