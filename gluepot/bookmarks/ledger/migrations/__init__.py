"""The migrations that bring a ledger of an earlier version up to date."""
