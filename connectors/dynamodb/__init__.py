"""Tables of DynamoDB: parallel scans, and writes that put each item under its key."""
