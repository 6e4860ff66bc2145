"""The HTTP server of a running job: metrics, health, version, configuration, and a page for people."""
