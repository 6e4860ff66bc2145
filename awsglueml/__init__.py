"""Glue's machine-learning transforms and `EntityDetector`. One that is not supported fails when applied."""
