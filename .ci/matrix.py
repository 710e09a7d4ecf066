#!/usr/bin/env python3
"""Build and verify the samples with the oldest and the newest packages of pyproject.toml, and compare the rows.

    python .ci/matrix.py                                 the oldest Python and packages that are found, and the newest
    python .ci/matrix.py 3.12:oldest 3.13:oldest

Packages with torch are not tried: they are tested only in the version of constraints.txt.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UV = Path(sys.executable).with_name("uv")  # unpacks a package once for all environments
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
RESOLUTIONS = {"oldest": "lowest-direct", "newest": "highest"}
EXTRAS = ("perturb", "text", "decord")
BUILDS = {
    "clavi": "build-clavi --charades sample",
    "decomp": "build-decomp --charades sample",
    "perturbed": "build-perturbed --msrvtt sample --limit 3 --severity 1,5"
    " --perturbations gaussian_noise,motion_blur,rotation,jpeg,mpeg1,jumble",
}
ENCODED = {"sha256", "source_sha256"}  # columns that depend on the version of x264
NOISE = "gaussian_noise"  # in this table alone, decoded frames may be below 30 dB: x264 encodes noise coarsely


class Environment:
    """A virtual environment in which commands of stressreel run."""

    def __init__(self, name: str, work: Path):
        self.folder = work / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.bin = self.folder / "venv" / "bin"
        self.cache = self.folder / "cache"

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

    def size(self) -> int:
        """Return the size of the installed packages without pip, in MB."""
        folder = next((self.folder / "venv" / "lib").glob("python*")) / "site-packages"
        files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        return round(sum(path.stat().st_size for path in files if path.relative_to(folder).parts[0] != "pip") / 1e6)


def make_wheel(work: Path) -> Path:
    """Build the wheel of stressreel in a working folder."""
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(work / "wheel"), str(ROOT)]
    subprocess.run(command, check=True)
    (wheel,) = (work / "wheel").glob("stressreel-*.whl")
    return wheel


def find_python(minor: str) -> str | None:
    """Return an interpreter that works: this one, or one on PATH or of pyenv. Nothing is downloaded."""
    here = [sys._base_executable] if sys.version.startswith(f"{minor}.") else []
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{minor}.*/bin/python{minor}"), reverse=True)
    for found in filter(None, (*here, shutil.which(f"python{minor}"), *map(str, pyenv))):
        if subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
            return found
    return None


def try_versions(environment: Environment, python: str, versions: str, wheel: Path) -> None:
    """Install the packages, then build and verify the samples."""
    environment.call(UV, "venv", "-q", "--clear", "--python", python, environment.folder / "venv")
    pip = (UV, "pip", "install", "-q", "--python", environment.bin / "python")
    extras = [word for extra in EXTRAS for word in ("--extra", extra)]
    environment.call(*pip, "--resolution", RESOLUTIONS[versions], "-r", ROOT / "pyproject.toml", *extras)
    environment.call(*pip, "--no-deps", wheel)
    for name, words in BUILDS.items():
        program, *options = words.split()
        out = environment.folder / name
        environment.call(environment.bin / program, *options, "--out", out, "--fresh", "--no-progress")
        environment.call(environment.bin / "stressreel", "verify", out, "--sources", "sample")
    environment.call(*pip, "pytest")
    (environment.folder / "pytest.ini").write_text("[pytest]\n")
    options = ["-c", str(environment.folder / "pytest.ini"), "--noconftest", "-p", "no:cacheprovider", "-q"]
    environment.call(environment.bin / "python", "-m", "pytest", *options, ROOT / "tests" / "video" / "test_pyav.py")


def other_rows(first: Environment, other: Environment) -> list[str]:
    """List the tables that differ by more than the encoding of videos."""
    found = []
    for name in BUILDS:
        outputs = (first.folder / name, other.folder / name)
        report = json.loads(first.run(first.bin / "stressreel", "diff", *outputs, "--json").stdout)
        for table in report["tables"]:
            columns = {change["what"] for change in table["columns"]}
            unlike = {*(table["videos"] or {}).get("kinds", ())} - {"alike"}
            if table["name"] == NOISE:
                unlike -= {"pictures"}
            rows = table["new"]["count"] + table["gone"]["count"] + len(table["moved"]) + len(table["schema"])
            if rows or unlike or columns - ENCODED or table["reordered"]:
                what = ", ".join([*columns, *unlike]) or "rows"
                found.append(f"{name}: {table['name']} differs ({what})")
    return found


def main() -> int:
    """Test the requested environments; return 1 if one differs from the first."""
    pythons = {minor: path for minor in PYTHONS if (path := find_python(minor))}
    work = ROOT / "build" / "matrix"
    shutil.rmtree(work, ignore_errors=True)
    wheel = make_wheel(work)
    first: Environment | None = None
    failed = False
    for name in sys.argv[1:] or (f"{min(pythons)}:oldest", f"{max(pythons)}:newest"):
        python, _, versions = name.partition(":")
        if python not in pythons:
            raise SystemExit(f"Python {python} was not found. Available: {', '.join(pythons)}.")
        environment = Environment(name.replace(":", "-"), work)
        try_versions(environment, pythons[python], versions, wheel)
        problems = other_rows(first, environment) if first else []
        first = first or environment
        print(f"{name}: {'; '.join(problems) or 'every row as in the first'}", flush=True)
        failed |= bool(problems)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
