"""Builds planned once more from their annotations, and what `build.json` says of the plan compared with that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..records.checks import Finding, NotChecked, VerifyOptions
from ..records.documents import shortened
from ..records.files import sha256_file
from ..records.output import FinishedOutput
from ..records.plan import Plan
from ..sources.files import find_file


def annotation_folder(options: VerifyOptions) -> Path | None:
    """Return the folder with the annotations, if one was given."""
    given = options.annotations or options.sources
    return given.parent if given and given.is_file() else given


def input_files(info: Mapping[str, Any], folder: Path) -> dict[str, Path] | NotChecked:
    """Find the annotation files that `build.json` names, by name; a `NotChecked` if some are not there.

    Args:
        info: The content of `build.json`.
        folder: Where they are, or up to two folders below.

    Raises:
        InputError: It names none, or something else than files.
    """
    if not info["inputs"] or not all(map(_is_name, info["inputs"])):
        raise InputError(
            f"build.json names {shortened(info['inputs'])} as the annotation files; expected names of files with their "
            "SHA-256"
        )
    found = {name: find_file(folder, name) for name in info["inputs"]}
    absent = sorted(name for name, path in found.items() if path is None)
    if absent:
        return NotChecked(
            f"what follows from the annotations: {', '.join(absent)} not found in {folder} or two folders below; give "
            "--annotations"
        )
    return {name: path for name, path in found.items() if path}


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and Path(name).name == name != ".."


def differing_inputs(info: Mapping[str, Any], files: Mapping[str, Path]) -> Iterator[str]:
    """Name the annotation files that are not those that `build.json` names."""
    for name, path in files.items():
        if sha256_file(path) != info["inputs"][name]:
            yield f"{name} is not the file that build.json names: its SHA-256 differs"


PlanAgain = Callable[[FinishedOutput, Path], Plan | NotChecked]
"""Plans an output from the annotations in a folder; raises InputError if they are malformed."""


def plan_or_findings(
    output: FinishedOutput, options: VerifyOptions, plan_again: PlanAgain, left_open: str
) -> Plan | list[Finding]:
    """Plan an output once more, if its annotations are at hand.

    Args:
        output: The output.
        options: Say where the annotations are.
        plan_again: Plans it.
        left_open: What cannot be checked without the annotations.

    Returns:
        The plan, or what a check has to say because there is none.
    """
    folder = annotation_folder(options)
    if folder is None:
        return [NotChecked(f"{left_open}: give --annotations, or --sources with the annotations in it")]
    try:
        files = input_files(output.info, folder)
        if not isinstance(files, NotChecked):
            problems: list[Finding] = [*differing_inputs(output.info, files)]
            if problems:
                return problems
        plan = plan_again(output, folder)
    except InputError as error:
        return [f"the build cannot be planned again: {error}"]
    return [plan] if isinstance(plan, NotChecked) else plan


def differing_plan(
    info: Mapping[str, Any], plan: Plan, *, compared: Sequence[str] = (), taken: Sequence[str] = ()
) -> Iterator[str]:
    """Compare what `build.json` says of the plan with the plan made again.

    Args:
        info: The content of `build.json`.
        plan: The plan made again.
        compared: Other entries of the plan's identity that must be the same.
        taken: Entries that may differ; see `differing_hash`.
    """
    yield from differing_tables(info, plan)
    for name in compared:
        if info.get(name) != plan.identity.get(name):
            yield f"build.json has the {name} {info.get(name)}, the annotations give {plan.identity.get(name)}"
    if info["notes"] != plan.notes:
        yield f"build.json counts {info['notes']}, the annotations give {plan.notes}"
    yield from differing_hash(info, plan, taken=taken)


def differing_tables(info: Mapping[str, Any], plan: Plan) -> Iterator[str]:
    """Name the word tables that are not those that an output was built with."""
    for name, digest in plan.identity["tables"].items():
        if info["tables"].get(name) != digest:
            yield f"built with another {name} than this version has"


def differing_hash(info: Mapping[str, Any], plan: Plan, *, taken: Sequence[str] = ()) -> Iterator[str]:
    """Compare the hash of a plan made again with that in `build.json`.

    Args:
        info: The content of `build.json`.
        plan: The plan made again.
        taken: Entries of its identity that are taken from `build.json`, besides the hashes of word tables, of which
            `differing_tables` tells.
    """
    same = replace(plan, identity={**plan.identity, **{name: info[name] for name in (*taken, "tables")}})
    if info["plan_sha256"] != same.hash:
        yield f"plan_sha256 is {info['plan_sha256'][:16]}, planned again {same.hash[:16]}"
