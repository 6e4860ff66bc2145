"""Tables of a million batches."""
