"""Scores of predictions on a built benchmark."""
