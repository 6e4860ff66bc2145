"""Tables and queries of databases as a bookmarked source, and tables as a target."""
