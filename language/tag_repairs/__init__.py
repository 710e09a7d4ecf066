"""Correct the part-of-speech tags of captions, based on the parts of speech that each word can have."""
