"""AWS Glue's own metrics of a run, which it reports to the service that has started it."""
