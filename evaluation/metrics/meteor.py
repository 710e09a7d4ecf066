"""Compute METEOR with version 1.5, a Java program (Denkowski and Lavie 2014), or with NLTK (Banerjee and Lavie 2005).

Version 1.5, which captioning papers report, also matches paraphrases, weights function words less, and has parameters
tuned to human judgements. NLTK's score is usually higher, so the names of scores state the version.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

from ...core.errors import InputError
from ...core.extras import import_extra, named
from ...language.wordnet import load_wordnet

JAVA = "METEOR 1.5"
NLTK = "METEOR (NLTK)"
MEMORY = ("-Xmx2G",)
SEGMENT = re.compile(r"^Segment \d+ score:\s+(\S+)$", re.M)


@cache
def _helpers() -> dict[str, Any]:
    """Return the stemmer and WordNet with cached lookups, since the same words recur in many texts."""
    remember = lru_cache(maxsize=1 << 16)
    stem, synsets = import_extra("nltk.stem.porter").PorterStemmer().stem, load_wordnet().reader.synsets
    return {"stemmer": SimpleNamespace(stem=remember(stem)), "wordnet": SimpleNamespace(synsets=remember(synsets))}


def nltk_meteor(words: Sequence[str], reference: Sequence[str]) -> float:
    """Score a text against a reference with NLTK, from 0 to slightly below 1 for equal texts.

    Raises:
        InputError: WordNet is missing.
    """
    score = import_extra("nltk.translate.meteor_score", what="METEOR").single_meteor_score
    return float(score(list(reference), list(words), **_helpers()))


def java_found() -> bool:
    """Return whether Java, which METEOR 1.5 requires, is installed."""
    return shutil.which("java") is not None


def java_meteor(texts: Sequence[str], references: Sequence[str]) -> list[float]:
    """Score each text against its reference with pycocoevalcap's METEOR 1.5, from 0 to 1 for equal texts.

    The program is called with the options of pycocoevalcap, but on files. The package's own wrapper exchanges single
    lines with the program and leaves it running.

    Raises:
        InputError: pycocoevalcap or Java is missing, or the program failed.
    """
    try:
        package = find_spec("pycocoevalcap.meteor")
    except ModuleNotFoundError as error:
        raise named(error, JAVA) from error
    folder = Path(next(iter((package and package.submodule_search_locations) or ())))
    advice = "Install a Java runtime (Debian: default-jre-headless), or use NLTK's with --meteor nltk."
    java = shutil.which("java")
    if java is None:
        raise InputError(f"{JAVA} needs Java, which is not installed. {advice}")
    with TemporaryDirectory() as folder_name:
        files = [Path(folder_name) / name for name in ("texts", "references")]
        for file, side in zip(files, (texts, references), strict=True):
            file.write_text("".join(f"{' '.join(text.split())}\n" for text in side), encoding="utf-8")
        command = [java, *MEMORY, "-jar", str(folder / "meteor-1.5.jar"), *map(str, files), "-l", "en", "-norm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", errors="replace")
    scores = [float(score) for score in SEGMENT.findall(done.stdout)]
    if done.returncode or len(scores) != len(texts):
        output = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise InputError(
            f"{JAVA} failed (exit code {done.returncode}, {len(scores):,} of {len(texts):,} texts scored"
            f"{': ' + output[-1][:200] if output else ''}). {advice}"
        )
    return scores
