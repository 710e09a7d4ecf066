"""Evaluate models on a finished output: scores, baselines that see no video, answers of models, probes."""
