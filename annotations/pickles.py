"""Load annotation pickles without running code in them."""

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
    """Unpickler that rejects all classes and functions except sets, so that no code can run."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in PLAIN:
            return PLAIN[module, name]
        raise InputError(
            f"it names {shortened(f'{module}.{name}')}, but annotations consist only of builtin values. Such a file "
            "can run arbitrary code when it is loaded, so it was not read"
        )

    def persistent_load(self, pid: Any) -> Any:
        raise InputError("it refers to external objects, so it was not read")


def read_pickle(path: Path, advice: str) -> Any:
    """Load a pickle of builtin containers, strings and numbers; `advice` ends the error message.

    Raises:
        InputError: The file contains other values, or is damaged.
        OSError, MemoryError: The file cannot be read, or needs more memory than is available.
    """
    running = gc.isenabled()
    gc.disable()  # garbage collection among millions of live dictionaries would double the time
    try:
        with open(regular(path), "rb") as handle:
            return _PlainOnly(handle).load()
    except InputError as error:
        raise InputError(f"{path.name}: {error}. {advice}") from None
    except (OSError, MemoryError):
        raise
    except Exception as error:  # a damaged pickle may raise almost any exception
        detail = shortened(str(error))
        raise InputError(
            f"{path.name} is damaged or not a pickle ({type(error).__name__}: {detail}). {advice}"
        ) from error
    finally:
        if running:
            gc.enable()
