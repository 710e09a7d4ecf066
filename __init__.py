"""stressreel: diagnostic benchmarks for video-language models from annotated video collections.

import stressreel

out = stressreel.build_clavi(charades="sample", out="out/clavi")
stressreel.verify(out).passed
stressreel.score(out, [{"id": "06cacb3e_1_00", "answer": "yes"}, …]).headline["accuracy"].value
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api.agreement import agreement as agreement
    from .api.annotate import annotate as annotate
    from .api.ask import ask as ask
    from .api.audit import audit as audit
    from .api.benchmarks import build_causal as build_causal
    from .api.benchmarks import build_clavi as build_clavi
    from .api.benchmarks import build_decomp as build_decomp
    from .api.benchmarks import build_perturbed as build_perturbed
    from .api.build import DryRun as DryRun
    from .api.build import build as build
    from .api.compare import compare as compare
    from .api.compare import diff as diff
    from .api.data import data_download as data_download
    from .api.data import data_show as data_show
    from .api.decompose import decompose as decompose
    from .api.export import export_files as export_files
    from .api.export import export_released as export_released
    from .api.export import export_tasks as export_tasks
    from .api.export import export_webdataset as export_webdataset
    from .api.gallery import gallery as gallery
    from .api.list import list_ as list_
    from .api.list import list_benchmarks as list_benchmarks
    from .api.mine import mine as mine
    from .api.outputs import Output as Output
    from .api.outputs import data_files as data_files
    from .api.outputs import read as read
    from .api.permute import permute as permute
    from .api.permute import score_permuted as score_permuted
    from .api.probe import probe as probe
    from .api.publish import card as card
    from .api.publish import push as push
    from .api.publish import sign as sign
    from .api.publish import withhold as withhold
    from .api.sample import sample as sample
    from .api.score import explain as explain
    from .api.score import score as score
    from .api.score_modalities import score_modalities as score_modalities
    from .api.score_texts import score_open_ended as score_open_ended
    from .api.score_texts import score_text_shift as score_text_shift
    from .api.verify import verify as verify
    from .builders.perturbed.load import load as load
    from .core.build_settings import Unfinished as Unfinished
    from .core.version import __version__ as __version__
    from .corruptions.registry import list_corruptions as list_corruptions
    from .corruptions.text.engine import corrupt_text as corrupt_text
    from .corruptions.visual.engine import corrupt as corrupt
    from .evaluation.probes import quag as quag
    from .evaluation.probes.labels import labels_for as labels_for
    from .video.frames import frames as frames

_NAMES = {
    ".api.agreement": ("agreement",),
    ".api.annotate": ("annotate",),
    ".api.ask": ("ask",),
    ".api.audit": ("audit",),
    ".api.benchmarks": ("build_causal", "build_clavi", "build_decomp", "build_perturbed"),
    ".api.build": ("DryRun", "build"),
    ".api.compare": ("compare", "diff"),
    ".api.data": ("data_download", "data_show"),
    ".api.decompose": ("decompose",),
    ".api.export": ("export_files", "export_released", "export_tasks", "export_webdataset"),
    ".api.gallery": ("gallery",),
    ".api.list": ("list_", "list_benchmarks"),
    ".api.mine": ("mine",),
    ".api.outputs": ("Output", "data_files", "read"),
    ".api.permute": ("permute", "score_permuted"),
    ".api.probe": ("probe",),
    ".api.publish": ("card", "push", "sign", "withhold"),
    ".api.sample": ("sample",),
    ".api.score": ("explain", "score"),
    ".api.score_modalities": ("score_modalities",),
    ".api.score_texts": ("score_open_ended", "score_text_shift"),
    ".api.verify": ("verify",),
    ".builders.perturbed.load": ("load",),
    ".core.build_settings": ("Unfinished",),
    ".core.version": ("__version__",),
    ".corruptions.registry": ("list_corruptions",),
    ".corruptions.text.engine": ("corrupt_text",),
    ".corruptions.visual.engine": ("corrupt",),
    ".evaluation.probes": ("quag",),
    ".evaluation.probes.labels": ("labels_for",),
    ".video.frames": ("frames",),
}
"""The public names, by module. Type checkers read the imports above, which a test compares with this table."""
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that commands start fast."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
