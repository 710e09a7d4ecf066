"""The runtime that turns a plan into a finished output: executors, journal, packing."""
