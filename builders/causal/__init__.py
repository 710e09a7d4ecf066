"""CausalChaos: why-questions whose answer options are mined from other questions."""
