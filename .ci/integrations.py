#!/usr/bin/env python3
"""Test every extra and every harness in a separate environment; print tables of versions, sizes and results.

    python .ci/integrations.py                        everything: more than an hour on two cores
    python .ci/integrations.py core ask lmms-eval     only these

Environments of extras run `COMMANDS`: each must succeed, or name an extra to install that is not there. Environments of
harnesses run the tests that are skipped without them. The Python of this script needs the extra `dev`.

A row without faults is stored in `--work`, and its environment is deleted: the next run prints the row again and tests
only the others, whose environments are reused. Delete the folder to start afresh.
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
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import date
from pathlib import Path

from matrix import ROOT, UV, Environment, make_wheel

sys.path.insert(0, str(ROOT / "tests" / "support"))

OTHERS = ("all", "docs", "bench", "dev")  # extras that are not tried alone
UNPINNED = ("video",)  # their packages do not fit the torch of constraints.txt everywhere
NAMED = re.compile(r"pip install 'stressreel\[([\w,]+)\]'")
HARNESSES = {  # what is installed, the variable that names its Python, its tests
    "lmms-eval": (
        ("lmms-eval==0.7.3", "decord2", "filelock<4"),
        "STRESSREEL_LMMS_PYTHON",
        "tests/exports/test_lmms_eval.py",
    ),
    "inspect-ai": (
        ("inspect-ai==0.3.285", "openai", "pyarrow", "av", "pillow"),
        "STRESSREEL_INSPECT_PYTHON",
        "tests/exports/test_inspect_ai.py",
    ),
    "VLMEvalKit": (
        ("ms-vlmeval==0.0.20", "stressreel"),
        "STRESSREEL_VLMEVALKIT_PYTHON",
        "tests/exports/test_vlmevalkit.py",
    ),
    "FiftyOne": (
        ("fiftyone==1.22.1", "stressreel[perturb]"),
        "STRESSREEL_FIFTYONE_PYTHON",
        "tests/exports/test_fiftyone.py",
    ),
    "local models": (
        ("stressreel[ask,sbert,perturb,video]", "hypothesis", "pytest", "pytest-timeout", "pyyaml"),
        "",
        "tests/evaluation/models/test_local.py",
    ),
}
SHOWN = ("lmms_eval", "inspect_ai", "ms_vlmeval", "fiftyone", "torch", "torchvision", "transformers", "av", "datasets")

EXTRAS_TABLE = "| extra | MB | succeed | name an extra | faults | date |\n|---|--:|--:|--:|--:|---|"
HARNESSES_TABLE = "| environment | versions | MB | tests | date |\n|---|---|--:|---|---|"

# The extra that a command needs ("": none), and the command. Without the extra it may name any other that is missing.
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
    ("", "stressreel withhold {clavi} --to {to}"),
    ("", "stressreel ask {clavi} --dry-run"),
    ("", "stressreel export files {clavi} --to {to}"),
    ("", "stressreel export webdataset {clavi} --to {to}"),
    ("", "stressreel export lmms-eval {clavi} --to {to}"),
    ("", "stressreel export vlmevalkit {clavi} --to {to}"),
    ("", "stressreel export inspect {clavi} --to {to}"),
    ("", "stressreel push {clavi} me/clavi --dry-run"),
    ("perturb", "build-perturbed --msrvtt sample --perturbations jpeg --severity 1 --limit 1 --out {to}"),
    ("perturb", "build-perturbed --msrvtt sample --perturbations mpeg2 --severity 1 --limit 1 --out {to}"),
    ("text", "build-perturbed --msrvtt sample --modality text --limit 1"
     " --text-perturbations typos,swap_syn_wordnet --out {to}"),
    ("sbert", "build-perturbed --msrvtt sample --modality text --limit 1 --dry-run --out {to}"),
    ("text", "build-clavi --charades sample --source sta --no-render --out {to}"),
    ("text", "stressreel data show"),
    ("decord", "stressreel verify {clavi}"),
    ("decode", "python -c 'from datasets import load_dataset as load;"
     " print(load(\"{clavi}\", \"videos\", split=\"test\")[0][\"video\"].get_frame_at(0).data.shape)'"),
    ("sbert", "build-causal --annotations sample --no-render --out {to}"),
    ("sbert", "stressreel mine --questions sample --balance none --out {to}.jsonl"),
    ("models", "build-perturbed --msrvtt sample --modality text --text-perturbations mlm_suggestion"
     " --mlm {mlm} --limit 1 --out {to}"),
    ("score", "stressreel score text-shift {perturbed}"),
    ("captions", "stressreel score open-ended {causal} --predictions {sentences} --split test --no-sbert"),
    ("ask", "stressreel ask {clavi} --endpoint {endpoint} --model m --limit 1 --to {to}.jsonl"),
    ("probes", "stressreel ask {clavi} --transformers {model} --send frames --frames 1 --limit 1 --to {to}.jsonl"),
    ("probes", "stressreel probe {clavi} --transformers {model} --frames 1 --limit 1 --to {to}"),
    ("video", "stressreel ask {clavi} --transformers {model} --send video --frames 2 --limit 1 --to {to}.jsonl"),
    ("video", "stressreel ask {clavi} --transformers {model} --device-map auto --frames 1 --limit 1 --to {to}.jsonl"),
    ("cloud", "build-clavi --charades sample --no-render --out {bucket}/{name}"),
    ("cluster", "build-clavi --charades sample --limit 1 --no-render --executor ray --out {to}"),
    ("sign", "stressreel sign {copy} --key {key}"),
    ("sign", "stressreel verify {copy} --signed-by {public}"),
)  # fmt: skip


def faults(environment: Environment, installed: set[str], places: dict[str, object]) -> tuple[int, int, list[str]]:
    """Run the commands in an environment; return how many succeeded, how many named an extra, and the faults.

    Args:
        environment: Environment to test.
        installed: Extras of the environment, including those that they depend on.
        places: Folders, files and addresses that the commands refer to.
    """
    found, succeeded = [], 0
    made = environment.folder / "made"
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(str(places["clavi"]), made / "copy")
    # An extra changes nothing for the core's commands, and what `datasets` says without one is not ours.
    commands = [
        (extra, command)
        for extra, command in COMMANDS
        if (extra or not installed) and (extra in installed or not command.startswith("python "))
    ]
    for number, (extra, command) in enumerate(commands):
        here = {"to": made / str(number), "name": f"{environment.folder.name}-{number}", "copy": made / "copy"}
        words = [word.format(**places, **here) for word in shlex.split(command)]
        done = environment.run(environment.bin / words[0], *words[1:])
        said = f"{command}: {(done.stdout + done.stderr).strip()[-600:]}"
        named = {extra for extras in NAMED.findall(done.stdout + done.stderr) for extra in extras.split(",")}
        if "Traceback" in said or "fault in stressreel" in said:
            found.append(said)
        elif not done.returncode and extra in installed & named:
            found.append(f"asks for an extra that it has: {said}")
        elif not done.returncode:
            succeeded += not extra or extra in installed or not named  # or `verify` left one check out
        elif not extra or extra in installed:
            found.append(f"fails, with every extra it needs: {said}")
        elif not named or named & installed:
            found.append(f"names {', '.join(named) or 'no extra'}: {said}")
    return succeeded, len(commands) - succeeded - len(found), found


def closure(extra: str) -> set[str]:
    """Return an extra together with all extras that it includes."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    inner = (found for line in extras[extra] for found in re.findall(r"^stressreel\[(\w+)\]", line))
    return {extra}.union(*map(closure, inner))


