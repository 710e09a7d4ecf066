"""Dataset cards: statistics, plots and the templates that show them."""
