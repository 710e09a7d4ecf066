"""Dataset cards, their figures, `croissant.json` and galleries."""