def install(environment: Environment, wheel: Path, packages: tuple[str, ...], *constraints: object) -> None:
    """Install packages, or in an environment that has them only the present wheel.

    Args:
        environment: Environment to install in.
        wheel: The wheel of stressreel.
        packages: Requirements to install; `stressreel` stands for the wheel.
        constraints: Options of pip.
    """
    done = environment.folder / "installed"
    pip = (UV, "pip", "install", "-q", "--python", environment.bin / "python")
    if not done.exists():
        environment.call(UV, "venv", "-q", "--clear", "--python", sys.executable, environment.folder / "venv")
        asked = [re.sub(r"^(stressreel\S*)", rf"\1 @ {wheel.as_uri()}", package) for package in packages]
        environment.call(*pip, *constraints, *asked)
        done.touch()
    elif any(package.startswith("stressreel") for package in packages):
        environment.call(*pip, "--no-deps", "--reinstall", wheel)


def try_extra(
    environment: Environment, name: str, wheel: Path, places: dict[str, object]
) -> tuple[tuple[object, ...], list[str]]:
    """Test an extra alone, or the core; return the cells of its table row and the faults."""
    installed = set() if name == "core" else closure(name)
    constraints = () if name in UNPINNED else ("-c", ROOT / "constraints.txt")
    install(environment, wheel, (f"stressreel[{','.join(sorted(installed))}]",), *constraints)
    size = environment.size()  # before any bytecode is written
    succeeded, refused, found = faults(environment, installed, places)
    return (size, succeeded, refused, len(found)), found


