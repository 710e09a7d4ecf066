"""Foundations shared by all other parts: units of work, schemas, shards, fingerprints, options and errors."""
