"""AGQA-Decomp: compositional questions that are decomposed into graphs of sub-questions."""
