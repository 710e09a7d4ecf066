"""What moves between the parts and what a build leaves: units, schemas, shards, fingerprints."""
