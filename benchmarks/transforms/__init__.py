"""What a chain of transforms costs beside parsing and writing the same records."""
