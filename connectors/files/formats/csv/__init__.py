"""CSV: `read` reads files of any writer, `write` and `sink` write ours, `read_back` reads these again."""
