"""From a plan to a finished output: executor, journal, packing, progress."""
