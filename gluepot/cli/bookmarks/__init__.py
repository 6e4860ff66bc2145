"""`gluepot bookmarks` and `gluepot jobs`: what jobs have read, what they will read, and how to change that."""

from gluepot.cli.bookmarks.commands import app, jobs_app

__all__ = ["app", "jobs_app"]
