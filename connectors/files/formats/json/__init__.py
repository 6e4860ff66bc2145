"""JSON: `read` reads files of any writer, `write` writes ours, `read_back` reads these again."""
