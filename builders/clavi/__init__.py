"""CLAVI: pairs of videos in which the order of two actions is swapped, with questions about that order."""
