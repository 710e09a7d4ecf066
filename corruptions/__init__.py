"""Perturbations of video and text: declarations as data, one pure function each."""
