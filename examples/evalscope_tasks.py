"""Ask the questions of an output with EvalScope, as its `general_vmcq`, and read the answers; see docs/use.md.

Tested with version 1.14.1.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from string import ascii_uppercase

import stressreel
from frames import run
from stressreel.evaluation.metrics.items import Items


def write_questions(out: stressreel.Output, items: Items, split: str, folder: Path) -> None:
    """Write the videos, and a line per question, whose options are lettered in the order of the output."""
    folder.mkdir(parents=True)
    paths = {name: folder.resolve() / f"{index}.mp4" for index, name in enumerate(dict.fromkeys(items.videos))}
    for name, path in paths.items():
        path.write_bytes(out.video(name))
    with open(folder / f"{split}_val.jsonl", "w", encoding="utf-8") as file:
        for index, text in enumerate(items.texts):
            row = {"question": f"<video 1> {text}", "options": list(items.options[index])}
            row |= {"answer": ascii_uppercase[items.truth[index]], "video_1": str(paths[items.videos[index]])}
            file.write(json.dumps(row) + "\n")


def write_answers(items: Items, reviews: Path, file: Path) -> None:
    """Write predictions: the option whose letter EvalScope has read, or else all that the model said."""
    with open(reviews, encoding="utf-8") as lines, open(file, "w", encoding="utf-8") as target:
        for review in map(json.loads, lines):
            index, score = review["index"], review["sample_score"]["score"]
            options = dict(zip(ascii_uppercase, items.options[index], strict=False))
            answer = options.get(score["extracted_prediction"], score["prediction"])
            target.write(json.dumps({"id": items.ids[index], "answer": answer}) + "\n")


def main() -> None:
    """Write questions or, with `--reviews`, answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--split", default="test")
    parser.add_argument("--reviews", type=Path)
    parser.add_argument("--to", type=Path, required=True)
    options = parser.parse_args()
    out = stressreel.read(options.out)
    items = out.items(split=options.split)
    if options.reviews:
        write_answers(items, options.reviews, options.to)
    else:
        write_questions(out, items, options.split, options.to)
    print(f"wrote {options.to}")


if __name__ == "__main__":
    run(main)
