"""Distractors for multiple choice: hard negatives by sentence embeddings, random distractors, and their order."""
