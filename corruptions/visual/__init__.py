"""The 18 visual perturbations, one module per family."""
