"""How fast the service answers when it knows many jobs and runs."""
