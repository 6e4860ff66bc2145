"""A stand-in for Amazon Redshift: PostgreSQL behind a server that speaks to Redshift's own client.

It forwards the client's messages to PostgreSQL, executes COPY and UNLOAD itself with the files of an S3 server, and
refuses what Redshift is known to refuse. What it shows is that our statements do what we mean by them. Whether Redshift
accepts each of them, it cannot show.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

import boto3
import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from psycopg.conninfo import conninfo_to_dict
from pyarrow import parquet

from gluepot.core.sockets import LOOPBACK
from tests.postgresql import new_database

# What PostgreSQL lacks of Redshift, as far as our statements use it. A SUPER is a jsonb, a VARBYTE a bytea.
_SETUP = r"""
CREATE FUNCTION json_parse(text) RETURNS jsonb LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1::json::jsonb';
CREATE FUNCTION json_serialize(jsonb) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1::text';
CREATE FUNCTION to_hex(bytea) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$SELECT encode($1, 'hex')$$;
CREATE FUNCTION getdate() RETURNS timestamp LANGUAGE sql STABLE AS $$SELECT now() AT TIME ZONE 'UTC'$$;
CREATE FUNCTION redshift_format_type(oid, integer) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE $1 WHEN 3802 THEN 'super' WHEN 17 THEN 'binary varying(16777216)' ELSE pg_catalog.format_type($1, $2) END$$;
CREATE FUNCTION redshift_scalar(text) RETURNS jsonb LANGUAGE sql IMMUTABLE STRICT AS 'SELECT to_jsonb($1)';
CREATE FUNCTION redshift_scalar(varchar) RETURNS jsonb LANGUAGE sql IMMUTABLE STRICT AS 'SELECT to_jsonb($1::text)';
CREATE FUNCTION redshift_abort() RETURNS void LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'aborted'; END$$;
CREATE CAST (text AS jsonb) WITH FUNCTION redshift_scalar(text) AS ASSIGNMENT;
CREATE CAST (varchar AS jsonb) WITH FUNCTION redshift_scalar(varchar) AS ASSIGNMENT;
"""
# Redshift reads a backslash in a text as PostgreSQL did in its version 8, and isolates transactions fully.
_OPTIONS = (
    "-c standard_conforming_strings=off -c escape_string_warning=off -c backslash_quote=on"
    " -c default_transaction_isolation=serializable"
)
_REWRITTEN = (
    (r"\bvarbyte\s*(\(\d+\))?|\bbinary varying\s*(\(\d+\))?", "bytea"),
    (r"\bsuper\b", "jsonb"),
    (r"\bformat_type\s*\(", "redshift_format_type("),
)
_REFUSED = (
    r"\bON CONFLICT\b", r"\bRETURNING\b", r"\bFOR (UPDATE|SHARE)\b", r"\bUNLOGGED\b", r"\bpg_(try_)?advisory",
    r"^\s*(SAVEPOINT|RELEASE|ROLLBACK TO)\b", r"\bxmin\b", r"\btxid_current", r"\bto_regclass\b", r"\bhashtext",
    r"\bIS (NOT )?DISTINCT FROM\b", r"^\s*WITH\b.*\b(INSERT|DELETE|UPDATE)\b", r"^\s*(DELETE|UPDATE)\b.*\bLIMIT\b",
    r"^\s*CREATE (UNIQUE )?INDEX\b", r"^\s*MERGE INTO \S+ (AS\s+)?\w+ USING\b", r"\bset_config\b", r"\bON COMMIT\b",
    r"^\s*(TRUNCATE|VACUUM)\b", r"\bjsonb?\b", r"\bbytea\b", r"\bSTARTS_WITH\b", r"\bCREATE (TYPE|DOMAIN)\b",
    r"\braw\b", r"\b(serial|bigserial|uuid|inet|interval)\b",
)  # fmt: skip
_BINDABLE = {16, 20, 21, 23, 25, 700, 701, 705, 1043, 1082, 1114, 1184, 1700}
_COPY = re.compile(
    r"COPY (?P<table>\w+) FROM '(?P<manifest>s3://[^']+)' (?:IAM_ROLE (?:default|'(?P<role>arn:[^']+)')"
    r"|CREDENTIALS 'aws_access_key_id=(?P<key>[^;']+);aws_secret_access_key=[^;']+(?:;token=[^;']+)?')"
    r" FORMAT AS PARQUET MANIFEST(?P<further>(?: (?:ACCEPTINVCHARS|STATUPDATE \w+))*)"
)
_UNLOAD = re.compile(
    r"UNLOAD \('(?P<query>(?:[^'\\]|''|\\.)*)'\) TO '(?P<to>s3://[^']+)' (?:IAM_ROLE (?:default|'arn:[^']+')|CREDENTIALS '[^']+')"
    r" FORMAT AS PARQUET MANIFEST",
    re.DOTALL,
)
_ARROW = {16: pa.bool_(), 20: pa.int64(), 21: pa.int16(), 23: pa.int32(), 700: pa.float32(), 701: pa.float64(),
          1082: pa.date32(), 1114: pa.timestamp("us"), 1184: pa.timestamp("us")}  # fmt: skip
SLICES = 2


class Refusal(Exception):
    """An error of the server."""

    def __init__(self, state: str, message: str) -> None:
        super().__init__(message)
        self.state = state


@dataclass
class RedshiftServer:
    """A running stand-in.

    Args:
        postgresql: URL of the database behind it, for counting.
        s3: URL of the S3 server that it reads and writes.
        port: where it listens.
        statements: all statements that it was sent, in order.
        cut: called with each statement; True cuts the connection after the statement was executed, before its answer.
    """

    postgresql: str
    s3: str
    port: int = 0
    statements: list[str] = field(default_factory=list)
    cut: Callable[[str], bool] = lambda _: False
    user: str = "awsuser"
    database: str = "dev"

    @property
    def url(self) -> str:
        """The URL that a script gives."""
        return f"jdbc:redshift://{LOOPBACK}:{self.port}/{self.database}?ssl=false"

    @property
    def options(self) -> dict[str, str]:
        """What a script gives to reach it."""
        return {"url": self.url, "user": self.user, "password": "secret"}

    def sql(self, statement: str) -> list[Any]:
        """Ask the database behind it."""
        with psycopg.connect(self.postgresql) as connection:
            done = connection.execute(statement)
            return done.fetchall() if done.description else []


@contextmanager
def redshift_server(postgresql: str, s3: str) -> Iterator[RedshiftServer]:
    """Run a stand-in over an empty database of a PostgreSQL server.

    Args:
        postgresql: URL of the server.
        s3: URL of the S3 server.
    """
    with new_database(postgresql) as url:
        with psycopg.connect(url) as connection:
            connection.execute(_SETUP)
        server = RedshiftServer(url, s3)
        with socket.create_server((LOOPBACK, 0)) as listening:
            server.port = listening.getsockname()[1]
            accepting = threading.Thread(target=_accept, args=(listening, server), daemon=True)
            accepting.start()
            try:
                yield server
            finally:
                with suppress(OSError):
                    listening.shutdown(socket.SHUT_RDWR)
                accepting.join()


def _accept(listening: socket.socket, server: RedshiftServer) -> None:
    with suppress(OSError):
        while True:
            client, _ = listening.accept()
            threading.Thread(target=_serve, args=(client, server), daemon=True).start()


def _serve(client: socket.socket, server: RedshiftServer) -> None:
    with suppress(OSError, EOFError), client, _Backend(server.postgresql) as backend:
        _Conversation(client, backend, server).run()


def _exactly(source: socket.socket, count: int) -> bytes:
    taken = bytearray()
    while len(taken) < count:
        if not (more := source.recv(count - len(taken))):
            raise EOFError
        taken += more
    return bytes(taken)


def _message(source: socket.socket) -> tuple[bytes, bytes]:
    kind, length = struct.unpack("!ci", _exactly(source, 5))
    return kind, _exactly(source, length - 4)


def _packed(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


def _told(body: bytes) -> dict[str, str]:
    return {one[:1].decode(): one[1:].decode() for one in body.split(b"\0") if one}


class _Backend:
    """A connection with PostgreSQL."""

    def __init__(self, url: str) -> None:
        to = conninfo_to_dict(url)
        self.socket = socket.create_connection((str(to.get("host", LOOPBACK)), int(to.get("port", 5432))))
        given = {"user": to.get("user", "postgres"), "database": to["dbname"], "options": _OPTIONS}
        body = b"".join(f"{name}\0{value}\0".encode() for name, value in given.items()) + b"\0"
        self.socket.sendall(struct.pack("!ii", len(body) + 8, 196608) + body)
        self.status = b"I"
        self.relayed()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def relayed(self) -> list[tuple[bytes, bytes]]:
        """Return the messages until the server is ready."""
        taken = []
        while True:
            kind, body = _message(self.socket)
            taken.append((kind, body))
            if kind == b"Z":
                self.status = body
                return taken
            if kind == b"R" and body != b"\0\0\0\0":
                raise RuntimeError("the PostgreSQL behind the stand-in must trust its users")

    def ask(self, statement: str) -> tuple[list[tuple[str, int, int]], list[list[str | None]]]:
        """Return columns (name, type, modifier) and rows of a statement, as texts."""
        self.socket.sendall(_packed(b"Q", statement.encode() + b"\0"))
        columns: list[tuple[str, int, int]] = []
        rows: list[list[str | None]] = []
        for kind, body in self._without_error():
            if kind == b"T":
                columns = _described(body)
            elif kind == b"D":
                rows.append(_texts(body))
        return columns, rows

    def load(self, table: str, lines: bytes) -> None:
        """Append lines in PostgreSQL's own text format."""
        self.socket.sendall(_packed(b"Q", f"COPY {table} FROM STDIN\0".encode()))
        kind, body = _message(self.socket)
        if kind == b"G":
            self.socket.sendall(_packed(b"d", lines) + _packed(b"c", b""))
            self._without_error()
        else:
            self.relayed()
            raise Refusal(_told(body)["C"], _told(body)["M"])

    def _without_error(self) -> list[tuple[bytes, bytes]]:
        taken = self.relayed()
        for kind, body in taken:
            if kind == b"E":
                raise Refusal(_told(body)["C"], _told(body)["M"])
        return taken


