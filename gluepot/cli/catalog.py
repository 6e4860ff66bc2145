"""`gluepot catalog`: lists, shows, creates and drops tables, and reads and writes what the AWS command line prints."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter
from cyclopts.validators import Number

from gluepot.catalog.changes import changes_in_words
from gluepot.catalog.connect import catalog_url, open_catalog
from gluepot.catalog.iceberg_entries import is_iceberg
from gluepot.catalog.portable import export, plan_import, read_dump, run_import
from gluepot.catalog.store import Catalog
from gluepot.catalog.values import Table, database_of, iso_time, table_of
from gluepot.cli.confirm import agreed
from gluepot.cli.output import Output, Row, print_wide, show
from gluepot.cli.output import table as table_text
from gluepot.cli.pairs import pair
from gluepot.cli.table_input import TableDescription, TableFormatName, checked, column_of, input_of
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError
from gluepot.core.plural import counted

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
    database, table_name = _names(name)
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


@app.command
def rows(
    name: str, *, most: Annotated[int, Parameter(validator=Number(gte=1, lte=10_000))] = 20, output: Output = "text"
) -> None:
    """Show the first rows of a table of files, without Spark.

    Args:
        name: database.table.
        most: the largest number of rows.
        output: text for people; json for a list of objects.
    """
    from gluepot.tables.first_rows import first_rows, plain  # noqa: PLC0415  it loads all formats

    database, table_name = _names(name)
    with _catalog() as catalog:
        table = catalog.table(database, table_name)
        partitions = catalog.partitions(table) if table.partition_keys else ()
        found = [plain(row) for row in first_rows(table, partitions, most)]
    columns = list(dict.fromkeys(column for row in found for column in row))
    whole: list[Row] = [{column: row.get(column) for column in columns} for row in found]
    if output == "text":
        whole = [{name: _short(value) for name, value in row.items()} for row in whole]
    show(whole, output, f"{table.title} has no rows.")


@app.command(name="versions")
def versions_(name: str, *, output: Output = "text") -> None:
    """List the versions of a table, the newest first, each with what changed.

    Args:
        name: database.table.
        output: text for people; json for a list of objects.
    """
    database, table_name = _names(name)
    with _catalog() as catalog:
        found = catalog.table_versions(database, table_name)
    rows: list[Row] = []
    for one, before in zip_longest(found, found[1:]):
        changes = [] if before is None else changes_in_words(before.body, one.body)
        told = "the first that is kept" if before is None else "; ".join(changes) or "nothing that has a name"
        updated = iso_time(one.updated_ms)
        rows.append({"version": one.version, "updated": updated, "columns": len(one.storage.columns), "changes": told})
    if output == "json":
        show(rows, output, "")
    else:
        print_wide(table_text(rows))


@app.command(name="diff")
def diff_(name: str, old: int | None = None, new: int | None = None, *, output: Output = "text") -> None:
    """Say in words what changed between two versions of a table.

    Args:
        name: database.table.
        old: the older version; the one before the newest by default.
        new: the newer version; the newest by default.
        output: text for people; json for one object.
    """
    database, table_name = _names(name)
    with _catalog() as catalog:
        found = catalog.table_versions(database, table_name)
    title, newest = found[0].title, found[0]
    if old is None and len(found) == 1:
        raise ConfigError(f"{title} has one version, {newest.version}; there is nothing to compare it with.")
    before = found[1] if old is None else _version(found, old)
    after = newest if new is None else _version(found, new)
    changes = changes_in_words(before.body, after.body)
    if output == "json":
        _print({"table": title, "old": before.version, "new": after.version, "changes": changes})
        return
    print(f"{title}, from version {before.version} to {after.version}:")
    for one in changes or ["nothing changed that has a name"]:
        print(f"  {one}")


@app.command
def restore(name: str, version: int, *, dry_run: bool = False) -> None:
    """Put an earlier version of a table back, as a new version. Partitions and files stay as they are.

    Args:
        name: database.table.
        version: the version to put back.
        dry_run: say what would change and do nothing.
    """
    database, table_name = _names(name)
    with _catalog() as catalog:
        found = catalog.table_versions(database, table_name)
        wanted = _version(found, version)

        def back(now: Table) -> Table:
            check_restore(now, wanted)
            return replace(now, body=wanted.body)

        back(found[0])
        changes = changes_in_words(found[0].body, wanted.body)
        if found[0].body == wanted.body:
            print(f"{wanted.title} is as version {version} already.")
            return
        now = found[0] if dry_run else catalog.change_table(database, table_name, back)
    would = "would become" if dry_run else f"is now version {now.version},"
    print(f"{wanted.title} {would} as version {version} was:")
    for one in changes or ["nothing changed that has a name"]:
        print(f"  {one}")


@app.command(name="import")
def import_(*files: Path, replace: bool = False, dry_run: bool = False, output: Output = "text") -> None:
    """Import the output of `aws glue get-databases`, `get-tables`, `get-partitions` or `gluepot catalog export`.

    Entries that the catalog already has stay as they are.

    Args:
        files: JSON documents, in any order.
        replace: overwrite entries that the catalog already has; old versions of tables are kept.
        dry_run: say what would happen and do nothing.
        output: text for people; json for a list of objects.
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
    show(rows, output, "The documents contain no entries.")


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


