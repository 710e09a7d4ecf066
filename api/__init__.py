"""API functions of `stressreel`, one module per command."""