def _described(body: bytes) -> list[tuple[str, int, int]]:
    (count,), at, found = struct.unpack_from("!h", body), 2, []
    for _ in range(count):
        end = body.index(b"\0", at)
        _, _, oid, _, modifier, _ = struct.unpack_from("!ihihih", body, end + 1)
        found.append((body[at:end].decode(), oid, modifier))
        at = end + 19
    return found


def _texts(body: bytes) -> list[str | None]:
    (count,), at, found = struct.unpack_from("!h", body), 2, []
    for _ in range(count):
        (length,) = struct.unpack_from("!i", body, at)
        at += 4
        found.append(None if length < 0 else body[at : at + length].decode())
        at += max(length, 0)
    return found


@dataclass
class _Conversation:
    client: socket.socket
    backend: _Backend
    server: RedshiftServer
    prepared: dict[bytes, str] = field(default_factory=dict)
    unloaded: int = 0

    def run(self) -> None:
        self._greet()
        while True:
            messages = []
            while not messages or messages[-1][0] != b"S":
                messages.append(_message(self.client))
                if messages[-1][0] == b"X":
                    return
            self._answer(messages)

    def _greet(self) -> None:
        while True:
            (length,) = struct.unpack("!i", _exactly(self.client, 4))
            body = _exactly(self.client, length - 4)
            if struct.unpack_from("!i", body)[0] != 80877103:
                break
            self.client.sendall(b"N")
        given = body[4:].split(b"\0")
        self.client.sendall(_packed(b"R", b"\0\0\0\0"))
        named = dict(zip(given[::2], given[1::2], strict=False))
        if named.get(b"user") != self.server.user.encode():
            self._refuse(Refusal("28000", "password authentication failed"))
            raise EOFError
        if (asked := named.get(b"database", b"").decode()) != self.server.database:
            self._refuse(Refusal("3D000", f'database "{asked}" does not exist'))
            raise EOFError
        for name, value in (("client_encoding", "UTF8"), ("server_version", "8.0.2"), ("server_protocol_version", "0")):
            self.client.sendall(_packed(b"S", f"{name}\0{value}\0".encode()))
        self.client.sendall(_packed(b"K", b"\0" * 8) + _packed(b"Z", b"I"))

    def _answer(self, messages: list[tuple[bytes, bytes]]) -> None:
        executed = ""
        forwarded = b""
        try:
            for kind, body in messages:
                if kind == b"P":
                    name, statement, rest = body.split(b"\0", 2)
                    made = self._parsed(statement.decode(), rest)
                    self.prepared[name] = statement.decode()
                    forwarded += _packed(b"P", name + b"\0" + made.encode() + b"\0" + rest)
                else:
                    if kind == b"B":
                        executed = self.prepared.get(body.split(b"\0", 2)[1], "")
                    forwarded += _packed(kind, body)
        except Refusal as refusal:
            if self.backend.status == b"T":
                with suppress(Refusal):
                    self.backend.ask("SELECT redshift_abort()")
            self._refuse(refusal)
            self.client.sendall(_packed(b"Z", self.backend.status))
            return
        self.backend.socket.sendall(forwarded)
        answers = b"".join(_packed(kind, body) for kind, body in self.backend.relayed())
        if executed and self.server.cut(executed):
            raise EOFError
        self.client.sendall(answers)

    def _refuse(self, refusal: Refusal) -> None:
        body = f"SERROR\0C{refusal.state}\0M{refusal}\0\0".encode()
        self.client.sendall(_packed(b"E", body))

    def _parsed(self, statement: str, rest: bytes) -> str:
        """Return PostgreSQL's statement for one of Redshift."""
        self.server.statements.append(statement)
        (count,) = struct.unpack_from("!h", rest)
        unknown = set(struct.unpack_from(f"!{count}i", rest, 2)) - _BINDABLE
        if unknown:
            raise Refusal("42804", f"the stand-in does not know the types {unknown} of values")
        if statement.startswith(("COPY", "UNLOAD")) and self.backend.status == b"E":
            raise Refusal("25P02", "current transaction is aborted, commands ignored until end of transaction block")
        if statement.startswith("COPY"):
            self._copy(statement)
            return "DO 'BEGIN END'"
        if statement.startswith("UNLOAD"):
            self.unloaded = self._unload(statement)
            return "DO 'BEGIN END'"
        if statement == "SELECT pg_last_unload_count()":
            return f"SELECT {self.unloaded}::bigint"
        return _translated(statement)

    def _copy(self, statement: str) -> None:
        found = _COPY.fullmatch(statement)
        if found is None:
            raise Refusal("42601", "syntax error in COPY")
        if found["key"] not in {None, "testing"}:
            raise Refusal("XX000", "S3ServiceException: Access Denied, Status 403")
        columns = self._columns(found["table"])
        listing = json.loads(self._object(found["manifest"]))
        for entry in listing["entries"]:
            content = self._object(entry["url"])
            if entry["meta"]["content_length"] != len(content):
                raise Refusal("XX000", f"Spectrum Scan Error: {entry['url']} has another size than the manifest says")
            table = parquet.read_table(pa.BufferReader(content), coerce_int96_timestamp_unit="us")
            physical = parquet.read_schema(pa.BufferReader(content))
            _require_fit(table, physical, columns, parquet.ParquetFile(pa.BufferReader(content)).schema)
            self.backend.load(found["table"], _lines(table))

    def _columns(self, table: str) -> list[tuple[str, str]]:
        asked = (
            "SELECT attname, pg_catalog.format_type(atttypid, atttypmod) FROM pg_attribute"
            f" WHERE attrelid = '{table}'::regclass AND attnum > 0 ORDER BY attnum"
        )
        return [(str(name), str(kind)) for name, kind in self.backend.ask(asked)[1]]

    def _unload(self, statement: str) -> int:
        found = _UNLOAD.fullmatch(statement)
        if found is None:
            raise Refusal("42601", "syntax error in UNLOAD")
        query = re.sub(r"\\(.)", r"\1", found["query"].replace("''", "'"), flags=re.DOTALL)
        columns, rows = self.backend.ask(_translated(query))
        if refused := [name for name, oid, _ in columns if oid in {17, 1083, 1266}]:
            raise Refusal("0A000", f"UNLOAD to Parquet does not support the type of column {refused[0]}")
        entries = []
        for part in range(SLICES):
            some = rows[part::SLICES]
            if not some:
                continue
            sink = pa.BufferOutputStream()
            parquet.write_table(_typed(columns, some), sink)
            content = sink.getvalue().to_pybytes()
            url = f"{found['to']}{part:04d}_part_00.parquet"
            self._put(url, content)
            entries.append({"url": url, "meta": {"content_length": len(content), "record_count": len(some)}})
        if entries:
            self._put(f"{found['to']}manifest", json.dumps({"entries": entries}).encode())
        return len(rows)

    @property
    def _s3(self) -> Any:
        return boto3.client("s3", endpoint_url=self.server.s3, region_name="us-east-1")

    def _object(self, url: str) -> bytes:
        at = urlsplit(url)
        client = self._s3
        try:
            content: bytes = client.get_object(Bucket=at.netloc, Key=at.path[1:])["Body"].read()
        except client.exceptions.NoSuchKey:
            raise Refusal("XX000", f"S3ServiceException: The specified key does not exist, {url}") from None
        return content

    def _put(self, url: str, content: bytes) -> None:
        at = urlsplit(url)
        self._s3.put_object(Bucket=at.netloc, Key=at.path[1:], Body=content)


