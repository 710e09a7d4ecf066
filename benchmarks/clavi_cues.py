"""Measure whether the cuts of CLAVI reveal V′ to models that only see frame differences.

    python benchmarks/clavi_cues.py --charades DIR --footage DIR

Videos of Charades may not be redistributed, so pairs are selected from its real annotations and cut from other footage:
each source video is assigned a clip from the folder and a position in it, and times are compressed if the clip is
shorter than the pair. Models are tested on clips that they were not trained on, unless `--folds 1` lets them memorise
the clips, which is an upper bound. Three models are trained to tell V from V′: logistic regression and gradient-boosted
trees on the sizes and times of the largest jumps between frames, and a convolutional network on maps of frame
differences. Each also knows which classes of actions come first in the training split. The highest CAcc_V on the
complement subset is printed with its 95 % bootstrap interval over source videos.
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
from stressreel.builders.clavi.prepare import prepare
from stressreel.builders.clavi.settings import ClaviSettings
from stressreel.core.seeds import rng_for

Floats = NDArray[np.float64]
VARIANTS = {
    "release": {},
    "order balanced": {"order": "balanced"},
    "order pairs": {"order": "pairs"},
    "cuts balanced": {"cuts": "balanced"},
    "cuts balanced, order pairs": {"cuts": "balanced", "order": "pairs"},
}
SIZE, BINS, JUMPS, MOST_FRAMES = (32, 24), 96, 6, 3000


@dataclass(frozen=True)
class Clip:
    """A clip as small greyscale frames, with its frame rate."""

    frames: NDArray[np.float32]
    fps: float


def read_clip(path: Path) -> Clip:
    frames, times = [], []
    with av.open(path) as container:
        for frame in container.decode(video=0):
            frames.append(cv2.resize(frame.to_ndarray(format="gray"), SIZE, interpolation=cv2.INTER_AREA))
            times.append(frame.time)
            if len(frames) == MOST_FRAMES:
                break
    return Clip(np.asarray(frames, np.float32), (len(frames) - 1) / (times[-1] - times[0]))


def assigned(pair: dict[str, Any], clips: int, seed: int) -> tuple[int, float]:
    """Choose the clip for a pair's source, and a position in it from 0 to 1."""
    number, place = rng_for(seed, "footage", pair["source_id"]).random(2).tolist()
    return int(number * clips), place


