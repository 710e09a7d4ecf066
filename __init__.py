"""stressreel: diagnostic benchmarks for video-language models from annotated video collections."""

from importlib.metadata import version as _version

__version__ = _version("stressreel")
__all__ = ["__version__"]
