"""Records with thousands of keys, and tables whose columns grow batch by batch."""
