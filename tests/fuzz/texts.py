"""Targets that read what people and programs write: languages, schemas and requests."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from gluepot.catalog.values import Partition, Table
from gluepot.connectors.files.source.predicate import parse_predicate
from gluepot.core.errors import EtlError
from gluepot.core.stored_json import parsed_json
from gluepot.quality.dqdl.parser import parse
from gluepot.service.decisions.cron import CronError, next_time
from gluepot.service.errors import ServiceError
from gluepot.service.events.envelopes import EventError, Origin, received
from gluepot.service.events.patterns import PatternError, matches, parsed
from gluepot.service.operations import operations_of
from gluepot.service.partition_expressions import partition_filter
from gluepot.service.schemas.formats import digest_of, problem_of, why_unreadable
from gluepot.service.wire import forms, shapes
from gluepot.service.wire.app import SERVICES, called
from scripts.test_folder import root
from tests.fuzz.decoding import AVRO, JSON_SCHEMA, PROTO
from tests.fuzz.rules import must, refusing
from tests.unit.service.world import World

EVENT = {"source": "aws.s3", "detail-type": "Object Created", "detail": {"bucket": {"name": "b"}, "size": 5}}


def text_of(data: bytes) -> str:
    return data.decode(errors="replace")


def rulesets(data: bytes) -> None:
    refusing(lambda: parse(text_of(data)))


RULESETS = [
    b'Rules = [ RowCount > 0, IsComplete "id", ColumnValues "a" in ["x", "y"] with threshold > 0.5 where "b > 1" ]',
    b'Rules = [ (ColumnCount = 3) and ((Mean "n" between 1 and 2) or (Sum "n" >= 10)), DataFreshness "d" <= 24 hours ]',
    b'mappings = [ x ] Rules = [ RowCount > avg(last(5)) * 1.5 ] Analyzers = [ Sum "n", AllStatistics ]',
    b'DefaultLabels = ["a" = "b"]\nRules = [\n  CustomSql "select 1" = 1 labels = ["c" = "d"], # note\n ReferentialIntegrity "a,b" "r.{c,d}" = 1 ]',
    b"Rules = [" + b"(" * 1_000,
    b"Rules = [ RowCount = " + b"9" * 1_000 + b" ]",
]

TYPES = {"year": "int", "day": "date", "region": "string", "at": "timestamp", "share": "decimal(9,2)"}
VALUES = ("2024", "2024-01-02", "eu", "2024-01-02 03:04:05", "1.50")
TABLE = Table("d", "t", {"PartitionKeys": [{"Name": name, "Type": kind} for name, kind in TYPES.items()]})


def predicates(data: bytes) -> None:
    found = refusing(lambda: parse_predicate(text_of(data)))
    if found is not None:
        known = dict(zip(TYPES, VALUES, strict=True))
        refusing(lambda: found.matches(known))
        refusing(lambda: found.may_match({"year": "2024"}))


def expressions(data: bytes) -> None:
    chosen = refusing(lambda: partition_filter(TABLE, text_of(data)), EtlError, ServiceError)
    if chosen is not None:
        refusing(lambda: chosen(Partition(VALUES, {}, 0)), EtlError, ServiceError)
        refusing(
            lambda: chosen(Partition(("x", "y", "z", "", "__HIVE_DEFAULT_PARTITION__"), {}, 0)), EtlError, ServiceError
        )


PREDICATES = [
    b"year = 2024 and region in ('eu', 'us')",
    b"not (year <> '2024' or day between '2024-01-01' and '2024-02-01') and region like 'e%'",
    b"at >= '2024-01-01 00:00:00' and share < 1.5 and `region` is not null",
    b"(" * 1_500,
    b"not " * 1_000 + b"year = 1",
    b"region like '" + b"%a" * 30 + b"'",
]


AFTER = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def schedules(data: bytes) -> None:
    for text in (text_of(data), f"cron({text_of(data)})"):
        found = refusing(partial(next_time, text, AFTER), CronError)
        must(found is None or found > AFTER, "A schedule fires in the past.")


SCHEDULES = [
    b"0 12 * * ? *",
    b"cron(15 10 ? * 6L 2022-2030)",
    b"0/5 8-17 ? * MON-FRI *",
    b"0 0 L-3 2/3 ? *",
    b"0 0 15W * ? *",
    b"0 0 ? * 6#3 2199",
]


def patterns(data: bytes) -> None:
    text = text_of(data)
    found = refusing(lambda: parsed(text), PatternError)
    if found is not None:
        matches(found, EVENT)


PATTERNS = [
    b'{"source": ["aws.s3"], "detail": {"bucket": {"name": [{"prefix": "b"}]}, "size": [{"numeric": [">", 0, "<=", 5]}]}}',
    b'{"$or": [{"source": [{"anything-but": "x"}]}, {"detail": {"a": [{"exists": false}]}}]}',
    b'{"source": [{"wildcard": "a*s*3"}, {"cidr": "10.0.0.0/8"}, {"suffix": "3"}, {"equals-ignore-case": "AWS.S3"}]}',
    b'{"a":' * 1_000,
]


def events(data: bytes) -> None:
    try:
        body = parsed_json(data)
    except ValueError:
        return
    origin = Origin("000000000000", "us-east-1")
    found = refusing(lambda: received(body, origin, lambda: "id", 5), EventError)
    for event in found or ():
        json.dumps(event)


EVENTS = [
    json.dumps(EVENT).encode(),
    json.dumps([EVENT, EVENT | {"time": "2024-01-01T00:00:00Z", "resources": ["r"], "id": "1"}]).encode(),
    b'{"Records": [{"eventName": "s3:ObjectCreated:Put", "s3": {"bucket": {"name": "b"}, "object": {"key": "a%20b", "size": 1}}}]}',
    b'{"Records": [{"eventSource": "aws:s3", "eventTime": "2024-01-01T00:00:00Z", "eventName": "ObjectRemoved:Delete", "s3": {}}]}',
]


def schemas(data: bytes) -> None:
    """Check a schema in each format; one that is right can be compared with itself and has a digest."""
    text = text_of(data)
    for kind in ("AVRO", "JSON", "PROTOBUF"):
        if problem_of(kind, text) is None:
            must(why_unreadable(kind, text, text) is None, f"A schema of {kind} cannot read what it wrote.")
            digest_of(kind, text)


SCHEMAS = [
    json.dumps(AVRO).encode(),
    json.dumps(JSON_SCHEMA).encode(),
    PROTO.encode(),
    b'{"type": "record", "name": "R", "fields": [{"name": "r", "type": ["null", "R"], "default": null}]}',
    b'{"$ref": "#/definitions/a", "definitions": {"a": {"anyOf": [{"$ref": "#/definitions/a"}, {"type": "null"}]}}}',
    b'{"type":"array","items":' * 150,
    b'{"patternProperties": {"(a+)+$": {}}, "enum": [1], "required": ["a"]}',
]

# Operations that reach for other machines.
_REMOTE = {"AWSGlue.TestConnection"}


@cache
def operations() -> dict[str, Callable[[Any], dict[str, Any]]]:
    folder = Path(tempfile.mkdtemp(prefix="gluepot-fuzz-service-", dir=root()))
    service = World(folder, 1_777_777_777.0).service
    return {name: one for name, one in operations_of(service).items() if name not in _REMOTE}


def requests(data: bytes) -> None:
    """Call an operation, whose target is the first line, with the rest as its body; also as a form."""
    target, _, body = data.partition(b"\n")
    name = text_of(target)
    try:
        json.dumps(called(operations(), name, body))
    except ServiceError as refused:
        must(refused.status < 500, f"{refused.message} (HTTP {refused.status})")
        must(0 < len(refused.message) <= MOST_ANSWER, f"A message has {len(refused.message)} characters.")
    model = shapes.operation(name.partition(".")[2], SERVICES.get(name.partition(".")[0], "glue"))
    if model is not None:
        refusing(lambda: forms.request_of(forms.form_of(body), model), ServiceError)


# Answers list all violations of the model, as AWS does.
MOST_ANSWER = 100_000
REQUESTS = [
    b'AWSGlue.CreateDatabase\n{"DatabaseInput": {"Name": "d"}}',
    b'AWSGlue.CreateTable\n{"DatabaseName": "d", "TableInput": {"Name": "t", "PartitionKeys": [{"Name": "y"}]}}',
    b'AWSGlue.UpdateTable\n{"DatabaseName": "d", "TableInput": {"Name": "t", "StorageDescriptor": {"Columns": []}}}',
    b'AWSGlue.GetPartitions\n{"DatabaseName": "d", "TableName": "t", "Expression": "y > 5", "MaxResults": 5}',
    b'AWSGlue.BatchCreatePartition\n{"DatabaseName": "d", "TableName": "t", "PartitionInputList": [{"Values": ["1"]}]}',
    b'AWSGlue.SearchTables\n{"SearchText": "t", "Filters": [{"Key": "Name", "Value": "t", "Comparator": "EQUALS"}]}',
    b'AWSGlue.CreateJob\n{"Name": "j", "Role": "r", "Command": {"Name": "glueetl", "ScriptLocation": "s3://b/j.py"}}',
    b'AWSGlue.CreateTrigger\n{"Name": "g", "Type": "SCHEDULED", "Schedule": "cron(0 12 * * ? *)", "Actions": [{"JobName": "j"}]}',
    b'AWSGlue.CreateDataQualityRuleset\n{"Name": "q", "Ruleset": "Rules = [ RowCount > 0 ]"}',
    b'AWSGlue.CreateSchema\n{"SchemaName": "s", "DataFormat": "AVRO", "Compatibility": "BACKWARD", "SchemaDefinition": "\\"int\\""}',
    b'AWSGlue.CreateClassifier\n{"GrokClassifier": {"Classification": "c", "Name": "n", "GrokPattern": "%{INT:a}"}}',
    b'AWSGlue.CreateCrawler\n{"Name": "c", "Role": "r", "Targets": {"S3Targets": [{"Path": "s3://b/p"}]}, "Configuration": "{}"}',
    b'AWSGlue.PutResourcePolicy\n{"PolicyInJson": "{}"}',
    b'AWSGlue.UpdateJobFromSourceControl\n{"JobName": "j"}',
    b'AWSEvents.PutEvents\n{"Entries": [{"Source": "s", "DetailType": "t", "Detail": "{}", "Time": 5}]}',
    b'AWSEvents.PutRule\n{"Name": "r", "EventPattern": "{\\"source\\": [\\"s\\"]}"}',
    b'AWSEvents.TestEventPattern\n{"EventPattern": "{\\"source\\": [\\"s\\"]}", "Event": "{\\"source\\": \\"s\\"}"}',
    b'GraniteServiceVersion20100801.GetMetricData\n{"StartTime": 0, "EndTime": 5, "MetricDataQueries": [{"Id": "a"}]}',
    b"GraniteServiceVersion20100801.PutMetricData\nNamespace=n&MetricData.member.1.MetricName=m&MetricData.member.1.Value=5",
    b'Logs_20140328.GetLogEvents\n{"logGroupName": "g", "logStreamName": "s", "startTime": 0}',
    b"AWSGlue.GetTables\n" + b"[" * 3_000,
    b'AWSGlue.GetTables\n{"DatabaseName": "\\ud800"}',
]
