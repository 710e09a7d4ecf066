"""CLAVI: complement videos with two actions exchanged."""
