"""MSRVTT-P and YouCook2-P: perturbed clips and captions."""
