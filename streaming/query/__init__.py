"""One streaming query: start, retries, pauses, stop."""
