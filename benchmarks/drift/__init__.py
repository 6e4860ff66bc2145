"""What it costs that records change their shape."""
