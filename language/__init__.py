"""English grammar for the text rules: parsed tokens, inflection, and what is rewritten with them."""
