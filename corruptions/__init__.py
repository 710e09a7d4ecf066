"""Perturbations of video and text. Each is one pure function that is declared in a data file."""
