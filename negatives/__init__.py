"""Choose distractors for multiple-choice questions, and arrange the options.

Distractors can be balanced, hard negatives by sentence embedding, or random.
"""
