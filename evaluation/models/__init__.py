"""Ask models the questions of an output, and store their answers as predictions."""
