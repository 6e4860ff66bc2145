"""`gluepot up`, `gluepot status`, `gluepot down`: development servers that outlive the shell that started them."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from cyclopts import Parameter
from cyclopts.validators import Number

from gluepot.cli.output import Row
from gluepot.cli.project import current_project
from gluepot.core.clock import SystemClock
from gluepot.core.environment import environment
from gluepot.core.errors import ConfigError, PermanentError
from gluepot.core.plural import counted
from gluepot.core.private import make_private_folder
from gluepot.core.statedir import event_logs_folder
from gluepot.job.options import PORTS
from gluepot.servers.embedded import STOP_SECS, EmbeddedServer
from gluepot.servers.process import terminate
from gluepot.servers.state import ServerState, forget_state, running_server, server_folder, write_state

Name = Literal["kafka", "kinesis", "s3", "history"]
AT_LEAST_ONE = Number(gte=1, lte=10_000)
"""What an option for a number of partitions or shards accepts."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A server that is to run, and what it is to hold.

    Args:
        server: which one.
        port: the port clients connect to; 0 takes a free one.
        logs: the folder of event logs that the history server shows.
        topics: topics of Kafka, with their numbers of partitions.
        streams: streams of Kinesis, with their numbers of shards.
        buckets: buckets of S3.
    """

    server: Name
    port: int = 0
    logs: str | None = None
    topics: Mapping[str, int] = field(default_factory=dict)
    streams: Mapping[str, int] = field(default_factory=dict)
    buckets: Sequence[str] = ()


def up(
    server: Name | None = None,
    *,
    port: Annotated[int, Parameter(validator=PORTS)] = 0,
    logs: str | None = None,
    topic: Sequence[str] = (),
    partitions: Annotated[int, Parameter(validator=AT_LEAST_ONE)] = 1,
    stream: Sequence[str] = (),
    shards: Annotated[int, Parameter(validator=AT_LEAST_ONE)] = 1,
    bucket: Sequence[str] = (),
    output: Literal["text", "json"] = "text",
) -> None:
    """Start a development server and leave it running. Without a name: those that gluepot.toml names, or else Kafka.

    It listens on this machine only. Topics of Kafka and their records are still there after the next start; streams of
    Kinesis and buckets of S3 are lost when the server ends. The history server is Spark's own. It shows the event logs
    of jobs that ran with `--enable-spark-ui true`. Where it takes environment variables to find a server, they are
    printed; `gluepot status --output env` prints them alone.

    Args:
        server: which one.
        port: the port clients connect to; 0 takes a free one.
        logs: the folder of event logs that the history server shows, local or s3://; by default that of jobs which name
            none.
        topic: create this topic of Kafka, unless it is there. May be repeated.
        partitions: number of partitions of a new topic.
        stream: create this stream of Kinesis, unless it is there. May be repeated.
        shards: number of shards of a new stream.
        bucket: create this bucket of S3, unless it is there. May be repeated.
        output: text for people; json for one object, as in `gluepot status`, or for a list if gluepot.toml names them.
    """
    told = port or logs or topic or stream or bucket
    if server is None and not told and (named := _named()):
        started = [_up(one) for one in named]
        if output == "json":
            print(json.dumps([_plain(state) for state, _ in started]))
        else:
            print("\n".join(line for _, lines in started for line in lines))
        return
    server = server or "kafka"
    for option, given, owner in (
        ("logs", logs, "history"),
        ("topic", topic, "kafka"),
        ("stream", stream, "kinesis"),
        ("bucket", bucket, "s3"),
    ):
        if given and server != owner:
            raise ConfigError(f"--{option} is for {owner}, not for {server}; omit it, or `gluepot up {owner}`.")
    topics, streams = dict.fromkeys(topic, partitions), dict.fromkeys(stream, shards)
    state, lines = _up(Wanted(server, port, logs, topics, streams, bucket))
    print(json.dumps(_plain(state)) if output == "json" else "\n".join(lines))


def status(*, output: Literal["text", "json", "env"] = "text") -> None:
    """Show the running development servers.

    Args:
        output: text for people; json for programs: a list of objects with server, address, bootstrap, pid, log and the
            variables for clients; env for a shell: `eval "$(gluepot status --output env)"` lets it find the emulators.
    """
    running = _all_running()
    if output == "json":
        print(json.dumps([_plain(state) for state in running]))
    elif output == "env":
        print("\n".join(_exports({name: value for state in running for name, value in state.variables.items()})))
    elif running:
        for state in running:
            print(f"{state.server} runs at {state.address}, pid {state.process.pid}, log {state.log}")
    else:
        print("No server runs; start one with `gluepot up kafka`, `kinesis`, `s3` or `history`.")


def down(*, others: bool = False, output: Literal["text", "json"] = "text") -> None:
    """Stop the development servers; Kafka's data is kept for the next start.

    Args:
        others: stop also what another installation of Gluepot started, such as another checkout.
        output: text for people; json for a list of the servers that ran, with whether they are stopped.
    """
    running = _all_running()
    rows: list[Row] = []
    for state in running:
        stops = others or state.installation == sys.prefix
        if stops:
            terminate(state.process, STOP_SECS, SystemClock())
            forget_state(server_folder(os.environ, state.server))
        rows.append({"server": state.server, "stopped": stops})
        if output == "text" and stops:
            print(f"{state.server} is stopped.")
        elif output == "text":
            owner = state.installation or "an older version"
            print(f"{state.server} was started by {owner}; `gluepot down --others` stops it, too.")
    if output == "json":
        print(json.dumps(rows))
    elif not running:
        print("No server runs.")


def _named() -> list[Wanted]:
    """Return the servers that the project file names."""
    project = current_project()
    if project is None:
        return []
    servers, wanted = project.project.servers, []
    if servers.kafka is not None:
        wanted.append(Wanted("kafka", servers.kafka.port, topics=servers.kafka.topics))
    if servers.kinesis is not None:
        wanted.append(Wanted("kinesis", servers.kinesis.port, streams=servers.kinesis.streams))
    if servers.s3 is not None:
        wanted.append(Wanted("s3", servers.s3.port, buckets=servers.s3.buckets))
    if servers.history is not None:
        wanted.append(Wanted("history", servers.history.port, servers.history.logs))
    return wanted


def _up(wanted: Wanted) -> tuple[ServerState, list[str]]:
    """Start a server unless it runs, create what it is to hold, and return its state and what to tell."""
    running = running_server(os.environ, wanted.server)
    if running is None:
        state = _started(wanted)
        lines = [f"{state.server} runs at {state.address}; stop it with `gluepot down`. Its log is {state.log}"]
    elif wanted.port not in {0, running.port}:
        raise ConfigError(
            f"{running.server} already runs at {running.address}, and not at the port {wanted.port}; stop it with"
            " `gluepot down`, or leave the port out."
        )
    else:
        state = running
        lines = [f"{state.server} already runs at {state.address}; its log is {state.log}"]
    lines += [_topic(state, *topic) for topic in wanted.topics.items()]
    lines += [_stream(state, *stream) for stream in wanted.streams.items()]
    lines += [_bucket(state, bucket) for bucket in wanted.buckets]
    if state.variables:
        lines += ["Clients and jobs find it with:", *(f"  {one}" for one in _exports(state.variables))]
    return state, lines


def _started(wanted: Wanted) -> ServerState:
    folder = server_folder(os.environ, wanted.server)
    started = _new(wanted.server, folder, wanted.port, wanted.logs)
    started.start()
    if started.process is None:
        raise PermanentError(f"The {wanted.server} server ended as soon as it was ready; its log is {started.log}.")
    state = ServerState(wanted.server, started.process, started.port, str(started.log), sys.prefix)
    write_state(folder, state)
    return state


def _topic(state: ServerState, topic: str, partitions: int) -> str:
    from gluepot.connectors.kafka.broker import Broker  # noqa: PLC0415  every command imports this module
    from gluepot.connectors.kafka.settings import KafkaReadSettings  # noqa: PLC0415  as above
    from gluepot.connectors.kafka.topics import create  # noqa: PLC0415  as above

    settings = KafkaReadSettings.from_options({"bootstrap.servers": state.bootstrap, "topicName": topic})
    if create(settings.client, topic, partitions):
        return f"Topic {topic} is created, with {counted(partitions, 'partition')}."
    return f"Topic {topic} exists already, with {counted(len(Broker(settings).partitions()[1]), 'partition')}."


def _stream(state: ServerState, stream: str, shards: int) -> str:
    from gluepot.connectors.kinesis.client import KinesisClient  # noqa: PLC0415  every command imports this module
    from gluepot.connectors.kinesis.settings import StreamAddress  # noqa: PLC0415  as above
    from gluepot.servers.kinesis import arn  # noqa: PLC0415  as above
    from gluepot.servers.streams import create_stream, shards_of  # noqa: PLC0415  as above

    with environment(state.variables):
        client = KinesisClient(StreamAddress(stream))
        there = shards_of(client)
        if there is None:
            create_stream(client, stream, shards, SystemClock())
    done = "is created" if there is None else "exists already"
    return f"Stream {stream} {done}, with {counted(there or shards, 'shard')}: {arn(stream)}"


def _bucket(state: ServerState, bucket: str) -> str:
    from gluepot.servers.s3 import make_bucket  # noqa: PLC0415  every command imports this module

    make_bucket(state.port, bucket)
    return f"Bucket {bucket} is there: s3://{bucket}/"


def _exports(variables: Mapping[str, str]) -> list[str]:
    return [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]


def _new(server: Name, folder: Path, port: int, logs: str | None) -> EmbeddedServer:
    # Every command imports this module, and these take their time to load.
    from gluepot.servers.history import HistoryServer  # noqa: PLC0415
    from gluepot.servers.kafka import KafkaBroker  # noqa: PLC0415
    from gluepot.servers.kinesis import KinesisServer  # noqa: PLC0415
    from gluepot.servers.s3 import S3Server  # noqa: PLC0415

    if server == "history":
        own = event_logs_folder(os.environ)
        if logs is None:
            make_private_folder(own)
        return HistoryServer(folder, logs or str(own), port=port, outlives_us=True)
    kinds: dict[str, type[EmbeddedServer]] = {"kafka": KafkaBroker, "kinesis": KinesisServer, "s3": S3Server}
    return kinds[server](folder, port=port, outlives_us=True)


def _all_running() -> list[ServerState]:
    return [state for name in get_args(Name) if (state := running_server(os.environ, name))]


def _plain(state: ServerState) -> dict[str, Any]:
    return {
        "server": state.server,
        "address": state.address,
        "bootstrap": state.bootstrap,
        "pid": state.process.pid,
        "log": state.log,
        "variables": dict(state.variables),
    }
