"""`gluepot table`: tables that jobs wrote."""
