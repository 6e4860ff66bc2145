"""Targets that tell others of rows: SQS, SNS, EventBridge, Firehose and webhooks.

Each row is sent at least once, with an id that a repetition of the batch repeats, by which a consumer knows it again.
"""
