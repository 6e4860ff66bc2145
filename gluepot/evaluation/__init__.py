"""Evaluates rulesets over frames: in the pass of a write, in one of its own, or by Spark SQL; and keeps the results."""
