"""`gluepot serve --dev` and `--demo`: a service with an S3 of its own, and one in which something happens."""
