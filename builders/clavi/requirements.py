"""List what a CLAVI build needs besides the core."""

from __future__ import annotations

from ...core.extras import workbook
from ...core.requirements import Requirement
from ...language.embeddings import encoder_requirements
from ...language.parse import parser_requirements
from .settings import ClaviSettings, decided


def requirements(settings: ClaviSettings) -> list[Requirement]:
    """Return what the settings need: a parser if actions are free phrases, and an encoder to compare their meanings."""
    settings = decided(settings)
    needs = workbook(settings.segments)
    if settings.collection != "charades" or settings.source == "sta":
        what = "--source sta" if settings.source == "sta" else f"--{settings.collection}"
        needs += parser_requirements(what)
    if settings.same_by == "sbert":
        needs += encoder_requirements(None, "--same-by sbert")
    return needs
