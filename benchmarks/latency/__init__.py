"""From a record's creation to the moment at which readers of the table see it."""
