"""One micro-batch: the frames that the batch function gets, and the writes that it makes."""
