#!/usr/bin/env python3
"""Test every extra and every harness in a separate environment; print tables of versions, sizes and results.

    python .ci/integrations.py                        everything: 25 GB and more than an hour on two cores
    python .ci/integrations.py core ask lmms-eval     only these

Environments of extras run `COMMANDS`: a command whose packages are missing must name an extra to install, and nothing
may end in a traceback. Environments of harnesses run the tests that are skipped without them, with the Python of this
script, which needs the extra `dev`. Environments in `--work` are reused; delete the folder to start afresh.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from datetime import date
from pathlib import Path

from matrix import ROOT, Environment

OTHERS = ("all", "docs", "bench", "dev")  # extras that are not tried alone
UNPINNED = ("video",)  # their packages do not fit the torch of constraints.txt everywhere
NAMED = re.compile(r"pip install 'stressreel\[(\w+)\]'")
HARNESSES = {  # what is installed, the variable that names its Python, its tests
    "lmms-eval": (("lmms-eval==0.7.3", "decord2"), "STRESSREEL_LMMS_PYTHON", "tests/exports/test_lmms_eval.py"),
    "inspect-ai": (
        ("inspect-ai==0.3.285", "openai", "pyarrow", "av", "pillow"),
        "STRESSREEL_INSPECT_PYTHON",
        "tests/exports/test_inspect.py",
    ),
    "VLMEvalKit": (
        ("ms-vlmeval==0.0.20", "stressreel"),
        "STRESSREEL_VLMEVALKIT_PYTHON",
        "tests/exports/test_vlmevalkit.py",
    ),
    "FiftyOne": (("fiftyone==1.22.1",), "STRESSREEL_FIFTYONE_PYTHON", "tests/exports/test_fiftyone.py"),
    "local models": (
        ("stressreel[ask,sbert,perturb,video]", "hypothesis", "pytest", "pytest-timeout", "pyyaml"),
        "",
        "tests/evaluation/models/test_local.py",
    ),
}
SHOWN = ("lmms_eval", "inspect_ai", "ms_vlmeval", "fiftyone", "torch", "torchvision", "transformers", "av", "datasets")

# The extra that a command needs ("": none), and the command. It may name another extra where several are missing.
COMMANDS = (
    ("", "build-clavi --charades sample --limit 1 --preset ultrafast --out {to}"),
    ("", "build-decomp --charades sample --limit 1 --embed no --out {to}"),
    ("", "stressreel list visual"),
    ("", "stressreel sample {to} --kind charades"),
    ("", "stressreel verify {clavi}"),
    ("", "stressreel card {clavi}"),
    ("", "stressreel gallery {clavi} --to {to}"),
    ("", "stressreel diff {clavi} {clavi}"),
    ("", "stressreel audit {causal} --resamples 100"),
    ("", "stressreel score {clavi} --predictions {answers} --split all --out {to} --resamples 100"),
    ("", "stressreel permute {clavi} --to {to}.csv"),
    ("", "stressreel ask {clavi} --dry-run"),
    ("", "stressreel export files {clavi} --to {to}"),
    ("", "stressreel export webdataset {clavi} --to {to}"),
    ("", "stressreel export lmms-eval {clavi} --to {to}"),
    ("", "stressreel export vlmevalkit {clavi} --to {to}"),
    ("", "stressreel export inspect {clavi} --to {to}"),
    ("", "stressreel push {clavi} me/clavi --dry-run"),
    ("perturb", "build-perturbed --msrvtt sample --perturbations jpeg --severity 1 --limit 1 --out {to}"),
    ("perturb", "build-perturbed --msrvtt sample --perturbations mpeg2 --severity 1 --limit 1 --out {to}"),
    ("text", "build-perturbed --msrvtt sample --modality text --limit 1 --out {to}"),
    ("text", "build-clavi --charades sample --source sta --no-render --out {to}"),
    ("text", "stressreel data show"),
    ("sbert", "build-causal --annotations sample --no-render --out {to}"),
    ("sbert", "stressreel mine --questions sample --balance none --out {to}.jsonl"),
    ("models", "build-perturbed --msrvtt sample --modality text --mlm {model} --limit 1 --out {to}"),
    ("score", "stressreel score text-shift {perturbed}"),
    ("captions", "stressreel score open-ended {causal} --predictions {sentences} --split test"),
    ("ask", "stressreel ask {clavi} --endpoint http://127.0.0.1:9 --model m --retries 0 --limit 1 --to {to}.jsonl"),
    ("probes", "stressreel ask {clavi} --transformers {model} --send frames --frames 1 --limit 1 --to {to}.jsonl"),
    ("probes", "stressreel probe {clavi} --transformers {model} --frames 1 --limit 1 --to {to}"),
    ("probes", "stressreel simulate-quag --alphas 0.1 --seeds 1 --steps 2 --out {to}.png"),
    ("video", "stressreel ask {clavi} --transformers {model} --send video --frames 2 --limit 1 --to {to}.jsonl"),
    ("video", "stressreel ask {clavi} --transformers {model} --device-map auto --frames 1 --limit 1 --to {to}.jsonl"),
    ("cloud", "build-clavi --charades sample --no-render --out s3://bucket/{to}"),
    ("cluster", "build-clavi --charades sample --limit 1 --no-render --executor ray --out {to}"),
    ("sign", "stressreel sign {clavi} --key {answers}"),
    ("sign", "stressreel verify {clavi} --signed-by {answers}"),
)


def faults(environment: Environment, installed: set[str], places: dict[str, Path]) -> tuple[int, list[str]]:
    """Run the commands in an environment; return their number and their faults.

    Args:
        environment: Environment to test.
        installed: Extras of the environment, including those that they depend on.
        places: Folders and files that the commands refer to.
    """
    found, tried = [], 0
    shutil.rmtree(environment.folder / "made", ignore_errors=True)
    for number, (extra, command) in enumerate(COMMANDS):
        if not extra and installed:  # these are tried in the core
            continue
        tried += 1
        words = [word.format(**places, to=environment.folder / "made" / str(number)) for word in shlex.split(command)]
        done = environment.run(environment.bin / words[0], *words[1:])
        said = done.stdout + done.stderr
        named = set(NAMED.findall(done.stderr)) if done.returncode else set()
        if "Traceback" in said or "fault in stressreel" in said or done.returncode not in (0, 1, 2):
            found.append(f"{command}: {said.strip()[-500:]}")
        elif done.returncode and extra not in installed and extra and not named:
            found.append(f"{command}: names no extra: {said.strip()[-300:]}")
        elif named & installed or (named and not extra):
            found.append(f"{command}: names {named}, which is installed: {said.strip()[-300:]}")
        elif done.returncode and not extra:
            found.append(f"{command}: failed: {said.strip()[-300:]}")
    return tried, found


def closure(extra: str) -> set[str]:
    """Return an extra together with all extras that it includes."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    inner = (found for line in extras[extra] for found in re.findall(r"^stressreel\[(\w+)\]", line))
    return {extra}.union(*map(closure, inner))


