"""Python functions for the commands of `stressreel`, with one module per command."""
