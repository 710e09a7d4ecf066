"""Built-in samples: small annotations in the formats of real data sets, and drawn videos."""

SAMPLES = ("charades", "msrvtt", "causal")
