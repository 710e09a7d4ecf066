"""The 35 text perturbations, with one module for each family."""
