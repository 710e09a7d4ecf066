"""Print the fingerprints of builds, to compare them before and after a change that must not affect outputs.

    python benchmarks/fingerprints.py > before.txt
    python benchmarks/fingerprints.py --data ../shared/data > before.txt     # on real annotations too

One line per build: the fingerprint of its rows (and videos, if rendered), then the hash of the scores of deterministic
answers (the first option, "yes" for every third question, and so on).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SUITE = "--limit 4 --perturbations jpeg,jumble,mpeg1,gaussian_noise --text-perturbations typos,no_verbs"
SAMPLES = {
    "clavi, sample": "build-clavi --charades sample",
    "clavi, segments": "build-clavi --segments sample --audio keep",
    "perturbed, sample": f"build-perturbed --msrvtt sample --modality all {SUITE} --pairs jpeg:typos",
    "causal, sample": "build-causal --annotations sample",
    "decomp, sample": "build-decomp --charades sample",
}
YOUCOOK2 = "{data}/youcook2/youcookii_annotations_trainval.json"
REAL = {
    "clavi, Charades": "build-clavi --charades {data}/charades --no-render",
    "clavi, YouCook2": f"build-clavi --youcook2 {YOUCOOK2} --no-render --same-by lemmas",
    "clavi, CausalChaos": "build-clavi --causalchaos {data}/causalchaos/Annotations.csv --no-render --same-by lemmas",
    "decomp, Charades": "build-decomp --charades {data}/charades --limit 300",
}
START = "import sys; sys.argv[0] = {name!r}; from stressreel.cli.main import {main}; {main}()"


def call(name: str, *arguments: object) -> str:
    main = "main" if name == "stressreel" else "build"
    code = START.format(name=name, main=main)
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr}")
    return done.stdout


def answers(out: Path, file: Path) -> None:
    """Answer every question in an output by a rule that depends only on its position."""
    from stressreel import read

    items = read(out).items(split="all")
    lines = [
        json.dumps({"id": name, "answer": options[index % len(options)] if options else ("no", "yes")[index % 3 == 0]})
        for index, (name, options) in enumerate(zip(items.ids, items.options, strict=True))
    ]
    file.write_text("\n".join(lines) + "\n", "utf-8")


def scores(out: Path, folder: Path) -> str:
    """Return a hash of the scores, or "" if the output is scored by similarities."""
    if json.loads((out / "build.json").read_text("utf-8"))["builder"] == "perturbed":
        return ""
    answers(out, folder / "answers.jsonl")
    options = ("--split", "all", "--partial", "--json", "--out", folder / "to")
    report = call("stressreel", "score", out, "--predictions", folder / "answers.jsonl", *options)
    return " scores " + hashlib.sha256(report.replace(str(folder), "").encode()).hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with charades, youcook2 and causalchaos annotations")
    parser.add_argument("--only", default="", help="only builds whose name contains this")
    options = parser.parse_args()
    builds = SAMPLES | (REAL if options.data else {})
    for name, command in builds.items():
        if options.only in name:
            with tempfile.TemporaryDirectory() as text:
                folder = Path(text)
                call(
                    *(part.format(data=options.data) for part in command.split()),
                    "--out",
                    folder / "out",
                    "--no-progress",
                )
                info = json.loads((folder / "out" / "build.json").read_text("utf-8"))
                print(f"{name}: {info['fingerprint']}{scores(folder / 'out', folder)}", flush=True)


if __name__ == "__main__":
    main()