def _translated(statement: str) -> str:
    pieces = re.split(r"('(?:[^'\\]|\\.|'')*'|\"(?:[^\"]|\"\")*\")", statement)
    bare = " ".join(pieces[::2])
    for refused in _REFUSED:
        if found := re.search(refused, bare, re.IGNORECASE | re.DOTALL):
            raise Refusal("0A000", f"Redshift does not have {found[0].strip()!r}")
    for n in range(0, len(pieces), 2):
        for pattern, replaced in _REWRITTEN:
            pieces[n] = re.sub(pattern, replaced, pieces[n], flags=re.IGNORECASE)
    return "".join(pieces)


def _require_fit(
    table: pa.Table, schema: pa.Schema, columns: Sequence[tuple[str, str]], physical: parquet.ParquetSchema
) -> None:
    if table.num_columns != len(columns):
        raise Refusal(
            "XX000", f"Unmatched number of columns between table ({len(columns)}) and file ({table.num_columns})"
        )
    for n, ((name, kind), given) in enumerate(zip(columns, schema, strict=True)):
        if not _fits(kind, given.type, physical.column(n).physical_type):
            raise Refusal(
                "XX000", f"Spectrum Scan Error: {name} {kind} has an incompatible Parquet schema {given.type}"
            )
        if kind.startswith("character varying("):
            most = int(re.sub(r"\D", "", kind))
            lengths = pc.binary_length(table.column(n))
            if (longest := pc.max(lengths).as_py() or 0) > most:
                raise Refusal("XX000", f"Spectrum Scan Error: the length {longest} of column {name} exceeds {most}")
            if pc.any(pc.match_substring(table.column(n), "\0")).as_py():
                raise Refusal("XX000", f"Spectrum Scan Error: {name} has a NUL character")


