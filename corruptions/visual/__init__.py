"""The 18 visual perturbations, with one module for each family."""
