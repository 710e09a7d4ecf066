"""A drawn world: any number of videos in which rooms, people, actions and cameras vary independently."""

from pathlib import Path

RECORD = "world.json"


def is_drawn(folder: Path) -> bool:
    """Return whether a folder contains a drawn world, whose annotations omit nothing that is seen."""
    return (folder / RECORD).is_file()
