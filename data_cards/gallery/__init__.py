"""Web galleries of outputs: their content, and the page, styles and scripts that display it."""
