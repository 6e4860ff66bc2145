"""One module or folder per system that Gluepot reads or writes. A connector never imports another."""
