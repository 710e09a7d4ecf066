"""Evaluation of models on a finished output: scores, blind baselines, model answers, probes."""
