"""Says what a file is from its head: custom classifiers first, then the built-in ones (docs/glue 11.6)."""
