"""The 35 text perturbations, one module per family."""
