"""What alembic runs: the migrations, in the transaction of the caller's connection."""

from alembic import context

from gluepot.evaluation.history.connect import VERSION_TABLE
from gluepot.evaluation.history.tables import metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, version_table=VERSION_TABLE
)
context.run_migrations()
