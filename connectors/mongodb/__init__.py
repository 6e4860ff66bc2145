"""Collections of MongoDB and Amazon DocumentDB: partitioned reads, and writes that put each row under its `_id`."""
