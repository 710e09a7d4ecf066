"""Word lists of the negatives."""
