"""Job bookmarks: the runs of jobs, the ledger that stores them, and inputs that read only what is new."""
