"""`gluepot catalog`: lists and shows tables, imports the output of AWS's command line, and exports the catalog."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cyclopts import App

from gluepot.catalog.connect import catalog_url, open_catalog
from gluepot.catalog.portable import export, plan_import, read_dump, run_import
from gluepot.catalog.store import Catalog
from gluepot.catalog.values import Table, iso_time
from gluepot.cli.output import Output, Row, show
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError

app = App(name="catalog", help="The Data Catalog: databases, tables, partitions.")


@app.command(name="list")
def list_(database: str | None = None, *, output: Output = "text") -> None:
    """List the databases, or the tables of one database.

    Args:
        database: list the tables of this database.
        output: text for people; json for a list of objects.
    """
    with _catalog() as catalog:
        if database is None:
            rows: list[Row] = [
                {"database": one.name, "tables": len(catalog.tables(one.name)), "created": iso_time(one.created_ms)}
                for one in catalog.databases()
            ]
        else:
            rows = [_summary(catalog, table) for table in catalog.tables(database)]
    show(rows, output, "There is nothing to list; `gluepot catalog import` imports a dump of AWS's catalog.")


@app.command(name="show")
def show_(name: str, *, versions: bool = False, output: Output = "text") -> None:
    """Show a table: its columns, partition keys and partitions.

    Args:
        name: database.table.
        versions: list the versions of the table instead.
        output: text for people; json as in the response of GetTable, or of GetTableVersions.
    """
    database, dot, table_name = name.partition(".")
    if not dot:
        raise ConfigError(f"{name!r} is not the name of a table; write database.table.")
    with _catalog() as catalog:
        if versions:
            found = catalog.table_versions(database, table_name)
            plain = [{"VersionId": str(one.version), "Table": one.to_json()} for one in found]
            rows: list[Row] = [
                {"version": one.version, "updated": iso_time(one.updated_ms), "columns": len(one.storage.columns)}
                for one in found
            ]
            _print({"TableVersions": plain}) if output == "json" else show(rows, output, "")
            return
        table = catalog.table(database, table_name)
        partitions = catalog.partitions(table)
    if output == "json":
        _print({"Table": table.to_json()})
        return
    print(f"{table.title}, version {table.version}, in {table.storage.location or 'no folder'}")
    columns = [(one, False) for one in table.storage.columns] + [(one, True) for one in table.partition_keys]
    described: list[Row] = [
        {"column": one.name, "type": one.type, "partition_key": is_key, "comment": one.comment or None}
        for one, is_key in columns
    ]
    show(described, output, "The table has no columns.")
    if table.partition_keys:
        located: list[Row] = [{"partition": "/".join(one.values), "location": one.location} for one in partitions]
        show(located, output, "The table has no partitions.")


@app.command(name="import")
def import_(*files: Path, replace: bool = False, dry_run: bool = False) -> None:
    """Import the output of `aws glue get-databases`, `get-tables`, `get-partitions` or `gluepot catalog export`.

    Entries that the catalog already has stay as they are.

    Args:
        files: JSON documents, in any order.
        replace: overwrite entries that the catalog already has; old versions of tables are kept.
        dry_run: say what would happen and do nothing.
    """
    if not files:
        raise ConfigError("import needs files; make one with `aws glue get-tables --database-name NAME > tables.json`.")
    dump = read_dump(map(_read, files))
    with _catalog() as catalog:
        steps = plan_import(catalog, dump, overwrite=replace)
        if not dry_run:
            run_import(catalog, dump, overwrite=replace)
    rows: list[Row] = [
        {"kind": one.kind, "name": one.name, "action": one.action, "entries": one.count} for one in steps
    ]
    show(rows, "text", "The documents contain no entries.")


@app.command(name="export")
def export_(name: str | None = None, file: Path | None = None) -> None:
    """Write the catalog, or a part of it, as one JSON document that `import` reads.

    Args:
        name: a database, or database.table; everything if none is given.
        file: the file to write; standard output if none is given.
    """
    database, _, table = (name or "").partition(".")
    with _catalog() as catalog:
        text = json.dumps(export(catalog, database or None, table or None), ensure_ascii=False, indent=1)
    if file:
        file.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


@contextmanager
def _catalog() -> Iterator[Catalog]:
    catalog = open_catalog(catalog_url(os.environ), SystemClock())
    try:
        yield catalog
    finally:
        catalog.close()


def _summary(catalog: Catalog, table: Table) -> Row:
    return {
        "table": table.name,
        "format": table.parameters.get("classification"),
        "columns": len(table.storage.columns),
        "partition_keys": [key.name for key in table.partition_keys],
        "partitions": len(catalog.partitions(table)),
        "version": table.version,
        "location": table.storage.location,
    }


def _read(file: Path) -> object:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"There is no file {file}; check the path.") from error
    except ValueError as error:
        raise ConfigError(f"{file} is not JSON ({error}); make it with --output json.") from error


def _print(plain: object) -> None:
    print(json.dumps(plain, ensure_ascii=False))
