"""The processes behind runs: how one is started, found again, watched and stopped."""
