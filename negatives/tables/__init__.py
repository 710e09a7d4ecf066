"""Word lists used to choose distractors."""
