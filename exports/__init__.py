"""Finished outputs as tasks of evaluation harnesses."""
