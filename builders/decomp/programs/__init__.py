"""Compositional questions as programs: parsing, decomposition and wording."""
