"""CPU time of reading a Kinesis stream into Arrow, side by side with boto3."""
