"""The 35 text perturbations, one module a family."""
