"""CLAVI: complement videos in which two actions are swapped."""
