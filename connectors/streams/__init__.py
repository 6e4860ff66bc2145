"""What the sources of streams share: positions, ranges, planning, and the rows that they make."""
