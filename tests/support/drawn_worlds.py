"""Folders of drawn worlds with all annotations and no videos, which take long to draw."""

from pathlib import Path

from stressreel.annotations.world import RECORD
from stressreel.annotations.world.writer import KINDS, World
from stressreel.core.files import sha256_file, write_atomic, write_json


def write_annotations(folder: Path, world: World) -> Path:
    """Write the files of a world's format, and the record by which the folder is known. Return the folder."""
    files = KINDS[world.kind].annotate(world, folder / "world.parquet")
    for name, content in files.items():
        write_atomic(folder / name, content)
    write_json(folder / RECORD, {"annotations": {name: sha256_file(folder / name) for name in files}})
    return folder
