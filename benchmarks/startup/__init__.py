"""From the start of a process to its first rows in a table."""
