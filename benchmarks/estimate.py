"""Compare the estimates of build-perturbed --dry-run with real builds, by perturbation.

    python benchmarks/estimate.py clip.mp4 other.mp4
    python benchmarks/estimate.py clip.mp4 -- --severity 3    # options after -- are passed to the build

Times are CPU times. The factors used by estimates are in `costs.yaml`.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow.parquet as pq
from stressreel.builders.perturbed.prepare import prepare
from stressreel.builders.perturbed.settings import PerturbedSettings
from stressreel.builders.perturbed.tables import CLEAN
from stressreel.cli.main import load_command
from stressreel.cli.options import from_values
from stressreel.core.options import settled
from stressreel.corruptions.registry import visual_corruptions
from stressreel.video.estimate import BuildEstimate


def cpu() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + spent.ru_utime + spent.ru_stime


def command(*arguments: object) -> tuple[float, str]:
    start = [sys.executable, "-c", "from stressreel.cli.main import main; main()", "build", "perturbed"]
    began = cpu()
    done = subprocess.run([*start, *map(str, arguments)], check=True, capture_output=True, text=True)
    return cpu() - began, done.stdout


def compare(clips: Sequence[str], more: Sequence[str]) -> None:
    """Print the ratio of estimated to actual sizes and CPU times for each clip."""
    ratios: dict[str, list[str]] = defaultdict(list)
    for text in clips:
        path = Path(text)
        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            folder = Path(name)
            (folder / path.name).symlink_to(path.resolve())
            (folder / "c.csv").write_text(f"video,caption\n{path.name},a clip\n")
            given = ["--captions", folder / "c.csv", "--workers", 1, *more]
            asked, printed = command(*given, "--dry-run")
            estimate = dry_run_estimate(given)
            spent, _ = command(*given, "--out", folder / "out", "--no-progress")
            sizes: dict[str, float] = defaultdict(float)
            worst = []
            for table in sorted({shard.parent for shard in (folder / "out").glob("*/*.parquet")}):
                rows = pq.read_table(table, columns=["severity", "video"]).to_pylist()
                for row in rows:
                    size = len(row["video"]["bytes"])
                    sizes[table.name] += size
                    worst.append((estimate.parts[table.name, row["severity"]].size / size, table.name, row["severity"]))
        print(f"\n{path.name}\n{printed}\nthe dry run took {asked:.1f} s of CPU time; largest errors: ", end="")
        worst.sort()
        print(", ".join(f"{name} {severity} x{ratio:.2f}" for ratio, name, severity in (*worst[:3], *worst[-3:])))
        for table, size in sizes.items():
            ratios[table].append(f"{sum(c.size for (t, _), c in estimate.parts.items() if t == table) / size:.2f}")
        whole = sum(sizes.values())
        ratios["all sizes"].append(f"{estimate.total.size / whole:.2f} of {whole / 1e6:.0f} MB")
        ratios["CPU"].append(f"{estimate.total.cpu_s / spent:.2f} of {spent:.0f} s")
    print(f"\nestimated / real\n{'':18}" + "".join(f"{Path(clip).name[:22]:>24}" for clip in clips))
    for name in (CLEAN, *visual_corruptions(), "all sizes", "CPU"):
        if name in ratios:
            print(f"{name:18}" + "".join(f"{ratio:>24}" for ratio in ratios[name]))


def dry_run_estimate(given: Iterable[object]) -> BuildEstimate:
    params = load_command("build-perturbed").make_context("build-perturbed", [*map(str, given), "--dry-run"]).params
    estimate_of = prepare(settled(from_values(PerturbedSettings, params)), dry_run=True).estimate
    assert estimate_of is not None
    return estimate_of(1, True)


if __name__ == "__main__":
    given = sys.argv[1:]
    cut = given.index("--") if "--" in given else len(given)
    if not given[:cut] or given[0].startswith("-"):
        sys.exit(__doc__)
    compare(given[:cut], given[cut + 1 :])
