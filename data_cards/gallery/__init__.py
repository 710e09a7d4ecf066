"""A gallery of an output: its exhibits, and the page, styles and scripts that show them in a browser."""
