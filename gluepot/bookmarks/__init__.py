"""What jobs have read and written: their runs, the ledger that keeps them, and inputs that read only what is new."""
