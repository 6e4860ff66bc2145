"""Log lines that a grok pattern describes: the standard patterns, and the format `grokLog`."""
