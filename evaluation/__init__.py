"""Evaluate models on a finished output with scores, blind baselines and probes, and ask them its questions."""
