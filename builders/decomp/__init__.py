"""AGQA-Decomp: compositional questions taken apart into graphs of sub-questions."""
