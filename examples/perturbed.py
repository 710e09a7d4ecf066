"""Retrieve videos of a perturbed suite by text, without CLIP.

    python examples/perturbed.py out/perturbed --train out/clavi --to similarity
    stressreel score out/perturbed --similarity similarity

Clips are represented by their colours and the location of motion. A ridge regression, fitted on the annotated actions
of CLAVI's original videos, maps these features to SBERT embeddings in every setting of the suite. The built-in samples
of the suite and of CLAVI have no videos in common.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from frames import Floats, colours, opened, predict, ridge, rows, run, small_frames, where_it_moves
from stressreel.builders.perturbed.scores import caption_texts, read_captions, suite_settings
from stressreel.core.output import FinishedOutput
from stressreel.evaluation.metrics.items import choose_split
from stressreel.language.embeddings import load_encoder

WEIGHT = 100.0
PAIR = ["pair_id", "out_a_frame", "in_a_frame", "in_b_frame", "phrase_a", "phrase_b"]


def features(frames: Any) -> Floats:
    """Return the colour and motion features of frames."""
    return np.concatenate([np.sqrt(colours(frames)), np.log1p(where_it_moves(frames))])


def training_pieces(clavi: FinishedOutput) -> tuple[list[Floats], list[str]]:
    """Return features and captions of both actions in every original video."""
    pairs = {row["pair_id"]: row for row in rows(clavi, "pairs", PAIR)}
    seen, said = [], []
    for row in rows(clavi, "videos", ["pair_id", "variant", "video"]):
        if row["variant"] == "original":
            pair, frames = pairs[row["pair_id"]], small_frames(row["video"]["bytes"])
            first = pair["in_a_frame"] - pair["out_a_frame"]
            last = pair["in_b_frame"] - pair["out_a_frame"]
            seen += [features(frames[:first]), features(frames[last:])]
            said += [f"a person is {pair['phrase_a']}", f"a person is {pair['phrase_b']}"]
    return seen, said


def main() -> None:
    """Write a similarity matrix of shape (clips, captions) for every setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="output of build-perturbed that contains videos")
    parser.add_argument("--train", type=Path, required=True, help="output of build-clavi")
    parser.add_argument("--to", type=Path, required=True, help="folder in which to save the matrices")
    given = parser.parse_args()
    output, clavi = opened(given.out, "perturbed"), opened(given.train, "clavi")
    split = choose_split(output, "clean", None)
    captions = read_captions(output, split)
    settings = suite_settings(output.info)

    def clips(table: str) -> dict[tuple[str, int], Floats]:
        found = rows(output, table, ["clip_id", "severity", "video"], None if split == "all" else split)
        return {(row["clip_id"], row["severity"]): features(small_frames(row["video"]["bytes"])) for row in found}

    texts = {setting: caption_texts(output, setting, captions, split) for setting in settings}
    shown = {table: clips(table) for table in dict.fromkeys(setting.visual or "clean" for setting in settings)}
    seen, said = training_pieces(clavi)
    encoder = load_encoder()
    model = ridge(np.stack(seen), encoder.encode(said).astype(np.float64), WEIGHT)
    given.to.mkdir(parents=True, exist_ok=True)
    for setting in settings:
        clip_of = shown[setting.visual or "clean"]
        videos = predict(model, np.stack([clip_of[name, setting.severity] for name in captions.clips]))
        words = encoder.encode([texts[setting][name] for name in captions.ids]).astype(np.float64) - model[3]
        similarity = videos @ words.T
        similarity /= np.linalg.norm(videos, axis=1)[:, None] * np.linalg.norm(words, axis=1) + 1e-12
        np.save(given.to / f"{setting.name}.npy", similarity.astype(np.float32))
    print(f"wrote {len(settings)} matrices to {given.to}; fitted on {len(said)} segments")


if __name__ == "__main__":
    run(main)
