"""Write web pages on which people answer the questions of an output."""
