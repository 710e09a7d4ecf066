"""Execute a plan and verify the result: executors, journal, packing and checks."""
