"""Ask models the questions of an output: questions, frames, models, a journal, predictions."""
