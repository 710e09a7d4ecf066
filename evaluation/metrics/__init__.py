"""Score predictions on the output of a build."""
