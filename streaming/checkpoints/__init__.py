"""Reads, diagnoses and safely repairs checkpoints.

    snapshot = read(storage)          # the folder as plain values
    findings = diagnose(snapshot)     # pure; `against_table` adds what the table's manifests know
    repair(storage, findings, clock)  # moves and rewrites files; the old ones go into a backup folder

A query calls `prepare` before it starts. That sets aside what a power cut or a late entry of the commit log left, where
that is safe, and refuses a checkpoint with findings that block. A finding blocks if a query that started now would
fail, skip records or repeat them. All other findings are only reported.
"""
