"""Observes running queries: metrics, lag, status."""
