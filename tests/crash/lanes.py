"""The lanes of a run: where records come from, and where tables lie. Read here without the product's storage."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from tests.crash.database import Database, MariadbDatabase, PostgresqlDatabase
from tests.crash.s3_log import RequestLog
from tests.crash.streams import Server
from tests.mariadb import mariadb_server, new_schema
from tests.moto_server import moto_endpoint
from tests.postgresql import new_database, postgresql_endpoint

SOURCES: Mapping[str, Server] = {
    "local": "kafka",
    "s3": "kafka",
    "kinesis": "kinesis",
    "fan-out": "fan-out",
    "postgresql": "kafka",
    "mariadb": "kafka",
}
"""Of each lane. The tables of `s3`, `postgresql` and `mariadb` are on test servers, the others' on the local disk."""
BUCKET = "crash-lake"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "us-east-1"}


class Folder(Protocol):
    """A folder of a lane, as a reader sees it."""

    @property
    def url(self) -> str:
        """What the job is told."""

    def keys(self, below: str = "") -> list[str]:
        """Names of all files below a part of it, relative to the folder."""

    def fetch(self, key: str) -> Path:
        """A local file with the content; FileNotFoundError when it is not there any more."""

    def below(self, name: str) -> Folder:
        """A folder in it."""

    def anew(self) -> Folder:
        """The same folder as a reader sees it who has kept nothing."""


@dataclass(frozen=True)
class LocalFolder:
    path: Path

    @property
    def url(self) -> str:
        return str(self.path)

    def keys(self, below: str = "") -> list[str]:
        start = self.path / below
        # os.walk, because a folder may go while it is looked into.
        return sorted(
            Path(folder, name).relative_to(self.path).as_posix()
            for folder, _, names in os.walk(start)
            for name in names
        )

    def fetch(self, key: str) -> Path:
        path = self.path / key
        if not path.exists():
            raise FileNotFoundError(path)
        return path

    def below(self, name: str) -> LocalFolder:
        return LocalFolder(self.path / name)

    def anew(self) -> LocalFolder:
        return self


@dataclass(frozen=True)
class S3Folder:
    """A prefix on the S3 test server; fetched objects are kept in `cache`, as published objects never change."""

    client: Any
    prefix: str
    cache: Path
    _kept: dict[str, Path] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"s3://{BUCKET}/{self.prefix}"

    def keys(self, below: str = "") -> list[str]:
        pages = self.client.get_paginator("list_objects_v2").paginate(
            Bucket=BUCKET, Prefix=f"{self.prefix}/{below}".rstrip("/") + "/"
        )
        found = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
        return sorted(key.removeprefix(f"{self.prefix}/") for key in found)

    def fetch(self, key: str) -> Path:
        if key not in self._kept:
            path = self.cache / key
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                path.write_bytes(self.client.get_object(Bucket=BUCKET, Key=f"{self.prefix}/{key}")["Body"].read())
            except self.client.exceptions.NoSuchKey as gone:
                raise FileNotFoundError(key) from gone
            self._kept[key] = path
        return self._kept[key]

    def below(self, name: str) -> S3Folder:
        return S3Folder(self.client, f"{self.prefix}/{name}", self.cache / name)

    def anew(self) -> S3Folder:
        return S3Folder(self.client, self.prefix, self.cache.with_name(f"{self.cache.name}-anew"))


@dataclass(frozen=True)
class Lane:
    """One kind of place for tables.

    Args:
        name: one of `SOURCES`.
        output: the folder or database that a job's tables lie in.
        env: what a job needs in its environment.
        client: of the S3 server, or None.
        log: what the S3 server carried out, or None.
    """

    name: str
    output: LocalFolder | S3Folder | Database
    env: Mapping[str, str]
    client: Any = None
    log: RequestLog | None = None

    def pending_uploads(self) -> int:
        """Multipart uploads that were begun and neither completed nor given up."""
        if not isinstance(self.output, S3Folder):
            return 0
        return len(self.client.list_multipart_uploads(Bucket=BUCKET, Prefix=self.output.prefix).get("Uploads", []))


@contextmanager
def s3_client(endpoint: str) -> Iterator[Any]:
    import boto3
    from botocore.config import Config

    # Moto answers 500 to a listing during which a file is deleted; many jobs at once make that happen several times.
    patient = Config(retries={"mode": "standard", "total_max_attempts": 20})
    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name=CREDENTIALS["AWS_REGION"],
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        config=patient,
    )
    try:
        yield client
    finally:
        client.close()


@contextmanager
def open_lane(name: str, folder: Path) -> Iterator[Lane]:
    """A new, empty lane; `folder` is for what it keeps on this machine."""
    if name == "postgresql":
        with postgresql_endpoint() as server, new_database(server) as url:
            yield Lane(name, PostgresqlDatabase(url), {})
        return
    if name == "mariadb":
        with mariadb_server() as port, new_schema(port) as url:
            yield Lane(name, MariadbDatabase(url), {})
        return
    if name != "s3":
        yield Lane(name, LocalFolder(folder / "output"), {})
        return
    log = RequestLog()
    with moto_endpoint(log.around) as endpoint, s3_client(endpoint) as client:
        client.create_bucket(Bucket=BUCKET)
        env = {**CREDENTIALS, "AWS_ENDPOINT_URL": endpoint}
        # The servers of one process share what they hold, so every lane needs a prefix of its own.
        yield Lane("s3", S3Folder(client, f"{uuid4().hex[:8]}/output", folder / "fetched"), env, client, log)
