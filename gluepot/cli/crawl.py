"""`gluepot crawl`: makes tables of the Data Catalog from files, without a service, and says why."""

from __future__ import annotations

import json
import os
import random
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from gluepot.catalog.connect import catalog_url, open_catalog
from gluepot.catalog.connections import load
from gluepot.cli.exit_codes import FINDINGS
from gluepot.cli.output import Output, Row, print_wide, show, table
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError
from gluepot.core.plural import counted
from gluepot.crawl.classify.custom import Custom, read_classifier
from gluepot.crawl.plan import Action
from gluepot.crawl.run import CrawlReport, LeftOut, crawl
from gluepot.crawl.settings import EVENTS, EVERYTHING, NEW_FOLDERS, CrawlSettings, crawl_settings
from gluepot.crawl.values import FoundTable

_MOST_LEFT_OUT, _MOST_STEPS = 20, 200
_CHANGED = frozenset({"created", "updated", "deprecated", "deleted"})


def crawl_(
    *paths: str,
    database: str = "default",
    connection: str = "",
    metadata: Annotated[Sequence[Literal["comments", "rawtypes"]], Parameter(negative=())] = (),
    prefix: str = "",
    exclude: Annotated[Sequence[str], Parameter(negative=())] = (),
    sample_size: int | None = None,
    sample_items: bool = False,
    classifier: Annotated[Sequence[Path], Parameter(negative=())] = (),
    combine: bool = False,
    table_level: int | None = None,
    table_threshold: int | None = None,
    new_folders_only: bool = False,
    event_queue: str = "",
    dead_letter_queue: str = "",
    merge_new_columns: bool = False,
    inherit: bool = False,
    update: Literal["update", "log"] = "update",
    delete: Literal["deprecate", "delete", "log"] = "deprecate",
    name: str = "gluepot-crawl",
    explain: bool = False,
    dry_run: bool = False,
    output: Output = "text",
) -> None:
    """Find tables in folders and write them to the Data Catalog: formats, columns, types, partitions.

    It reads the beginnings of files, not files. All changes are one transaction. The exit code is 3 if files were left
    out because they could not be read or classified.

    Args:
        paths: folders or files, local or on S3; dynamodb://TABLE for a table of DynamoDB; with --connection,
            database/schema/table, or database/collection of MongoDB.
        database: that gets the tables; it is made if there is none of this name.
        connection: name of a connection to a database or to MongoDB, whose tables or collections the paths name:
            shop/public/%, shop/orders.
        metadata: keep comments or the database's own names of types, too (EnableAdditionalMetadata); may be repeated.
        prefix: put in front of the names of tables.
        exclude: a glob of files or tables to leave out, relative to each path; may be repeated.
        sample_size: read so many files of each folder, chosen by chance; all by default.
        sample_items: take the columns of tables of DynamoDB and of collections from a sample, and not from all items.
        classifier: a JSON file with a classifier as CreateClassifier takes it; may be repeated.
        combine: put compatible files into one table even if their columns differ (CombineCompatibleSchemas).
        table_level: the level at which folders are tables; a bucket has level 1 (TableLevelConfiguration).
        table_threshold: write nothing if there are more tables than this (TableThreshold).
        new_folders_only: look only at folders that earlier crawls of this name have not seen.
        event_queue: ARN of an SQS queue that gets the events of the paths on S3; after the first crawl look only at
            folders that its messages name (CRAWL_EVENT_MODE).
        dead_letter_queue: ARN of the queue for messages that are not understood; without one they are deleted.
        merge_new_columns: add new columns to tables, and change nothing else of them (MergeNewColumns).
        inherit: give partitions the columns and the format of their table (InheritFromTable).
        update: update tables that have changed, or only log the changes.
        delete: what happens to tables and partitions whose files are gone.
        name: of the crawler; later crawls of this name look after the tables that it made.
        explain: say for each folder what was compared, the similarity, and which rule decided.
        dry_run: say what would happen and write nothing.
        output: text for people; json for one object.
    """
    if not paths:
        raise ConfigError("crawl needs a folder or a file, such as /data/lake or s3://bucket/folder.")
    if dead_letter_queue and not event_queue:
        raise ConfigError("--dead-letter-queue needs --event-queue; give both, or omit it.")
    if event_queue and new_folders_only:
        raise ConfigError("--event-queue and --new-folders-only cannot be combined; remove one of them.")
    given: dict[str, Any] = {
        "Name": name,
        "DatabaseName": database,
        "TablePrefix": prefix,
        "Targets": _stored(connection, paths, exclude, metadata, sample_items)
        if connection
        else {
            "DynamoDBTargets": [
                {"Path": path.removeprefix(_DYNAMODB), "scanAll": not sample_items}
                for path in paths
                if path.startswith(_DYNAMODB)
            ],
            "S3Targets": [
                {
                    "Path": path,
                    "Exclusions": list(exclude),
                    **({} if sample_size is None else {"SampleSize": sample_size}),
                    "EventQueueArn": event_queue,
                    "DlqEventQueueArn": dead_letter_queue,
                }
                for path in paths
                if not path.startswith(_DYNAMODB)
            ],
        },
        "RecrawlPolicy": {
            "RecrawlBehavior": EVENTS if event_queue else NEW_FOLDERS if new_folders_only else EVERYTHING
        },
        "SchemaChangePolicy": {
            "UpdateBehavior": "LOG" if new_folders_only or update == "log" else "UPDATE_IN_DATABASE",
            "DeleteBehavior": "LOG" if new_folders_only else _DELETE[delete],
        },
        "Configuration": json.dumps(_configuration(combine, table_level, table_threshold, merge_new_columns, inherit)),
    }
    settings = crawl_settings(given, list(map(_classifier, classifier)))
    catalog = open_catalog(catalog_url(os.environ), SystemClock())
    try:
        chance = random.Random()  # noqa: S311  samples are no secrets
        report = crawl(settings, catalog, chance, str(uuid.uuid4()), make_database=True, dry_run=dry_run)
    finally:
        catalog.close()
    if output == "json":
        print(json.dumps(as_json(report, settings), ensure_ascii=False, indent=1))
    else:
        _print(report, settings, explain=explain, dry_run=dry_run)
    if report.left_out or report.failed_targets or report.misunderstood:
        raise SystemExit(FINDINGS)