def _fits(kind: str, given: pa.DataType, physical: str) -> bool:
    base = kind.partition("(")[0]
    match base:
        case "numeric":
            return pa.types.is_decimal(given) and f"numeric({given.precision},{given.scale})" == kind
        case "timestamp without time zone":
            return pa.types.is_timestamp(given) and physical in {"INT96", "INT64"}
    wanted: Mapping[str, pa.DataType] = {
        "integer": pa.int32(), "bigint": pa.int64(), "real": pa.float32(), "double precision": pa.float64(),
        "boolean": pa.bool_(), "date": pa.date32(), "character varying": pa.string(), "bytea": pa.binary(),
    }  # fmt: skip
    return wanted.get(base) == given


def _lines(table: pa.Table) -> bytes:
    """Return rows in PostgreSQL's own text format."""
    columns = [_line_texts(column) for column in table.columns]
    return "".join("\t".join(row) + "\n" for row in zip(*columns, strict=True)).encode()


def _line_texts(column: pa.ChunkedArray) -> list[str]:
    if pa.types.is_binary(column.type):
        return ["\\N" if value is None else f"\\\\x{value.hex()}" for value in column.to_pylist()]
    texts = (value if value is None else str(value) for value in pc.cast(column, pa.string()).to_pylist())
    if pa.types.is_floating(column.type):
        texts = (value if value is None else repr(value) for value in column.to_pylist())
    escaped = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
    pattern = re.compile(r"[\\\t\n\r]")
    return ["\\N" if text is None else pattern.sub(lambda found: escaped[found[0]], text) for text in texts]


def _typed(columns: Sequence[tuple[str, int, int]], rows: Sequence[Sequence[str | None]]) -> pa.Table:
    """Return texts of PostgreSQL as columns of the types that UNLOAD writes."""
    arrays = []
    for n, (_, oid, modifier) in enumerate(columns):
        texts = [row[n] for row in rows]
        if oid == 16:
            arrays.append(pa.array([None if text is None else text == "t" for text in texts], pa.bool_()))
        elif oid == 1700:
            digits = ((modifier - 4) >> 16 & 0xFFFF, (modifier - 4) & 0xFFFF) if modifier > 0 else (38, 0)
            arrays.append(pc.cast(pa.array(texts, pa.string()), pa.decimal128(*digits)))
        elif oid == 1184:
            arrays.append(pc.cast(pa.array([text and text.removesuffix("+00") for text in texts]), _ARROW[oid]))
        else:
            arrays.append(pc.cast(pa.array(texts, pa.string()), _ARROW.get(oid, pa.string())))
    return pa.table(arrays, names=[name for name, _, _ in columns])
