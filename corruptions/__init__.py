"""Perturbations of video: declarations as data, one pure function each."""