def make(name: str, work: Path, wheel: Path, packages: tuple[str, ...], *constraints: object) -> Environment:
    """Create an environment, or return an existing one.

    Args:
        name: Name of the environment.
        work: Folder of all environments.
        wheel: The wheel of stressreel.
        packages: Requirements to install; `stressreel` stands for the wheel.
        constraints: Options of pip.
    """
    environment = Environment(sys.executable, name.replace(" ", "-"), work, work / "none", keep=True)
    environment.cache = work / "cache"  # drawing the samples takes longer than most commands
    done = environment.folder / "installed"
    if not done.exists():
        environment.call(environment.python, "-m", "venv", environment.folder / "venv")
        asked = [re.sub(r"^(stressreel\S*)", rf"\1 @ {wheel.as_uri()}", package) for package in packages]
        environment.call(environment.bin / "python", "-m", "pip", "install", "-q", *constraints, *asked)
        done.touch()
    return environment


def try_extra(extra: str, work: Path, wheel: Path, places: dict[str, Path]) -> list[str]:
    """Test an extra alone ("" for the core); print its table row and return the faults."""
    constraints = () if extra in UNPINNED else ("-c", ROOT / "constraints.txt")
    environment = make(extra or "core", work, wheel, (f"stressreel[{extra}]",), *constraints)
    tried, found = faults(environment, closure(extra) if extra else set(), places)
    print(f"| {f'`{extra}`' if extra else 'core'} | {environment.size()} | {tried} | {len(found)} |", flush=True)
    return found


