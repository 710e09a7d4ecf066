"""Ask models the questions of an output, score their answers, probe them, and run blind baselines."""
