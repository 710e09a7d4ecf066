"""Corrections of part-of-speech tags in captions, using the parts of speech that a word can have."""
