"""Read the lists of questions that people disputed, by `stressreel agreement`, which builds leave out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from .build_settings import BuildSettings
from .documents import check_shape, parse_own, read_own, shortened
from .errors import InputError, UsageError
from .files import sha256_file
from .settings import Input, existing_files, parsed

FORMAT, FORMAT_VERSION = "stressreel disputed", 1
ITEMS = [{"question_id": str, "why": str}]
SHAPE = {"format": str, "version": int, "fingerprint": str, "dataset_version": str, "items": ITEMS}
DISPUTED = "disputed"  # reason in the table `left_out`
SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Disputable(BuildSettings):
    """Settings of builds whose questions people can answer.

    Attributes:
        drop: Leave out the questions that people disputed: disputed.json of `stressreel agreement`. Give a new
            --version, and otherwise the options of the dataset that they saw. May be repeated, in the order of the
            versions.
    """

    drop: Annotated[Sequence[Path | str], parsed(existing_files), Input()] = ()

    def disputed(self) -> list[dict[str, str]]:
        """Return for each file why its questions are left out, by id.

        Raises:
            UsageError: A file is about the version that is to be built, or two files have the same name.
            InputError: A file has another format or names no questions.
        """
        if len(self.disputed_hashes()) < len(self.drop):
            raise UsageError("--drop: two files have the same name, by which `verify` finds them. Rename one of them.")
        return [read_disputed(Path(path), self.version) for path in self.drop]

    def disputed_hashes(self) -> dict[str, str]:
        """Return the SHA-256 of the files by name."""
        return {Path(path).name: sha256_file(Path(path)) for path in self.drop}


def read_disputed(path: Path, version: str) -> dict[str, str]:
    """Return why the questions of a file are left out of a build of a version; see `Disputable.disputed`."""
    try:
        content = parse_own(read_own(path))
        check_shape(content, SHAPE)
        if (content["format"], content["version"]) != (FORMAT, FORMAT_VERSION):
            raise ValueError(f"its format is {shortened(content['format'])}, version {content['version']}")
    except ValueError as error:
        advice = "Use disputed.json, which `stressreel agreement` writes."
        raise InputError(f"--drop: {path} is not a list of disputed questions ({error}). {advice}") from error
    if not content["items"]:
        raise InputError(f"--drop has no effect because {path} names no questions. Leave it out.")
    if content["dataset_version"] == version:
        raise UsageError(
            f"--drop: {path} is about version {version}, and a dataset without some of its questions is another one. "
            "Choose a higher version with --version."
        )
    return {item["question_id"]: "people disputed {question_id}: {why}".format(**item) for item in content["items"]}


def refuse_unknown(names: Collection[str]) -> None:
    """Raise InputError if there are disputed questions that a build does not have."""
    if names:
        shown = ", ".join(map(shortened, sorted(names)[:SHOWN])) + ", …" * (len(names) > SHOWN)
        raise InputError(
            f"--drop names {len(names):,} questions that this build does not have: {shown}. Use the same annotations, "
            "options and --seed as for what people saw. Copies made by `stressreel withhold` have other ids."
        )
