"""MSRVTT-P and YouCook2-P: benchmarks of perturbed clips and captions."""
