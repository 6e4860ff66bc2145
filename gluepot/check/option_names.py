"""Options of a call that mean nothing here, by their names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from awsglue import sinks as file_sinks
from gluepot.check.calls import Call
from gluepot.connectors.dynamodb import settings as dynamodb
from gluepot.connectors.dynamodb.export import OPTIONS as EXPORT_OPTIONS
from gluepot.connectors.files.formats import read_format
from gluepot.connectors.files.source import settings as file_reads
from gluepot.connectors.jdbc import settings as jdbc_reads
from gluepot.connectors.jdbc import target as jdbc_writes
from gluepot.connectors.kafka import settings as kafka_reads
from gluepot.connectors.kafka import sink as kafka_writes
from gluepot.connectors.kinesis import settings as kinesis_reads
from gluepot.connectors.kinesis import sink as kinesis_writes
from gluepot.connectors.mongodb import settings as mongodb
from gluepot.connectors.notifications import eventbridge, firehose, sns, sqs, webhook
from gluepot.connectors.opensearch import settings as opensearch
from gluepot.connectors.registry import Access, connector
from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.core.option_values import SeenOptions
from gluepot.streaming.settings import unknown_options


@dataclass(frozen=True, slots=True)
class _Names:
    """What a reader or writer looks at.

    Args:
        known: names that mean something.
        harmless: names in lower case that are seen in scripts and have no effect.
        any_case: whether names count in any letter case.
        prefix: of names that are passed on.
    """

    known: Collection[str]
    harmless: Collection[str] = ()
    any_case: bool = False
    prefix: str = ""

    def ignored(self, names: Collection[str]) -> list[tuple[str, str]]:
        """Return the names that mean nothing, each with a hint."""
        spelled: Callable[[str], str] = str.lower if self.any_case else str
        known = {spelled(name) for name in self.known} | set(self.harmless)
        unknown = [one for one in names if spelled(one) not in known]
        passed_on = self.prefix or "\0"
        return [(one, did_you_mean(one, self.known).strip()) for one in unknown if not one.startswith(passed_on)]


_READS = {
    Access.FILES: _Names(file_reads.KNOWN_OPTIONS),
    Access.DATABASE: _Names((*jdbc_reads.KNOWN_OPTIONS, "connectionName", "useConnectionProperties")),
}
_WRITES = {
    Access.FILES: _Names(file_sinks.KNOWN_OPTIONS),
    Access.DATABASE: _Names((*jdbc_writes.KNOWN_OPTIONS, "connectionName", "useConnectionProperties")),
}
_READS_OF = {
    "kafka": _Names(kafka_reads.KNOWN, kafka_reads.HARMLESS, any_case=True, prefix="kafka."),
    "kinesis": _Names(kinesis_reads.KNOWN, kinesis_reads.HARMLESS, any_case=True),
    "dynamodb": _Names((*dynamodb.READ_OPTIONS, *EXPORT_OPTIONS), dynamodb.HARMLESS, any_case=True),
    **dict.fromkeys(mongodb.SERVERS, _Names(mongodb.READ_OPTIONS, mongodb.HARMLESS, any_case=True)),
    **dict.fromkeys(opensearch.TYPES, _Names(opensearch.READ_OPTIONS, opensearch.HARMLESS, any_case=True)),
}
_WRITES_TO = {
    "kafka": _Names(kafka_writes.KNOWN, any_case=True, prefix="kafka."),
    "kinesis": _Names(kinesis_writes.KNOWN, kinesis_writes.HARMLESS, any_case=True),
    "dynamodb": _Names(dynamodb.WRITE_OPTIONS, dynamodb.HARMLESS, any_case=True),
    **dict.fromkeys(mongodb.SERVERS, _Names(mongodb.WRITE_OPTIONS, mongodb.HARMLESS, any_case=True)),
    **dict.fromkeys(opensearch.TYPES, _Names(opensearch.WRITE_OPTIONS, opensearch.HARMLESS, any_case=True)),
    **{
        name: _Names(store.KNOWN, any_case=True)
        for name, store in (
            ("sqs", sqs), ("sns", sns), ("eventbridge", eventbridge), ("firehose", firehose), ("webhook", webhook)
        )
    },
}  # fmt: skip
_ATTACHED = frozenset({"attachFilename", "attachTimestamp"})
_READ_CALLS = frozenset(
    {
        "DataFrameReader.from_options",
        "DynamicFrameReader.from_options",
        "GlueContext.create_data_frame_from_options",
        "GlueContext.create_dynamic_frame_from_options",
    }
)
_WRITE_CALLS = frozenset(
    {"DynamicFrameWriter.from_options", "GlueContext.write_dynamic_frame_from_options", "DynamicFrame.write"}
)


def ignored_options(call: Call) -> Iterator[tuple[str, str]]:
    """Yield the literal names of options that the call gives in vain, each with a hint or an empty text."""
    name = f"{call.owner}.{call.name}"
    if call.name == "forEachBatch":
        yield from unknown_options(_names(call, "options"))
        return
    if name not in _READ_CALLS | _WRITE_CALLS:
        return
    kind = call.arguments.get("connection_type")
    if not (isinstance(kind, ast.Constant) and isinstance(kind.value, str)):
        return
    try:
        found = connector(kind.value)
    except ConfigError:
        return
    streams, access, by_access = (
        (_READS_OF, found.reads, _READS) if name in _READ_CALLS else (_WRITES_TO, found.writes, _WRITES)
    )
    known = streams.get(kind.value.lower()) or (by_access.get(access) if access else None)
    if known is not None:
        yield from known.ignored(_names(call, "connection_options"))
    if access is Access.FILES and name in _READ_CALLS:
        yield from _ignored_of_format(call)


def _ignored_of_format(call: Call) -> Iterator[tuple[str, str]]:
    """Yield options of the format of a read that nobody asks for; nothing if a value is not literal, or is wrong."""
    name, given = call.arguments.get("format"), call.arguments.get("format_options")
    try:
        options = SeenOptions(ast.literal_eval(given) if given is not None else {})
        read_format(ast.literal_eval(name) if name is not None else None, options)
    except (ConfigError, ValueError, TypeError):
        return
    for one in options.ignored(file_reads.HARMLESS_OF_FORMAT | _ATTACHED):
        yield one, did_you_mean(one, sorted(options.asked, reverse=True)).strip()


def _names(call: Call, argument: str) -> list[str]:
    given = call.arguments.get(argument)
    if not isinstance(given, ast.Dict):
        return []
    return [key.value for key in given.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
