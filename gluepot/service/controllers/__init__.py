"""What the service does by itself: each reads the database, decides by pure functions, writes that down, and acts."""
