"""Exports of finished outputs: tasks of evaluation harnesses, video files, released layouts, the Hugging Face Hub."""
