"""Built-in samples: small datasets in the original annotation formats, with animated videos."""
