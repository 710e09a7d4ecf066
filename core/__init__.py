"""Basic types and file formats that every other package uses, such as options, schemas and shards."""
