"""Export finished outputs as harness tasks, video files or released layouts, and push them to the Hub."""
