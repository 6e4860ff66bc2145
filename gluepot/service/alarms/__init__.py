"""Alarms of CloudWatch: what is decided, and what is said. Pure."""
