"""Glue's import surface for job scripts."""
