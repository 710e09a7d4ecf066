"""Small Charades annotations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

COLUMNS = "id,subject,scene,quality,relevance,verified,script,objects,descriptions,actions,length"


def write_charades(folder: Path, actions: Mapping[str, str]) -> Path:
    """Write the test half with the actions of each video of 60 s, such as "c008 5 10;c106 13 20"; return the folder."""
    folder.mkdir()
    rows = [f"{name},S{name},Kitchen,7,7,Yes,,,,{spans},60.0" for name, spans in actions.items()]
    (folder / "Charades_v1_test.csv").write_text("\n".join([COLUMNS, *rows]) + "\n")
    return folder
