"""One module per benchmark: a pure plan of units, and what one unit renders and says."""
