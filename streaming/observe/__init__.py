"""What can be seen of a running query: metrics, lag, status."""
