"""What it costs to find the one new file among very many."""
