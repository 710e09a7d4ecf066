"""CausalChaos: why-questions with mined options."""
