"""Evaluations of data quality outside of any job: for the command line, and for runs that the service starts."""
