"""List what a suite needs besides the core."""

from __future__ import annotations

from ...core.extras import package, workbook
from ...core.requirements import Requirement, listed
from ...corruptions.registry import check_name, check_text_name
from ...language.parse import parser_requirements
from ...video.transcode import ffmpeg_requirements
from .decided import decided
from .modality import shows, worded
from .prepare import check_together
from .selection import tools_named
from .settings import PerturbedSettings


def requirements(settings: PerturbedSettings) -> list[Requirement]:
    """Return what the settings need: for videos OpenCV and FFmpeg's program, and for captions tools and models."""
    check_together(settings)
    settings = decided(settings)
    needs = workbook(settings.captions)
    if shows(settings):
        needs.append(package("cv2", "perturbing videos"))
    if settings.render and (coded := [name for name in settings.perturbations if check_name(name).scope == "file"]):
        needs += ffmpeg_requirements(listed(coded))
    if worded(settings):
        names = map(check_text_name, settings.text_perturbations)
        needs += parser_requirements("perturbing captions")  # its name is recorded in any case
        needs += tools_named(settings).requirements([*names], settings.text_mode)
    return needs
