"""Parse, decompose and word compositional questions, which are represented as programs."""
