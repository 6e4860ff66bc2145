"""What the console shows of the Data Catalog: databases, tables and connections."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gluepot.core.errors import PermanentError
from gluepot.core.masking import mask, mask_text
from gluepot.service.console.first_rows import first_rows
from gluepot.service.console.page import FEW_ROWS, ROWS, Page, Query, Reader, more
from gluepot.service.console.values import Facts, facts, pretty, url

_MOST_CHARS = 200
_DATABASES = ("Databases", url("databases"))


def databases(reader: Reader, query: Query) -> Page:
    """Return a page of the databases of the Data Catalog."""
    found = reader.call("GetDatabases", MaxResults=ROWS, NextToken=query.get("page"))
    rows = [
        {
            "name": one["Name"],
            "link": url("database", name=one["Name"]),
            "description": mask_text(one.get("Description", "")),
            "location": mask_text(one.get("LocationUri", "")),
            "created_ms": one["CreateTime"] * 1000,
        }
        for one in found["DatabaseList"]
    ]
    values = {"databases": rows, "more": more("databases", found, query)}
    return Page("databases.html", "Databases", "databases", values)


def database(reader: Reader, query: Query) -> Page:
    """Return a database with a page of its tables."""
    name = query.get("name", "")
    of = mask(reader.call("GetDatabase", Name=name)["Database"])
    found = reader.call("GetTables", DatabaseName=name, MaxResults=ROWS, NextToken=query.get("page"))
    rows = [
        {
            "name": one["Name"],
            "link": url("table", database=name, name=one["Name"]),
            "format": one.get("Parameters", {}).get("classification", ""),
            "columns": len(one.get("StorageDescriptor", {}).get("Columns", ())),
            "keys": ", ".join(key["Name"] for key in one["PartitionKeys"]),
            "location": mask_text(one.get("StorageDescriptor", {}).get("Location", "")),
            "updated_ms": one["UpdateTime"] * 1000,
        }
        for one in found["TableList"]
    ]
    values = {
        "description": of.get("Description", ""),
        "location": of.get("LocationUri", ""),
        "parameters": sorted(of.get("Parameters", {}).items()),
        "tables": rows,
        "more": more("database", found, query, name=name),
    }
    return Page("database.html", name, "databases", values, path=[_DATABASES])


def table(reader: Reader, query: Query) -> Page:
    """Return a table with its columns, and pages of its versions and partitions."""
    where, name, version = query.get("database", ""), query.get("name", ""), query.get("version")
    newest = reader.call("GetTable", DatabaseName=where, Name=name)["Table"]
    plain = newest
    if version is not None:
        plain = reader.call("GetTableVersion", DatabaseName=where, TableName=name, VersionId=version)
        plain = plain["TableVersion"]["Table"]
    listed = reader.call(
        "GetTableVersions", DatabaseName=where, TableName=name, MaxResults=FEW_ROWS, NextToken=query.get("versions")
    )
    keys = [key["Name"] for key in newest["PartitionKeys"]]
    parts: dict[str, Any] = {"Partitions": []}
    if keys:
        parts = reader.call(
            "GetPartitions",
            DatabaseName=where,
            TableName=name,
            MaxResults=ROWS,
            NextToken=query.get("page"),
            ExcludeColumnSchema=True,
        )
    of = mask(plain)
    storage = of.get("StorageDescriptor", {})
    here = {"database": where, "name": name}
    values = {
        "facts": _table_facts(of, storage),
        "columns": [(one, False) for one in storage.get("Columns", ())] + [(one, True) for one in of["PartitionKeys"]],
        "parameters": sorted({**storage.get("Parameters", {}), **of.get("Parameters", {})}.items()),
        "version": version,
        "versions": [
            (one["VersionId"], url("table", **here, version=one["VersionId"]), one["Table"]["UpdateTime"] * 1000)
            for one in listed["TableVersions"]
        ],
        "more_versions": url("table", **here, versions=listed["NextToken"]) if "NextToken" in listed else "",
        "keys": keys,
        "partitions": [
            (one["Values"], mask_text(one.get("StorageDescriptor", {}).get("Location", "")), one["CreationTime"] * 1000)
            for one in parts["Partitions"]
        ],
        "more": more("table", parts, query, **here),
        "json": pretty(plain),
    }
    values["rows_link"] = url("rows", **here)
    title = name if version is None else f"{name}, version {version}"
    above = [_DATABASES, (where, url("database", name=where))]
    return Page("table.html", title, "databases", values, path=above)


def rows(reader: Reader, query: Query) -> Page:
    """Return the first rows of a table."""
    where, name = query.get("database", ""), query.get("name", "")
    reader.call("GetTable", DatabaseName=where, Name=name)
    found, wrong = [], ""
    try:
        found = first_rows(where, name, reader.service.environ)
    except PermanentError as error:
        wrong = mask_text(str(error))
    columns = list(dict.fromkeys(column for row in found for column in row))
    values = {"columns": columns, "rows": [[_shown(row.get(one)) for one in columns] for row in found], "wrong": wrong}
    above = [_DATABASES, (where, url("database", name=where)), (name, url("table", database=where, name=name))]
    return Page("rows.html", "Rows", "databases", values, path=above)


def _shown(value: Any) -> Any:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
    return f"{text[:_MOST_CHARS]}…" if isinstance(text, str) and len(text) > _MOST_CHARS else text


def connections(reader: Reader, query: Query) -> Page:
    """Return a page of the connections."""
    found = reader.call("GetConnections", HidePassword=True, MaxResults=ROWS, NextToken=query.get("page"))
    rows = [
        {
            "name": one["Name"],
            "link": url("connection", name=one["Name"]),
            "kind": one["ConnectionType"],
            "description": mask_text(one.get("Description", "")),
            "updated_ms": one["LastUpdatedTime"] * 1000,
        }
        for one in found["ConnectionList"]
    ]
    values = {"connections": rows, "more": more("connections", found, query)}
    return Page("connections.html", "Connections", "connections", values)


def connection(reader: Reader, query: Query) -> Page:
    """Return a connection without what is secret in it."""
    name = query.get("name", "")
    found = mask(reader.call("GetConnection", Name=name, HidePassword=True)["Connection"])
    values = {
        "kind": found["ConnectionType"],
        "description": found.get("Description", ""),
        "properties": sorted(found.get("ConnectionProperties", {}).items()),
        "times": [("Created", found["CreationTime"] * 1000), ("Last modified", found["LastUpdatedTime"] * 1000)],
        "json": pretty(found),
    }
    return Page("connection.html", name, "connections", values, path=[("Connections", url("connections"))])


def _table_facts(of: Mapping[str, Any], storage: Mapping[str, Any]) -> Facts:
    serde = storage.get("SerdeInfo", {}).get("SerializationLibrary", "")
    return facts(
        ("Location", storage.get("Location", "")),
        ("Classification", of.get("Parameters", {}).get("classification", "")),
        ("Table type", of.get("TableType", "")),
        ("Input format", storage.get("InputFormat", "")),
        ("Output format", storage.get("OutputFormat", "")),
        ("Serde", serde),
        ("Description", of.get("Description", "")),
    )
