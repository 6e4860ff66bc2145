"""One micro-batch: the frames that the batch function gets, and what it writes."""
