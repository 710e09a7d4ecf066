"""Publication of an output on the Hugging Face Hub: permission, signature, files, and one commit."""
