"""Corrections of part-of-speech tags in captions, based on the parts of speech that each word can have."""
