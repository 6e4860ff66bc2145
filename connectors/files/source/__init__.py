"""Files of a folder tree as a batch source with bookmarks."""
