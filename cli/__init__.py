"""Command-line interface of stressreel."""
