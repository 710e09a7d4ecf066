"""English as rules need it: words with their tags, clauses, inflection."""
