"""List what a CausalChaos build needs besides the core."""

from __future__ import annotations

from ...core.extras import package
from ...core.requirements import Requirement
from ...language.embeddings import encoder_requirements
from ...language.parse import parser_requirements
from ...negatives.llm import local_requirements
from .settings import CausalSettings, decided


def requirements(settings: CausalSettings) -> list[Requirement]:
    """Return what the settings need: an encoder, a parser of English, and a language model if it is a local one."""
    settings = decided(settings)
    needs = encoder_requirements(settings.model, "choosing distractors", "planning")
    needs += parser_requirements("choosing distractors")
    if settings.confuse and settings.llm_base_url is not None:
        needs.append(package("openai", "--llm-base-url"))
    elif settings.confuse and settings.llm_model is not None:
        needs += local_requirements(settings.llm_model)
    return needs
