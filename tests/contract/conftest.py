"""What the suites of several contracts share: a bucket, databases, and a package that adds connection types."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import boto3
import pytest

from gluepot.connectors import registry
from tests.postgresql import new_database
from tests.redshift import RedshiftServer, redshift_server

ADDED_CONNECTOR = Path(__file__).parents[1] / "added_connector"


@pytest.fixture(scope="module")
def s3_url(kinesis: str) -> Iterator[str]:
    """The URL of an empty bucket, which the server that plays Kinesis holds."""
    bucket = f"contract-{uuid4().hex[:8]}"
    with pytest.MonkeyPatch.context() as environment:
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "AWS_DEFAULT_REGION"):
            environment.delenv(name, raising=False)
        environment.setenv("AWS_ENDPOINT_URL", kinesis)
        environment.setenv("AWS_REGION", "us-east-1")
        boto3.client("s3", endpoint_url=kinesis, region_name="us-east-1").create_bucket(Bucket=bucket)
        yield f"s3://{bucket}"


@pytest.fixture(scope="module")
def redshift(postgresql: str, kinesis: str) -> Iterator[RedshiftServer]:
    """A stand-in for Redshift, with an empty database."""
    with redshift_server(postgresql, kinesis) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database, of each kind that may hold what Gluepot keeps."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/kept.db"
        return
    with new_database(request.getfixturevalue("postgresql")) as made:
        yield made


@pytest.fixture(scope="module")
def added_connector() -> Iterator[None]:
    """The package of tests/added_connector, as if it were installed; its types are looked up by entry point."""
    caches = (registry._entry_points, registry._loaded)
    sys.path.insert(0, str(ADDED_CONNECTOR))
    for cache in caches:
        cache.cache_clear()
    yield
    sys.path.remove(str(ADDED_CONNECTOR))
    for cache in caches:
        cache.cache_clear()
