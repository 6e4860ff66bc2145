"""The tables of the service; `migrations` brings a database to them."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
    true,
)

_NAME = String(255)
# In the order of their code points, also in PostgreSQL, so that a prefix is a range.
_STREAM_NAME = String(512).with_variant(String(512, collation="C"), "postgresql")

metadata = MetaData()

jobs = Table(
    "service_jobs",
    metadata,
    Column("name", _NAME, primary_key=True),
    Column("definition", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("modified_ms", BigInteger, nullable=False),
)

runs = Table(
    "service_runs",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", _NAME, nullable=False, unique=True),
    Column("job", _NAME, nullable=False),
    Column("state", String(20), nullable=False),
    Column("details", Text, nullable=False),
    # The name of its command, such as `pythonshell`; empty for runs of jobs that were deleted.
    Column("command", String(50), nullable=False, server_default=""),
    # Where its process is; empty until a service has taken it.
    Column("place", _NAME, nullable=False, server_default=""),
    # It repeats what the details say, so that it can be searched.
    Column("chain", _NAME, nullable=False, server_default=""),
    # False until the triggers that wait for the end of this run were looked at, and the end was told as an event.
    Column("followed", Boolean, nullable=False, server_default=true()),
    # False until it has ended and its log files are in the index of log streams.
    Column("logged", Boolean, nullable=False, server_default=false()),
    Index("service_runs_of_job", "job", "number"),
    Index("service_runs_by_state", "state", "number"),
    Index("service_runs_of_chain", "chain", "number"),
    Index("service_runs_to_follow", "followed", "number"),
    # Of few runs, which PostgreSQL would otherwise look for among all.
    Index(
        "service_runs_to_log",
        "place",
        "number",
        sqlite_where=text("logged = 0"),
        postgresql_where=text("NOT logged"),
    ),
)

triggers = Table(
    "service_triggers",
    metadata,
    Column("name", _NAME, primary_key=True),
    Column("workflow", _NAME, nullable=False),
    Column("state", String(20), nullable=False),
    Column("definition", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("modified_ms", BigInteger, nullable=False),
    Column("next_ms", BigInteger),
    Index("service_triggers_by_time", "next_ms"),
    Index("service_triggers_of_workflow", "workflow", "name"),
)

# The key keeps a trigger from firing twice on one occasion: a time of its schedule, a chain, or a call.
firings = Table(
    "service_firings",
    metadata,
    Column("trigger", _NAME, primary_key=True),
    Column("occasion", _NAME, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
)

# Their crawls are among the runs.
crawlers = Table(
    "service_crawlers",
    metadata,
    Column("name", _NAME, primary_key=True),
    Column("definition", Text, nullable=False),
    Column("schedule", Text, nullable=False),
    Column("is_scheduled", Boolean, nullable=False),
    Column("version", Integer, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("modified_ms", BigInteger, nullable=False),
    Column("next_ms", BigInteger),
    Index("service_crawlers_by_time", "next_ms"),
)

workflows = Table(
    "service_workflows",
    metadata,
    Column("name", _NAME, primary_key=True),
    Column("definition", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("modified_ms", BigInteger, nullable=False),
)

workflow_runs = Table(
    "service_workflow_runs",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", _NAME, nullable=False, unique=True),
    Column("workflow", _NAME, nullable=False),
    Column("status", String(20), nullable=False),
    Column("details", Text, nullable=False),
    Index("service_workflow_runs_of_workflow", "workflow", "number"),
    Index("service_workflow_runs_by_status", "status", "number"),
)

tags = Table(
    "service_tags",
    metadata,
    Column("arn", String(1000), primary_key=True),
    Column("key", String(128), primary_key=True),
    Column("value", String(256), nullable=False),
)

places = Table(
    "service_places",
    metadata,
    Column("name", _NAME, primary_key=True),
    Column("seen_ms", BigInteger, nullable=False),
)

rules = Table(
    "service_rules",
    metadata,
    Column("name", _NAME, primary_key=True),
    Column("definition", Text, nullable=False),
    Column("targets", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("modified_ms", BigInteger, nullable=False),
)

waiting_events = Table(
    "service_waiting_events",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("trigger", _NAME, nullable=False),
    Column("event", Text, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Index("service_waiting_events_of_trigger", "trigger", "number"),
)

deliveries = Table(
    "service_deliveries",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("url", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("since_ms", BigInteger, nullable=False),
    Column("next_ms", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    Index("service_deliveries_by_time", "next_ms"),
)

# Things that are kept and returned, and that have no rows of their own: classifiers, registries, schemas, policies, ...
definitions = Table(
    "service_definitions",
    metadata,
    Column("kind", String(40), primary_key=True),
    Column("name", String(1000), primary_key=True),
    Column("definition", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("modified_ms", BigInteger, nullable=False),
)

schema_versions = Table(
    "service_schema_versions",
    metadata,
    Column("id", String(36), primary_key=True),
    # Registry and name, with a slash between them.
    Column("schema", String(520), nullable=False),
    Column("number", Integer, nullable=False),
    Column("status", String(20), nullable=False),
    Column("definition", Text, nullable=False),
    # Of the definition without what has no meaning in its format, such as white space.
    Column("digest", String(64), nullable=False),
    # Pairs of key and value, the newest last.
    Column("details", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    UniqueConstraint("schema", "number"),
    Index("service_schema_versions_by_digest", "schema", "digest"),
)

# Changes of the catalog, which has a database of its own, and messages of queues that were told as events.
told_changes = Table(
    "service_told_changes",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
)

metrics = Table(
    "service_metrics",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("namespace", _NAME, nullable=False),
    Column("name", _NAME, nullable=False),
    # Pairs of name and value, in the order of the names.
    Column("dimensions", Text, nullable=False),
    # Of namespace, name and dimensions, which are longer than an index takes.
    Column("digest", String(64), nullable=False, unique=True),
    # The minute of its newest data.
    Column("newest_ms", BigInteger, nullable=False),
    Index("service_metrics_by_name", "namespace", "name", "number"),
)

# What was reported of a metric in one minute, in one unit.
metric_minutes = Table(
    "service_metric_minutes",
    metadata,
    Column("metric", Integer, primary_key=True, autoincrement=False),
    Column("at_ms", BigInteger, primary_key=True, autoincrement=False),
    Column("unit", String(20), primary_key=True),
    Column("samples", Double, nullable=False),
    Column("total", Double, nullable=False),
    Column("least", Double, nullable=False),
    Column("most", Double, nullable=False),
    # How often each value was reported; empty if that is not known.
    Column("distribution", Text, nullable=False),
    Index("service_metric_minutes_by_time", "at_ms"),
)

# Up to which report the metrics of a run were taken.
metric_reports = Table(
    "service_metric_reports",
    metadata,
    Column("run", _NAME, primary_key=True),
    Column("number", Integer, nullable=False),
)

alarms = Table(
    "service_alarms",
    metadata,
    Column("name", _NAME, primary_key=True),
    Column("definition", Text, nullable=False),
    Column("configured_ms", BigInteger, nullable=False),
    Column("state", String(20), nullable=False),
    Column("reason", Text, nullable=False),
    Column("reason_data", Text, nullable=False),
    Column("state_ms", BigInteger, nullable=False),
    Column("transitioned_ms", BigInteger, nullable=False),
    Column("next_ms", BigInteger, nullable=False),
    Index("service_alarms_by_time", "next_ms"),
)

alarm_history = Table(
    "service_alarm_history",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("alarm", _NAME, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("kind", String(30), nullable=False),
    Column("summary", Text, nullable=False),
    Column("data", Text, nullable=False),
    Index("service_alarm_history_of_alarm", "alarm", "number"),
    Index("service_alarm_history_by_time", "at_ms"),
)

# What the runs of a job cost that ended on one day with the same tags.
costs = Table(
    "service_costs",
    metadata,
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("job", _NAME, primary_key=True),
    Column("tags_digest", String(64), primary_key=True),
    Column("tags", Text, nullable=False),
    Column("runs", Integer, nullable=False),
    Column("dpu_secs", Double, nullable=False),
    Column("usd", Double, nullable=False),
)

# The index of log streams: where the text of each is, and the range of its times.
log_streams = Table(
    "service_log_streams",
    metadata,
    Column("log_group", String(512), primary_key=True),
    # The place in the order of the group's streams: that of the run.
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("name", _STREAM_NAME, nullable=False),
    Column("run", _NAME, nullable=False),
    Column("place", _NAME, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("first_ms", BigInteger, nullable=False),
    Column("last_ms", BigInteger, nullable=False),
    # When text was added last.
    Column("written_ms", BigInteger, nullable=False),
    # How much of the text the times are of, in bytes.
    Column("size", BigInteger, nullable=False),
    # The time of lines behind this text, until one tells its own.
    Column("carried_ms", BigInteger, nullable=False),
    # Whether more text may follow, so that the range of its times has no end.
    Column("is_open", Boolean, nullable=False),
    UniqueConstraint("log_group", "name"),
    # It has all that a time range is compared with, so that the rows of other streams are not read.
    Index("service_log_streams_by_range", "log_group", "number", "is_open", "last_ms", "first_ms"),
    Index("service_log_streams_by_time", "log_group", "written_ms", "name"),
)

# Text of log streams: of those that clients write, and of runs whose files other services cannot read.
log_chunks = Table(
    "service_log_chunks",
    metadata,
    Column("log_group", String(512), primary_key=True),
    # Of the stream.
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    # Where it begins: in bytes of a run's file, in events of a client's stream.
    Column("begins", BigInteger, primary_key=True, autoincrement=False),
    Column("ends", BigInteger, nullable=False),
    Column("last_ms", BigInteger, nullable=False),
    # Of the content before it was packed, in bytes.
    Column("size", BigInteger, nullable=False),
    Column("content", LargeBinary, nullable=False),
)
