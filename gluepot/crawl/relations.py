"""Tables in databases: which of them a target means, and what the catalog says of them (docs/glue 11.6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from gluepot.catalog.connections import JdbcConnection
from gluepot.connectors.files.source.globs import compile_globs
from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.inventory import Relation, relations
from gluepot.core.errors import ConfigError
from gluepot.core.patterns.wildcards import like
from gluepot.crawl.settings import JdbcTarget
from gluepot.crawl.values import FileKind, FoundRelation, FoundTable
from gluepot.frames.schema.hive_types import arrow_of_hive

Inventory = Callable[[JdbcTarget], tuple[str, Sequence[Relation]]]
"""Returns the kind of database that a target is in, such as `postgresql`, and all tables of the database."""


def inventory(target: JdbcTarget, connection: JdbcConnection) -> tuple[str, Sequence[Relation]]:
    """Ask the database of a target for its tables; see `Inventory`.

    Raises:
        ConfigError: the connection leads to another database, or one that cannot be crawled.
        TransientError: the database does not answer.
    """
    options = connection.to_options()
    base, question, query = options["url"].partition("?")
    named = base.removeprefix(connection.server_url).strip("/")
    if named and named != target.database:
        raise ConfigError(
            f"The connection {connection.name} leads to the database {named!r}, and Path names {target.database!r};"
            " correct the path, or leave the database out of the connection's URL."
        )
    url = f"{connection.server_url}/{target.database}{question}{query}"
    return connection.engine, relations(JdbcEndpoint.from_options({**options, "url": url}), target.database)


def found_relations(target: JdbcTarget, engine: str, there: Sequence[Relation]) -> list[FoundTable]:
    """Return the tables that a target means, in the order of the database."""
    return [_found(target, engine, one) for one in there if is_meant(target, one.path)]


def is_meant(target: JdbcTarget, path: str) -> bool:
    """Tell whether a target means a table.

    Exclusions are globs of `schema/table`. People write them as they write paths, too, with the database in front and
    with `%`, so `shop/tmp_%` excludes these tables in every schema of the database `shop`.

    Args:
        target: `%` in its pattern stands for any text.
        path: of the table below its database, `schema/table` or `table`.
    """
    wanted, parts = target.pattern, path.split("/")
    if wanted == ("%",):  # all tables, in whatever schema
        wanted = ("%",) * len(parts)
    if len(wanted) != len(parts) or not all(map(fits, wanted, parts)):
        return False
    globs = compile_globs([f"/{glob.replace('%', '*')}" for glob in target.exclusions])
    names = (path, f"{target.database}/{path}", f"{target.database}/{parts[-1]}")
    return globs is None or not any(globs.search(f"/{name}") for name in names)


def fits(pattern: str, name: str) -> bool:
    """Tell whether a name is one that a pattern means, in which `%` stands for any text."""
    return like(pattern, one="").matches(name)


def _found(target: JdbcTarget, engine: str, relation: Relation) -> FoundTable:
    columns: list[dict[str, Any]] = []
    for one in relation.columns:
        comment = {"Comment": one.comment} if target.keeps_comments and one.comment else {}
        raw = {"Parameters": {"rawType": one.raw_type}} if target.keeps_raw_types else {}
        columns.append({"Name": one.name.lower(), "Type": one.type, **comment, **raw})
    schema = pa.schema([pa.field(one.name.lower(), arrow_of_hive(one.type)) for one in relation.columns])
    location = ".".join(part for part in (relation.database, relation.schema, relation.name) if part)
    of_database = FoundRelation(
        target.connection,
        location,
        columns,
        is_view=relation.is_view,
        description=relation.comment if target.keeps_comments else "",
    )
    return FoundTable(f"jdbc:{target.connection}", "", "", FileKind(engine, schema=schema), relation=of_database)
