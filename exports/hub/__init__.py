"""Publish an output on the Hugging Face Hub, after checking its licence and signature."""
