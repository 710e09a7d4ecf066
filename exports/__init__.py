"""Exports of finished outputs: harness tasks, video files, released layouts, and the Hugging Face Hub."""
