"""Write dataset cards with figures, `croissant.json`, and galleries."""
