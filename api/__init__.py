"""The functions of `stressreel`, a module for each command; the commands call these."""
