"""The script that alembic runs: it runs the migrations in the transaction of the caller's connection."""

from alembic import context

from gluepot.bookmarks.ledger.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
