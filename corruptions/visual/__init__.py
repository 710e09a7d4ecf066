"""The 18 visual perturbations, one module a family."""
