"""Pickles of annotations, read so that nothing in them can run."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path
from typing import Any

from ..core.documents import shortened
from ..core.errors import InputError
from ..core.files import regular

PLAIN = {("builtins", "set"): set, ("builtins", "frozenset"): frozenset}


class _PlainOnly(pickle.Unpickler):
    """Reads pickles that name no class or function but those of sets, and so can run nothing."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in PLAIN:
            return PLAIN[module, name]
        raise InputError(
            f"it names {shortened(f'{module}.{name}')}, and annotations are made of builtin values alone. Such a file "
            "can run any program when it is read, and was not read"
        )

    def persistent_load(self, pid: Any) -> Any:
        raise InputError("it refers to something outside of it, and was not read")


def read_pickle(path: Path, advice: str) -> Any:
    """Read a pickle of builtin containers, texts and numbers.

    Args:
        path: The file.
        advice: What to do about a bad one, for messages.

    Raises:
        InputError: It holds anything else, or is damaged.
        OSError: It cannot be read.
        MemoryError: It needs more memory than there is.
    """
    running = gc.isenabled()
    gc.disable()  # millions of dictionaries are made and none is dropped; looking for dropped ones doubles the time
    try:
        with open(regular(path), "rb") as handle:
            return _PlainOnly(handle).load()
    except InputError as error:
        raise InputError(f"{path.name}: {error}. {advice}") from None
    except (OSError, MemoryError):
        raise
    except Exception as error:  # a damaged pickle may raise almost anything
        detail = shortened(str(error))
        raise InputError(
            f"{path.name} is no pickle, or damaged ({type(error).__name__}: {detail}). {advice}"
        ) from error
    finally:
        if running:
            gc.enable()