def _stored(
    connection: str, paths: Sequence[str], exclude: Sequence[str], metadata: Sequence[str], sample_items: bool
) -> dict[str, Any]:
    """Return the targets that a connection leads to."""
    if load().get(connection).type == "mongodb":
        return {
            "MongoDBTargets": [
                {"ConnectionName": connection, "Path": path, "ScanAll": not sample_items} for path in paths
            ]
        }
    more = [one.upper() for one in metadata]
    return {
        "JdbcTargets": [
            {
                "ConnectionName": connection,
                "Path": path,
                "Exclusions": list(exclude),
                "EnableAdditionalMetadata": more,
            }
            for path in paths
        ]
    }


_DYNAMODB = "dynamodb://"
_DELETE = {"deprecate": "DEPRECATE_IN_DATABASE", "delete": "DELETE_FROM_DATABASE", "log": "LOG"}


def as_json(report: CrawlReport, settings: CrawlSettings) -> dict[str, Any]:
    """Return a report as one object for programs."""
    return {
        "database": settings.database,
        "files": report.files,
        "tables": [_row(one, report.found.get(one.table)) for one in report.tables],
        "left_out_files": report.left_out_files,
        "left_out": [{"place": one.place, "why": one.why} for one in report.left_out],
        "failed_targets": [{"place": one.place, "why": one.why} for one in report.failed_targets],
        "messages": report.messages,
        "misunderstood_messages": report.misunderstood_messages,
        "misunderstood": [{"place": one.place, "why": one.why} for one in report.misunderstood],
        "undeleted": [{"place": one.place, "why": one.why} for one in report.undeleted],
        "steps": [
            {
                "folder": one.folder,
                "compared": one.compared,
                "rule": one.rule,
                "outcome": one.outcome,
                "similarity": one.similarity,
            }
            for one in report.steps
        ],
    }


