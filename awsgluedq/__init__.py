"""`awsgluedq`, as job scripts import it: data quality (docs/glue 12)."""
