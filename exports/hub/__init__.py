"""An output on the Hugging Face Hub: what of it may go, what goes, and one commit that brings it there."""
