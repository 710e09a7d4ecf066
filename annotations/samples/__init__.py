"""Built-in samples: small datasets in the original annotation formats, with animated videos."""

SAMPLES = ("charades", "msrvtt", "causal")
