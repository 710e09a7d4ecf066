"""The real commands, run as a user runs them."""

import subprocess
import sys
from dataclasses import dataclass

START = "import sys; sys.argv[0] = {name!r}; from stressreel.cli.main import {function}; {function}()"
FUNCTIONS = {
    "build-clavi": "build_clavi",
    "build-perturbed": "build_perturbed",
    "build-causal": "build_causal",
    "stressreel": "main",
}


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def start(name: str, *arguments: object, **options: object) -> subprocess.Popen[str]:
    code = START.format(name=name, function=FUNCTIONS[name])
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def run(name: str, *arguments: object, **options: object) -> Ran:
    process = start(name, *arguments, **options)
    out, err = process.communicate(timeout=240)
    assert "Traceback" not in err, err
    return Ran(process.returncode, out, err)
