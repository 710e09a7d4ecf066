"""Canary GUIDs, by which training corpora that contain a dataset can be found and filtered.

The idea is from BIG-bench (Srivastava et al. 2022, "Beyond the Imitation Game"). The GUID is derived from the hash of
the plan because shards are written before the fingerprint is known.
"""

from __future__ import annotations

from .files import sha256_text

WHY = "Benchmark data must not be in training data. Canary GUID"


def canary_of(plan_sha256: str) -> str:
    """Derive the canary, a version 8 GUID (RFC 9562), from the SHA-256 of a dataset's plan."""
    digest = sha256_text(f"stressreel canary {plan_sha256}")
    variant = "89ab"[int(digest[16], 16) % 4]
    return f"{digest[:8]}-{digest[8:12]}-8{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"