def try_harness(name: str, work: Path, wheel: Path) -> list[str]:
    """Run the tests of a harness; print its table row and return the faults."""
    packages, variable, tests = HARNESSES[name]
    environment = make(name, work, wheel, packages)
    python, variables = Path(sys.executable), {**os.environ, variable or "_": str(environment.bin / "python")}
    if not variable:  # the tests run in the environment itself, and compare with lmms-eval where that is
        python = environment.bin / "python"
        other = next(work.glob("*-lmms-eval/venv/bin/python"), None)
        variables |= {"STRESSREEL_LMMS_PYTHON": str(other)} if other else {}
    command = [str(python), "-m", "pytest", "-q", "-m", "", "-p", "no:cacheprovider", "--timeout", "1800", tests]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
    result = next((line for line in reversed(done.stdout.splitlines()) if line.strip()), "no result")
    listed = json.loads(environment.call(environment.bin / "python", "-m", "pip", "list", "--format", "json"))
    versions = {row["name"].replace("-", "_"): row["version"] for row in listed}
    shown = ", ".join(f"{package} {versions[package]}" for package in SHOWN if package in versions)
    print(f"| {name} | {shown} | {environment.size()} | {result} |", flush=True)
    return [] if done.returncode == 0 else [f"{tests}: {done.stdout[-4000:]}{done.stderr[-2000:]}"]


def made_places(work: Path) -> dict[str, Path]:
    """Build the outputs, answers and model that the commands refer to, with the Python of this script."""
    from stressreel.core.output import open_output

    pattern, fresh = ("--tagger", "pattern"), ("--fresh", "--no-progress")
    for words in (
        ("clavi", "--charades", "sample"),
        ("perturbed", "--msrvtt", "sample", "--modality", "text", "--text-perturbations", "no_verbs,typos", *pattern),
        ("causal", "--annotations", "sample", "--balance", "none", "--preset", "ultrafast", *pattern),
    ):
        code = "from stressreel.cli.main import main; main()"
        command = [sys.executable, "-c", code, "build", *words, *fresh, "--out", str(work / words[0])]
        cache = {"XDG_CACHE_HOME": str(work / "cache")}
        subprocess.run(command, check=True, env={**os.environ, **cache}, stdout=subprocess.DEVNULL)
    answers, model = work / "answers.jsonl", work / "model"
    ids = [row["question_id"] for row in open_output(work / "clavi").rows("questions")]
    answers.write_text("".join(json.dumps({"id": each, "answer": "yes"}) + "\n" for each in ids))
    rows = open_output(work / "causal").rows("open_ended", ["qid"], "test")
    texts = ({"qid": row["qid"], "answer": "He runs away.", "explanation": "He is afraid."} for row in rows)
    sentences = work / "sentences.jsonl"
    sentences.write_text("".join(json.dumps(each) + "\n" for each in texts))
    if not model.is_dir():
        sys.path.insert(0, str(ROOT / "tests" / "support"))
        from tiny_models import write_qwen2_vl

        write_qwen2_vl(model)
    outputs = {name: work / name for name in ("clavi", "perturbed", "causal")}
    return {**outputs, "answers": answers, "sentences": sentences, "model": model}


def main() -> int:
    """Run the requested tests; return 1 if there are faults."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    known = ["core", *(extra for extra in extras if extra not in OTHERS), *HARNESSES]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"Of {', '.join(known)}; default all.")
    parser.add_argument("--work", type=Path, default=Path("build/integrations"), help="Folder to work in.")
    options = parser.parse_args()
    if unknown := set(options.names) - set(known):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    wheels = work / "wheel"
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(wheels), str(ROOT)]
    subprocess.run(command, check=True)
    (wheel,) = wheels.glob("stressreel-*.whl")
    asked = options.names or known
    found: dict[str, list[str]] = {}
    if alone := [name for name in asked if name not in HARNESSES]:
        places = made_places(work)
        print(f"{date.today()}\n\n| extra | MB | commands | faults |\n|---|--:|--:|--:|", flush=True)
        for name in alone:
            found[name] = try_extra("" if name == "core" else name, work, wheel, places)
    if harnesses := [name for name in asked if name in HARNESSES]:
        print(f"\n{date.today()}\n\n| environment | versions | MB | tests |\n|---|---|--:|---|", flush=True)
        for name in harnesses:
            found[name] = try_harness(name, work, wheel)
    for name, each in found.items():
        for fault in each:
            print(f"{name}: {fault}", file=sys.stderr)
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
