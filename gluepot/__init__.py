"""The product's shell: command line, job runner, embedded servers for development."""
