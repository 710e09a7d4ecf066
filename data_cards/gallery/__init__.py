"""Generate web galleries that show the content of outputs."""
