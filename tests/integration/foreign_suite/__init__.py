"""Runs a suite of tests that others wrote for a mock of AWS Glue against the service, from its package at test time."""