def _print(report: CrawlReport, settings: CrawlSettings, *, explain: bool, dry_run: bool) -> None:
    rows = [_row(one, report.found.get(one.table)) for one in report.tables]
    if rows:
        print_wide(table(rows))
    elif report.messages:
        print(f"{counted(report.messages, 'message')}, and none names a folder with a table.")
    else:
        print(f"No table was found in {', '.join(_places(settings))}.")
    for action in report.tables:
        if action.why:
            print(f"{action.table}: {action.why}.")
    _print_left_out(report.failed_targets, len(report.failed_targets), "target", "cannot be crawled")
    _print_left_out(report.left_out, max(report.left_out_files, len(report.left_out)), "file", "left out")
    _print_left_out(report.misunderstood, report.misunderstood_messages, "message", "not understood")
    for one in report.undeleted:
        print(f"The messages of {one.place} were not deleted: {one.why}")
    if explain:
        print()
        for step in report.steps[-_MOST_STEPS:]:
            print(step.line())
        if len(report.steps) > _MOST_STEPS:
            print(f"... and {len(report.steps) - _MOST_STEPS:,} more, deeper down; --output json has all.")
        show(_columns(report), "text", "")
    changed = sum(one.outcome in _CHANGED or bool(one.added or one.changed or one.dropped) for one in report.tables)
    would = "would change; nothing was written" if dry_run else "changed"
    print(f"{counted(report.files, 'file')}, {counted(len(report.tables), 'table')}, {changed:,} {would}.")


def _places(settings: CrawlSettings) -> list[str]:
    return [*(one.url for one in settings.targets), *(one.title for one in settings.database_targets)]


def _print_left_out(some: Sequence[LeftOut], number: int, noun: str, what: str) -> None:
    if not some:
        return
    print(f"{counted(number, noun)} {what}:")
    for one in some[:_MOST_LEFT_OUT]:
        print(f"  {one.place}: {one.why}")
    if number > _MOST_LEFT_OUT:
        print(f"  ... and {number - _MOST_LEFT_OUT:,} more")


def _row(action: Action, found: FoundTable | None) -> Row:
    return {
        "table": action.table,
        "outcome": action.outcome,
        "format": found.kind.title if found else None,
        "columns": len(found.kind.schema) if found else None,
        "partition_keys": ", ".join(found.keys) if found and found.keys else None,
        "partitions": len(found.parts) if found and found.keys else None,
        "files": sum(part.files for part in found.parts) if found and found.relation is None else None,
        "location": found.location if found else None,
    }


def _columns(report: CrawlReport) -> list[Row]:
    rows: list[Row] = []
    for action in report.tables:
        body: Mapping[str, Any] = action.body or {}
        columns = (body.get("StorageDescriptor") or {}).get("Columns") or ()
        rows += [{"table": action.table, "column": one["Name"], "type": one["Type"]} for one in columns]
    return rows


def _configuration(
    combine: bool, table_level: int | None, table_threshold: int | None, merge_new_columns: bool, inherit: bool
) -> dict[str, Any]:
    tables: dict[str, Any] = {"AddOrUpdateBehavior": "MergeNewColumns"} if merge_new_columns else {}
    if table_threshold is not None:
        tables["TableThreshold"] = table_threshold
    grouping: dict[str, Any] = {"TableGroupingPolicy": "CombineCompatibleSchemas"} if combine else {}
    if table_level is not None:
        grouping["TableLevelConfiguration"] = table_level
    partitions = {"AddOrUpdateBehavior": "InheritFromTable"} if inherit else {}
    return {"Version": 1.0, "CrawlerOutput": {"Tables": tables, "Partitions": partitions}, "Grouping": grouping}


def _classifier(path: Path) -> Custom:
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"The classifier {path} cannot be read ({error.strerror}); correct the path.") from error
    except ValueError as error:
        raise ConfigError(f"The classifier {path} is no JSON ({error}); correct it.") from error
    if not isinstance(given, dict):
        raise ConfigError(f"The classifier {path} is not a JSON object; write it as CreateClassifier takes it.")
    return read_classifier(given)
