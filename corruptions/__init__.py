"""Perturbations of video and text: one pure function each, declared in data files."""
