"""Servers for development and tests on this machine: a real Apache Kafka broker, and a Kinesis emulator."""
