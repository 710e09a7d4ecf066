"""Built-in samples: small annotations in the real formats and videos that stressreel draws itself."""

SAMPLES = ("charades", "msrvtt", "causal")
