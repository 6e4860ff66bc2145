"""What the Makefile runs before anything is installed."""
