"""AGQA-Decomp: compositional questions decomposed into graphs of sub-questions."""
