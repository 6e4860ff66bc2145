"""What the service remembers: one SQL database of its own tables, SQLite or PostgreSQL."""
