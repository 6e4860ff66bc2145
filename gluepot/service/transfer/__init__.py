"""Moves definitions from AWS Glue to the service and back, as JSON that AWS's command line prints."""
