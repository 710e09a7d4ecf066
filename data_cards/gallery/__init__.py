"""A gallery of an output: what its pages show, and the page, styles and scripts that show it in a browser."""
