"""`gluepot checkpoint`: explains, repairs, moves and rewinds the checkpoint of a streaming query."""
