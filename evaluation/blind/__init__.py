"""Blind baselines, which answer questions without the video, and the audit that runs them."""
