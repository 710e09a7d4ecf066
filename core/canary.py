"""Mark each dataset with a canary GUID, so that copies of it in training corpora can be found and removed.

The idea is from BIG-bench (Srivastava et al. 2022, "Beyond the Imitation Game"). The GUID is derived from the hash of
the plan because shards are written before the fingerprint is known.
"""

from __future__ import annotations

from .files import sha256_text

WHY = "Benchmark data must not be in training data. Canary GUID"


def canary_of(plan_sha256: str) -> str:
    """Return the canary GUID (version 8, RFC 9562) of the dataset whose plan has this SHA-256."""
    digest = sha256_text(f"stressreel canary {plan_sha256}")
    variant = "89ab"[int(digest[16], 16) % 4]
    return f"{digest[:8]}-{digest[8:12]}-8{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"