def shown(pair: dict[str, Any], clips: Sequence[Clip], seed: int, *, balanced: bool) -> list[NDArray[np.float32]]:
    """Cut the frames of V and of V′ from the clip that is assigned to the pair's source."""
    number, place = assigned(pair, len(clips), seed)
    clip = clips[number]
    length = pair["out_b"] - pair["out_a"]
    stretch = min(1.0, len(clip.frames) / clip.fps / length) * clip.fps
    first = int(place * (len(clip.frames) - length * stretch))
    edges = [first + int((pair[name] - pair["out_a"]) * stretch) for name in ("out_a", "in_a", "in_b", "out_b")]
    a, filler, b = (np.arange(*edges[at : at + 2]) for at in range(3))
    middle = np.roll(filler, -(len(filler) // 2)) if balanced else filler
    return [clip.frames[np.concatenate(order)] for order in ((a, middle, b), (b, middle, a))]


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
    """Return the largest change of each pixel in `BINS` equal parts of a video, as `(1, BINS, height, width)`."""
    change = np.log1p(changes(frames))
    parts = np.linspace(0, len(change), BINS + 1).astype(int)
    maps = [
        change[a : max(b, a + 1)].max(0)
        for a, b in zip(np.minimum(parts[:-1], len(change) - 1), parts[1:], strict=True)
    ]
    return np.stack(maps)[None, :, ::2, ::2]


def network(x: NDArray[np.float32], y: NDArray[np.int64], seed: int) -> Callable[[NDArray[np.float32]], Floats]:
    """Train a small 3D convolutional network on maps of changes, and return a function that predicts P(V′)."""
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
    train: list[dict[str, Any]], test: list[dict[str, Any]], clips: list[Clip], seed: int, *, balanced: bool, folds: int
) -> dict[str, Floats]:
    """For each model, return P(V′) of V and of V′ for each test pair, as `(pairs, 2)`.

    With several folds, the pairs cut from the clips of a fold are judged by models trained on pairs from other clips.
    """
    features: list[tuple[NDArray[np.float64], NDArray[np.float32], NDArray[np.int64]]] = []
    for rows in (train, test):
        videos = (video for pair in rows for video in shown(pair, clips, seed, balanced=balanced))
        found = [(jump_features(video), change_maps(video)) for video in videos]
        places = np.repeat([assigned(pair, len(clips), seed)[0] % folds for pair in rows], 2)
        features.append((np.asarray([each[0] for each in found]), np.asarray([each[1] for each in found]), places))
    (jumps, maps, places), (test_jumps, test_maps, test_places) = features
    labels = np.tile([0, 1], len(train))
    chances = {name: np.empty(2 * len(test)) for name in ("logistic regression", "boosted trees", "3D network")}
    for fold in range(folds):
        known = places != fold if folds > 1 else np.full(len(places), True)
        asked = test_places == fold
        models = (
            make_pipeline(StandardScaler(), LogisticRegression(C=0.3, max_iter=1000)),
            HistGradientBoostingClassifier(max_iter=150, max_leaf_nodes=8, learning_rate=0.06),
        )
        for name, model in zip(chances, models, strict=False):
            chances[name][asked] = model.fit(jumps[known], labels[known]).predict_proba(test_jumps[asked])[:, 1]
        chances["3D network"][asked] = network(maps[known], labels[known], seed)(test_maps[asked])
    return {name: values.reshape(-1, 2) for name, values in chances.items()}


def classes_of(row: dict[str, Any]) -> tuple[str, str]:
    """Return the two values that `--order` balances: the classes of A and B, or the verbs of free phrases."""
    kind = "class" if row["class_a"] != row["label_a"] and not row.get("source") else "verb"
    return row[f"{kind}_a"], row[f"{kind}_b"]


def first_prior(train: list[dict[str, Any]]) -> Callable[[str, str | None], float]:
    """Estimate from training pairs how likely one class of actions comes before another.

    For unknown classes, the alphabetically first name is slightly more probable, so that models that see the cuts still
    answer differently about V and V′.
    """
    pairs = Counter(map(classes_of, train))
    first, second = (Counter(classes_of(row)[place] for row in train) for place in (0, 1))

    def prior(one: str, other: str | None) -> float:
        alone = (first[one] + 1) / (first[one] + second[one] + 2)
        if other is None:
            return alone + 1e-9
        against = (second[other] + 1) / (first[other] + second[other] + 2)
        backed = alone * against / (alone * against + (1 - alone) * (1 - against))
        seen = pairs[one, other] + pairs[other, one]
        return (pairs[one, other] + backed) / (seen + 1) + (1e-9 if one < other else -1e-9)

    return prior


def cacc_v(test: list[dict[str, Any]], prior: Callable[[str, str | None], float], complement: Floats) -> Floats:
    """For each test pair, return the share of its complement questions answered correctly about both V and V′.

    A question asks whether X is first, either at the beginning or before Y; its negation is answered accordingly.
    """
    found = []
    for row, chances in zip(test, complement, strict=True):
        one, other = classes_of(row)
        right = []
        for x, y, is_first in ((one, None, True), (other, None, False), (one, other, True), (other, one, False)):
            known = prior(x, y)
            said = [known * (1 - chance) + (1 - known) * chance > 0.5 for chance in chances]
            right.append(said[0] == is_first and said[1] != is_first)
        found.append(float(np.mean(right)))
    return np.asarray(found)


def interval(values: Floats, sources: Sequence[str], seed: int) -> tuple[float, float]:
    names, places = np.unique(sources, return_inverse=True)
    sums, counts = np.bincount(places, values), np.bincount(places)
    draws = np.random.default_rng(seed).integers(0, len(names), (2000, len(names)))
    means = sums[draws].sum(1) / counts[draws].sum(1)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--charades", help="folder of the Charades annotations, or `sample`")
    parser.add_argument("--charades-sta", type=Path, help="use the sentences of this folder instead of the classes")
    parser.add_argument("--youcook2", type=Path, help="youcookii_annotations_trainval.json")
    parser.add_argument("--causalchaos", type=Path, help="Annotations.csv")
    parser.add_argument("--footage", type=Path, required=True, help="folder of real video clips")
    parser.add_argument("--rules", choices=("released", "paper"), default="paper", help="rules that select pairs")
    parser.add_argument("--pairs", type=int, default=1500, help="maximum number of training and of test pairs")
    parser.add_argument(
        "--folds", type=int, default=4, help="parts of the footage; 1: train and test on the same clips"
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    inputs = {name: getattr(given, name) for name in ("charades", "youcook2", "causalchaos") if getattr(given, name)}
    if given.charades_sta:
        inputs |= {"charades_sta": given.charades_sta, "source": "sta"}
    clips = [read_clip(path) for path in sorted(given.footage.iterdir()) if path.is_file() and path.suffix != ".csv"]
    clips = [clip for clip in clips if len(clip.frames) >= 200]
    print(f"{len(clips)} clips; --rules {given.rules}")
    print(f"{'options':32}{'train':>7}{'test':>6}  {'V from V′ (accuracy)':36}CAcc_V, complement")
    for name, options in VARIANTS.items():
        settings = ClaviSettings(**inputs, rules=given.rules, render=False, **options)
        splits: dict[str, list[dict[str, Any]]] = {"train": [], "test": []}
        for unit in prepare(settings).plan.units:
            splits["train" if unit.split == "train" else "test"].append(unit.payload)
        every = splits["train"]
        for split, rows in splits.items():
            order = rng_for(given.seed, "cue pairs", split).permutation(len(rows))[: given.pairs]
            splits[split] = [rows[place] for place in order.tolist()]
        train, test = splits["train"], splits["test"]
        balanced = options.get("cuts") == "balanced"
        found = detect(train, test, clips, given.seed, balanced=balanced, folds=given.folds)
        accuracy = {model: float(((values > 0.5) == [0, 1]).mean()) for model, values in found.items()}
        scores = {model: cacc_v(test, first_prior(every), values) for model, values in found.items()}
        if not balanced:
            accuracy["cuts counted"] = 1.0
            scores["cuts counted"] = cacc_v(test, first_prior(every), np.tile([0.0, 1.0], (len(test), 1)))
        best = max(scores, key=lambda model: scores[model].mean())
        low, high = interval(scores[best], [row["source_id"] for row in test], given.seed)
        told = ", ".join(f"{value:.1%}" for value in accuracy.values())
        score = f"{scores[best].mean():.1%} ({low:.1%} to {high:.1%}), {best}"
        print(
            f"{name:32}{len(train):>7,}{len(test):>6,}  {told:36}{score}",
            flush=True,
        )


if __name__ == "__main__":
    main()
