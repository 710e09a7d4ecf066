"""Load pickled annotations safely, without running any code that they contain."""

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
    """Unpickler that refuses to import any class or function except sets, so that no code can run."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in PLAIN:
            return PLAIN[module, name]
        raise InputError(
            f"refers to {shortened(f'{module}.{name}')}, but annotations may only contain builtin values. Loading such "
            "a file can run arbitrary code, so it was not read"
        )

    def persistent_load(self, pid: Any) -> Any:
        raise InputError("refers to external objects, so it was not read")


def read_pickle(path: Path, advice: str) -> Any:
    """Load a pickle that consists of builtin containers, strings and numbers. `advice` is appended to error messages.

    Raises:
        InputError: The file contains other values, or is damaged.
        OSError, MemoryError: The file cannot be read, or needs more memory than is available.
    """
    running = gc.isenabled()
    gc.disable()  # with millions of live dictionaries, garbage collection would double the time
    try:
        with open(regular(path), "rb") as handle:
            return _PlainOnly(handle).load()
    except InputError as error:
        raise InputError(f"{path.name} {error}. {advice}") from None
    except (OSError, MemoryError):
        raise
    except Exception as error:  # a damaged pickle can raise almost any exception
        detail = shortened(str(error))
        raise InputError(
            f"{path.name} is damaged or not a pickle ({type(error).__name__}: {detail}). {advice}"
        ) from error
    finally:
        if running:
            gc.enable()
