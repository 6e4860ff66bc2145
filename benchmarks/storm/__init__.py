"""What it costs a job to be looked at."""