@app.command(name="create-database")
def create_database(
    name: str, *, description: str | None = None, location: str | None = None, if_missing: bool = False
) -> None:
    """Create a database.

    Args:
        name: its name; the catalog keeps it in lower case.
        description: for people.
        location: URL of the folder of its tables.
        if_missing: do nothing if there is a database of this name already.
    """
    body = {"Name": name, "Description": description, "LocationUri": location}
    told = {member: value for member, value in body.items() if value is not None}
    database = database_of(checked("CreateDatabase", {"DatabaseInput": told})["DatabaseInput"])
    with _catalog() as catalog:
        added = catalog.add_database(database)
    if not added and not if_missing:
        raise ConfigError(
            f"The catalog has a database {database.name} already; add --if-missing, or take another name."
        )
    print(f"Database {database.name} {'is created' if added else 'exists already'}.")


@app.command(name="create-table")
def create_table(
    name: str,
    *,
    column: Sequence[str] = (),
    partition_key: Sequence[str] = (),
    format_: Annotated[TableFormatName, Parameter(name="--format")] = "parquet",
    location: str | None = None,
    parameter: Sequence[str] = (),
    topic: str | None = None,
    stream: str | None = None,
    connection: str | None = None,
    bootstrap: str | None = None,
    table_input: Path | None = None,
    if_missing: bool = False,
) -> None:
    """Create a table of files, or one that stands for a topic or a stream.

    Examples: `create-table web.clicks --column id:bigint --column at:timestamp --partition-key day:string --location
    s3://lake/clicks/`, `create-table web.orders --topic orders --connection broker --column id:bigint`,
    `create-table web.orders --table-input orders.json`.

    Args:
        name: database.table.
        column: NAME:TYPE with a type of Hive, such as bigint, decimal(10,2), array<struct<a:int>>. May be repeated.
        partition_key: NAME:TYPE of a partition key, outermost first. May be repeated.
        format_: format of the files or of the records.
        location: URL of the folder of files.
        parameter: NAME=VALUE of a parameter of the table. May be repeated.
        topic: the topic of Kafka that the table stands for.
        stream: name or ARN of the Kinesis stream that the table stands for.
        connection: the connection that names the brokers of the topic.
        bootstrap: a broker of the topic, host:port, instead of --connection.
        table_input: a JSON file with the TableInput of AWS's CreateTable, instead of all the options above.
        if_missing: do nothing if there is a table of this name already.
    """
    database, table_name = _names(name)
    if table_input is None:
        described = TableDescription(
            table_name,
            columns=[column_of("column", one) for one in column],
            partition_keys=[column_of("partition-key", one) for one in partition_key],
            format=format_,
            location=location,
            parameters=dict(pair("parameter", one) for one in parameter),
            topic=topic,
            stream=stream,
            connection=connection,
            bootstrap=bootstrap,
        )
        plain = described.table_input()
    else:
        options = ("column", column), ("partition-key", partition_key), ("location", location), ("topic", topic)
        given = next((option for option, value in (*options, ("stream", stream)) if value), None)
        if given:
            raise ConfigError(f"--table-input {table_input} describes the whole table; leave --{given} out.")
        plain = input_of(_read(table_input), table_name, str(table_input))
    checked("CreateTable", {"DatabaseName": database, "TableInput": plain})
    table = table_of(plain, database)
    with _catalog() as catalog:
        added = catalog.add_table(table)
    if not added and not if_missing:
        raise ConfigError(f"The catalog has a table {table.title} already; add --if-missing, or take another name.")
    print(f"Table {table.title} {'is created' if added else 'exists already'}; `gluepot catalog show {table.title}`.")


@app.command
def drop(name: str, *, yes: bool = False) -> None:
    """Remove a table, or a database with all its tables, from the catalog. Files stay where they are.

    Args:
        name: a database, or database.table.
        yes: do not ask.
    """
    database, _, table = name.partition(".")
    with _catalog() as catalog:
        if table:
            title = catalog.table(database, table).title
            if agreed(f"Remove the table {title} from the catalog?", yes=yes, has_dry_run=False):
                catalog.drop_table(database, table)
                print(f"Table {title} is removed; its files are still there.")
            return
        title, tables = catalog.database(database).name, counted(len(catalog.tables(database)), "table")
        if agreed(f"Remove the database {title} with {tables} from the catalog?", yes=yes, has_dry_run=False):
            catalog.drop_database(database)
            print(f"Database {title} with {tables} is removed; files are still there.")


def _short(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def check_restore(now: Table, wanted: Table) -> None:
    """Refuse to put a version back that would lead to other data.

    Raises:
        ConfigError: the table is one of a lake, or its partitions have other keys.
    """
    if now.iceberg_catalog is not None or is_iceberg(now.parameters):
        raise ConfigError(
            f"{now.title} is a table of Iceberg, and its versions here are pointers to its metadata; roll it back by"
            " Iceberg's own procedure rollback_to_snapshot."
        )
    keys = [[(one.name, one.type) for one in each.partition_keys] for each in (now, wanted)]
    if keys[0] != keys[1]:
        told = [", ".join(" ".join(key) for key in some) or "none" for some in keys]
        raise ConfigError(
            f"Version {wanted.version} of {now.title} has the partition keys {told[1]}, and its partitions have"
            f" {told[0]}; drop the table and crawl again."
        )


def _version(found: Sequence[Table], version: int) -> Table:
    for one in found:
        if one.version == version:
            return one
    known = ", ".join(str(one.version) for one in found)
    raise ConfigError(f"{found[0].title} has no version {version}; it has {known}.")


def _names(name: str) -> tuple[str, str]:
    database, dot, table = name.partition(".")
    if not (database and dot and table):
        raise ConfigError(f"{name!r} is not the name of a table; write database.table.")
    return database, table


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
