"""`gluepot bench`: the settings that a job needs, from runs of it on preloaded records (AWS's own method for Glue)."""
