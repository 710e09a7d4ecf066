"""English grammar for the text rules: tokens with part-of-speech tags, clauses, and inflection."""
