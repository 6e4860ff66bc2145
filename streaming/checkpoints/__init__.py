"""Care for checkpoints: what their files say, what is wrong with them, what can safely be made right.

    snapshot = read(storage)          # the folder as plain values
    findings = diagnose(snapshot)     # pure; `against_table` adds what the table's manifests know
    repair(storage, findings, clock)  # moves and rewrites files, each kept in a backup folder

`refuse_damage` is what a query does before it starts. A finding blocks when a query that started now would fail, skip
records or repeat them; everything else is only said.
"""
