"""OpenLineage events of runs and batches, with `--enable-data-lineage true`; the library has the transports."""
