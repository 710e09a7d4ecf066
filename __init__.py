"""stressreel: diagnostic benchmarks for video-language models from annotated video collections.

import stressreel

out = stressreel.build_clavi(charades="sample", out="out/clavi")
stressreel.verify(out.path).passed
stressreel.score(out.path, "answers.jsonl").headline["accuracy"].value
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .core.version import __version__ as __version__

if TYPE_CHECKING:
    from .api.ask import ask as ask
    from .api.audit import audit as audit
    from .api.build import build as build
    from .api.card import card as card
    from .api.compare import compare as compare
    from .api.data import data_download as data_download
    from .api.data import data_show as data_show
    from .api.decompose import decompose as decompose
    from .api.diff import diff as diff
    from .api.export import export_files as export_files
    from .api.export import export_inspect as export_inspect
    from .api.export import export_lmms_eval as export_lmms_eval
    from .api.export import export_released as export_released
    from .api.export import export_webdataset as export_webdataset
    from .api.gallery import gallery as gallery
    from .api.list import list_ as list_
    from .api.list import list_benchmarks as list_benchmarks
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
    from .api.simulate_quag import simulate_quag as simulate_quag
    from .api.table import table as table
    from .api.typed import build_causal as build_causal
    from .api.typed import build_clavi as build_clavi
    from .api.typed import build_decomp as build_decomp
    from .api.typed import build_perturbed as build_perturbed
    from .api.typed import mine as mine
    from .api.verify import verify as verify
    from .builders.perturbed.load import load as load
    from .corruptions.registry import list_corruptions as list_corruptions
    from .corruptions.text.engine import corrupt_text as corrupt_text
    from .corruptions.visual.engine import corrupt as corrupt

_HOMES = {
    "Output": "api.outputs",
    "ask": "api.ask",
    "audit": "api.audit",
    "build": "api.build",
    "build_causal": "api.typed",
    "build_clavi": "api.typed",
    "build_decomp": "api.typed",
    "build_perturbed": "api.typed",
    "card": "api.card",
    "compare": "api.compare",
    "corrupt": "corruptions.visual.engine",
    "corrupt_text": "corruptions.text.engine",
    "data_download": "api.data",
    "data_files": "api.outputs",
    "data_show": "api.data",
    "decompose": "api.decompose",
    "diff": "api.diff",
    "explain": "api.score",
    "export_files": "api.export",
    "export_inspect": "api.export",
    "export_lmms_eval": "api.export",
    "export_released": "api.export",
    "export_webdataset": "api.export",
    "gallery": "api.gallery",
    "list_": "api.list",
    "list_benchmarks": "api.list",
    "list_corruptions": "corruptions.registry",
    "load": "builders.perturbed.load",
    "mine": "api.typed",
    "permute": "api.permute",
    "probe": "api.probe",
    "push": "api.push",
    "read": "api.outputs",
    "sample": "api.sample",
    "score": "api.score",
    "score_modalities": "api.score_modalities",
    "score_open_ended": "api.score_open_ended",
    "score_permuted": "api.score_permuted",
    "score_text_shift": "api.score_text_shift",
    "sign": "api.sign",
    "simulate_quag": "api.simulate_quag",
    "table": "api.table",
    "verify": "api.verify",
}
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    """Import a public function when it is first used, so that the commands start fast."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    """List what is public, also what has not been imported yet."""
    return sorted(__all__)
