"""A gallery of an output: its exhibits, and the page, styles and scripts that display them in a browser."""
