"""How a ledger of an earlier version becomes one of this version."""
