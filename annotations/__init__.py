"""One reader per annotation format."""
