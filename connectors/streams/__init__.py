"""Code that all stream sources share: ranges, planning, and turning records into rows."""