def try_harness(environment: Environment, name: str, wheel: Path) -> tuple[tuple[object, ...], list[str]]:
    """Run the tests of a harness; return the cells of its table row and any failures."""
    packages, variable, tests = HARNESSES[name]
    install(environment, wheel, packages)
    size = environment.size()
    python, variables = Path(sys.executable), {**os.environ, variable or "_": str(environment.bin / "python")}
    if not variable:  # the tests run in the environment itself
        python = environment.bin / "python"
    command = [str(python), "-m", "pytest", "-q", "-m", "", "-p", "no:cacheprovider", "--timeout", "1800", tests]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
    result = next((line for line in reversed(done.stdout.splitlines()) if line.strip()), "no result")
    listed = json.loads(environment.call(UV, "pip", "list", "--python", environment.bin / "python", "--format", "json"))
    versions = {row["name"].replace("-", "_"): row["version"] for row in listed}
    shown = ", ".join(f"{package} {versions[package]}" for package in SHOWN if package in versions)
    found = [f"{tests}: {done.stdout[-4000:]}{done.stderr[-2000:]}"] if done.returncode else []
    return (shown, size, result.strip("= ")), found


@contextmanager
def made_places(work: Path) -> Iterator[dict[str, object]]:
    """Build the outputs, answers, models and servers that the commands refer to, with the Python of this script."""
    from buckets import serving
    from endpoint import running
    from signing import key_pair
    from small_wordnet import write_wordnet
    from stressreel.core.output import open_output
    from tiny_models import write_mlm, write_qwen2_vl

    os.environ["NLTK_DATA"] = str(work / "nltk_data")
    places: dict[str, object] = {name: work / name for name in ("clavi", "perturbed", "causal", "model", "mlm")}
    pair = key_pair(work)
    places |= {"key": pair.key, "public": pair.public}
    cache = {"XDG_CACHE_HOME": str(work / "cache")}
    if not (work / "mlm").exists():
        write_wordnet(work / "nltk_data")
        write_qwen2_vl(work / "model")
        for words in (
            ("clavi", "--charades", "sample"),
            ("perturbed", "--msrvtt", "sample", "--modality", "text", "--text-perturbations", "typos"),
            ("causal", "--annotations", "sample", "--balance", "none", "--preset", "ultrafast"),
        ):
            code = "from stressreel.cli.main import main; main()"
            command = [sys.executable, "-c", code, "build", *words, "--no-progress", "--out", str(work / words[0])]
            subprocess.run(command, check=True, env={**os.environ, **cache}, stdout=subprocess.DEVNULL)
        write_mlm(work / "mlm")
    answers, sentences = work / "answers.jsonl", work / "sentences.jsonl"
    ids = [row["question_id"] for row in open_output(work / "clavi").rows("questions")]
    answers.write_text("".join(json.dumps({"id": each, "answer": "yes"}) + "\n" for each in ids))
    rows = open_output(work / "causal").rows("open_ended", ["qid"], "test")
    texts = ({"qid": row["qid"], "answer": "He runs away.", "explanation": "He is afraid."} for row in rows)
    sentences.write_text("".join(json.dumps(each) + "\n" for each in texts))
    with serving() as bucket, running() as endpoint:
        servers = {"bucket": bucket.url, "endpoint": endpoint.url}
        yield places | servers | {"answers": answers, "sentences": sentences}


def main() -> int:
    """Run the requested tests; return 1 if there are faults."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    alone = ["core", *(extra for extra in extras if extra not in OTHERS)]
    known = [*alone, *HARNESSES]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"One or more of {', '.join(known)}; default: all.")
    parser.add_argument("--work", type=Path, default=Path("build/integrations"), help="Working folder.")
    options = parser.parse_args()
    if unknown := set(options.names) - set(known):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    work = options.work.resolve()
    (work / "rows").mkdir(parents=True, exist_ok=True)
    wheel = make_wheel(work)
    asked, failed = options.names or known, False
    with made_places(work) if set(asked) - set(HARNESSES) else nullcontext({}) as places:
        for names, heading in ((alone, EXTRAS_TABLE), (HARNESSES, HARNESSES_TABLE)):
            print(f"\n{heading}", flush=True)
            for name in (name for name in names if name in asked):
                stored = work / "rows" / name
                if not stored.exists():
                    environment = Environment(name.replace(" ", "-"), work)
                    environment.cache = work / "cache"  # drawing the samples takes longer than most commands
                    try:
                        if name in HARNESSES:
                            cells, found = try_harness(environment, name, wheel)
                        else:
                            cells, found = try_extra(environment, name, wheel, places)
                    except SystemExit as error:  # a row that cannot be installed does not stop the others
                        cells, found = (), [str(error)]
                    row = f"| {' | '.join(map(str, (name, *cells, date.today())))} |"
                    for fault in found:
                        print(f"{name}: {fault}", file=sys.stderr, flush=True)
                    if found:
                        failed = True
                        print(row, flush=True)
                        continue
                    stored.write_text(f"{row}\n")
                    if name != "lmms-eval":  # the local models are compared with it
                        shutil.rmtree(environment.folder)
                print(stored.read_text(), end="", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
