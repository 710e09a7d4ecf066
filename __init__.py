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
    from .api.ask import ask as ask
    from .api.audit import audit as audit
    from .api.build import DryRun as DryRun
    from .api.build import build as build
    from .api.build_causal import build_causal as build_causal
    from .api.build_clavi import build_clavi as build_clavi
    from .api.build_decomp import build_decomp as build_decomp
    from .api.build_perturbed import build_perturbed as build_perturbed
    from .api.card import card as card
    from .api.compare import compare as compare
    from .api.data import data_download as data_download
    from .api.data import data_show as data_show
    from .api.decompose import decompose as decompose
    from .api.diff import diff as diff
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
    from .api.probe import probe as probe
    from .api.push import push as push
    from .api.sample import sample as sample
    from .api.score import explain as explain
    from .api.score import score as score
    from .api.score_modalities import score_modalities as score_modalities
    from .api.score_open_ended import score_open_ended as score_open_ended
    from .api.score_permuted import score_permuted as score_permuted
    from .api.score_text_shift import score_text_shift as score_text_shift
    from .api.sign import sign as sign
    from .api.verify import verify as verify
    from .api.withhold import withhold as withhold
    from .builders.perturbed.load import load as load
    from .core.build_settings import Unfinished as Unfinished
    from .core.version import __version__ as __version__
    from .corruptions.registry import list_corruptions as list_corruptions
    from .corruptions.text.engine import corrupt_text as corrupt_text
    from .corruptions.visual.engine import corrupt as corrupt
    from .evaluation.probes import quag as quag
    from .evaluation.probes.labels import labels_for as labels_for
    from .video.frames import frames as frames

_COMMANDS = (
    "ask",
    "audit",
    "build",
    "build_causal",
    "build_clavi",
    "build_decomp",
    "build_perturbed",
    "card",
    "compare",
    "decompose",
    "diff",
    "gallery",
    "mine",
    "permute",
    "probe",
    "push",
    "sample",
    "score",
    "score_modalities",
    "score_open_ended",
    "score_permuted",
    "score_text_shift",
    "sign",
    "verify",
    "withhold",
)
"""The functions that have a module of their own in `api`."""
_HOMES = {name: f".api.{name}" for name in _COMMANDS} | {
    "DryRun": ".api.build",
    "data_download": ".api.data",
    "data_show": ".api.data",
    "export_files": ".api.export",
    "export_released": ".api.export",
    "export_tasks": ".api.export",
    "export_webdataset": ".api.export",
    "list_": ".api.list",
    "list_benchmarks": ".api.list",
    "Output": ".api.outputs",
    "data_files": ".api.outputs",
    "read": ".api.outputs",
    "explain": ".api.score",
    "load": ".builders.perturbed.load",
    "Unfinished": ".core.build_settings",
    "__version__": ".core.version",
    "list_corruptions": ".corruptions.registry",
    "corrupt_text": ".corruptions.text.engine",
    "corrupt": ".corruptions.visual.engine",
    "labels_for": ".evaluation.probes.labels",
    "quag": ".evaluation.probes",
    "frames": ".video.frames",
}
"""The module of every public name. Type checkers read the imports above, which a test compares with this table."""

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that commands start fast."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
