"""Folders of files: `source` reads them with bookmarks, `sink` writes them, `formats` has what each format needs."""
