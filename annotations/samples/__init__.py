"""Built-in samples: small annotations in the formats of real datasets, with animated videos."""

SAMPLES = ("charades", "msrvtt", "causal")
