"""The bookmarked batch path: what is new, run it on Spark, publish it once, remember it."""
