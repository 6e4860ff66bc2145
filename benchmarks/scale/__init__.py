"""What a record costs, however many partitions a topic has and however large a batch is."""
