"""The API functions of `stressreel`, one module per command, which are also called by the commands."""
