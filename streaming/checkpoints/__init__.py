"""Reads, diagnoses and safely repairs checkpoints.

    snapshot = read(storage)          # the folder as plain values
    findings = diagnose(snapshot)     # pure; `against_table` adds what the table's manifests know
    repair(storage, findings, clock)  # moves and rewrites files; the old ones go into a backup folder

A query calls `mend_power_cut` before it starts, which sets aside what a power cut left where that is safe, and then
`refuse_damage`. A finding blocks if a query that started now would fail, skip records or repeat them. All other
findings are only reported.
"""
