"""Find model files in a local folder, or download a pinned snapshot from the Hugging Face Hub before work starts."""

from __future__ import annotations

import hashlib
import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from ..core.documents import parse_json
from ..core.errors import InputError, UsageError
from ..core.extras import Requirement, import_extra
from ..core.files import sha256_file

WANTED = ["*.json", "*.jinja", "*.txt", "*.model", "*.safetensors"]
UNWANTED = ["coreml/*", "onnx/*", "openvino/*", "consolidated*"]
OLD_WEIGHTS = "pytorch_model*.bin"  # these are used only if a model has no safetensors
INDEX = "model.safetensors.index.json"  # lists the weight files of a model that is saved in parts
HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
PATIENCE = 20.0  # seconds to wait for the Hub to respond


@dataclass(frozen=True)
class ModelFiles:
    """A model whose files are all on this machine.

    Attributes:
        name: The name given by the user, or that of the default model.
        folder: The folder with all files. Nothing is read or downloaded from elsewhere.
        revision: The commit on the Hub; empty for a local folder.
    """

    name: str
    folder: Path
    revision: str = ""

    def identity(self) -> dict[str, str]:
        """Return what determines the model's outputs: the revision, and hashes of the weights and the other files."""
        return {"name": self.name, "revision": self.revision, **_hashes(self.folder)}


@cache
def model_files(model: str, revision: str, advice: str) -> ModelFiles:
    """Find the files of a model, and download them if it is a name on the Hub that is not cached.

    `revision` is the pinned commit, or "" for the newest one, which the result records. `advice` is appended to error
    messages.

    Raises:
        InputError: The folder contains no model, or the model cannot be downloaded.
    """
    if here := local_model(model, revision, advice):
        return here
    from huggingface_hub import HfApi, snapshot_download

    try:
        commit = HfApi().model_info(model, revision=revision or None, timeout=PATIENCE).sha
        folder = Path(snapshot_download(model, revision=commit, allow_patterns=WANTED, ignore_patterns=UNWANTED))
        if not weights(folder):
            snapshot_download(model, revision=commit, allow_patterns=[OLD_WEIGHTS])
    except Exception as error:  # the Hub client raises errors of several network libraries
        raise InputError(
            f"the model {model} is not on this machine and cannot be downloaded: {first_line(error)}. {advice}"
        ) from error
    if not _has_model(folder):
        raise InputError(f"{model} on the Hub lacks config.json or PyTorch weights. {advice}")
    return ModelFiles(model, folder, folder.name)  # the hub's cache names a snapshot by its commit


def local_model(model: str, revision: str, advice: str) -> ModelFiles | None:
    """Find the files of a model in a folder or in the Hub's cache. Return None if they must be downloaded.

    Raises:
        InputError: The folder contains no model, or the name cannot be one on the Hub.
    """
    path = Path(model).expanduser()
    if path.is_dir():
        if not _has_model(path):
            raise InputError(
                f"{path} contains no model: expected config.json and model.safetensors, as written by save_pretrained. "
                f"{advice}"
            )
        return ModelFiles(model, path)
    if not HUB_NAME.fullmatch(model):
        raise UsageError(f"{model} is neither an existing folder nor the name of a model on the Hub. {advice}")
    folder = _cached_snapshot(model, revision)
    return ModelFiles(model, folder, folder.name) if folder else None


def model_requirement(
    model: str, revision: str, what: str, advice: str, fetched: Literal["planning", "building"] = "building"
) -> Requirement:
    """Describe a model that `what` needs; see `local_model`. Models on the Hub are downloaded unless it is offline."""
    from huggingface_hub.constants import HF_HUB_OFFLINE

    return Requirement(
        f"the model {model}",
        what,
        local_model(model, revision, advice) is not None,
        install=f"hf download {model}{' --revision ' * bool(revision)}{revision}",
        instead=advice,
        fetched="never" if HF_HUB_OFFLINE else fetched,
    )


def _cached_snapshot(model: str, revision: str) -> Path | None:
    from huggingface_hub import snapshot_download

    try:
        folder = Path(snapshot_download(model, revision=revision or None, local_files_only=True))
    except (OSError, ValueError):  # as its LocalEntryNotFoundError is; a download reports other errors
        return None
    return folder if _has_model(folder) else None


def _has_model(folder: Path) -> bool:
    """Return whether a folder contains a config and all weights, of which an interrupted download may lack some."""
    index, whole = folder / INDEX, folder / "model.safetensors"
    try:
        by_weight = {} if whole.is_file() or not index.is_file() else parse_json(index.read_text())["weight_map"]
        parts = [folder / "config.json", *(folder / part for part in by_weight.values())]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False
    return bool(weights(folder)) and all(part.is_file() for part in parts)


def weights(folder: Path) -> list[Path]:
    """Return the weight files of a model."""
    return sorted(folder.glob("*.safetensors")) or sorted(folder.glob(OLD_WEIGHTS))


@cache
def _hashes(folder: Path) -> dict[str, str]:
    others = sorted(
        path
        for pattern in ("*.json", "*.txt", "*.model", "*/config.json")
        for path in folder.glob(pattern)
        if path.parent.name not in ("coreml", "onnx", "openvino")
    )
    return {"weights": _joint_hash(folder, weights(folder)), "settings": _joint_hash(folder, others)}


def _joint_hash(folder: Path, paths: list[Path]) -> str:
    """Hash several files together. A single file keeps its own SHA-256."""
    if len(paths) == 1:
        return sha256_file(paths[0])
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.relative_to(folder).as_posix()} {sha256_file(path)}\n".encode())
    return digest.hexdigest()


def load_model(files: ModelFiles, auto_class: str, advice: str) -> tuple[Any, Any]:
    """Load a tokenizer and a model for inference on the CPU, where results are deterministic.

    Args:
        files: Files of the model. Nothing is downloaded.
        auto_class: Name of the class in transformers, such as "AutoModelForCausalLM".
        advice: What to do if the model cannot be loaded.

    Raises:
        MissingExtraError: transformers or torch is not installed.
        InputError: The model cannot be loaded.
    """
    import_extra("torch", what=f"the model {files.name}")
    transformers = import_extra("transformers", what=f"the model {files.name}")
    with loading(files, advice), quiet():
        tokenizer = transformers.AutoTokenizer.from_pretrained(files.folder, local_files_only=True)
        model = getattr(transformers, auto_class).from_pretrained(files.folder, local_files_only=True)
    return tokenizer, model.eval()


@contextmanager
def loading(files: ModelFiles, advice: str) -> Iterator[None]:
    """Raise InputError, ending in advice, if a model cannot be loaded within the `with` block."""
    try:
        yield
    except Exception as error:  # safetensors, tokenizers and torch raise their own exception types
        raise InputError(f"the model in {files.folder} cannot be loaded: {first_line(error)}. {advice}") from error


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text without its full stop, or the name of its class if it has no text."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the progress bars and messages that transformers prints while it loads a model."""
    logging: Any = importlib.import_module("transformers.utils.logging")
    level, drawn = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if drawn:
            logging.enable_progress_bar()
