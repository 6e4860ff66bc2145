"""Jobs, runs, triggers and workflows as plain values, and what follows for them. Pure functions."""
