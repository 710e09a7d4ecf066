"""Distractors for multiple choice: hard negatives by sentence embedding, random distractors, and option order."""
