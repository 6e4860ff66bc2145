"""Where a run writes the reports of its metrics."""

REPORTS_FOLDER = "GLUEPOT_METRIC_REPORTS"
"""The environment variable with the folder; the service that has started the run looks there."""
