"""Wrong options for multiple choice: hard negatives by sentence embeddings, random ones, and their order."""
