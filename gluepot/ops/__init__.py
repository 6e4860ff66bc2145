"""What a running job shows of itself over HTTP: metrics, health, version, configuration."""
