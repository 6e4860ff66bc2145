"""One run of a job: what it is given, how its script is run, and what watches it."""
