"""Publish an output on the Hugging Face Hub: licence check, signature, files, and one commit."""
