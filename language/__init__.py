"""English grammar for the rules: tokens with part-of-speech tags, clauses and inflection."""
