from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from gluepot.core import logging
from gluepot.servers.kafka import KafkaBroker
from tests import processor_time
from tests.h2 import H2, h2_server
from tests.mariadb import mariadb_server
from tests.mongodb import mongodb_endpoint
from tests.moto_server import moto_endpoint
from tests.opensearch import opensearch_endpoint
from tests.planner_forks import python_with_forks
from tests.postgresql import postgresql_endpoint
from tests.servers import docker_answers, kafka_endpoint, localstack_in_container
from tests.shared_server import shared

if TYPE_CHECKING:
    from awsglue.context import GlueContext


FILE_SECS = json.loads((Path(__file__).parent / "data" / "file_secs.json").read_text())
"""How many seconds the tests of each file took when that was last recorded: `python -m scripts.test_times --record`."""

# Most of Spark's JVMs in the tests end after some twenty seconds, before the code of the optimising compiler pays for
# the processor time that it takes. With these options the tests of lakes need a quarter less of it.
# The start of a broker takes 3 seconds of it, not 5. On heaps as small as those of the tests, the serial collector takes
# a twentieth less of it than the default one, which works beside the program in threads of its own.
for _variable in ("SPARK_SUBMIT_OPTS", "KAFKA_JVM_PERFORMANCE_OPTS"):
    os.environ.setdefault(_variable, "-XX:+TieredCompilation -XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


def pytest_configure(config: pytest.Config) -> None:
    processor_time.register(config)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files that take long first, so that no process is left with one of them when the others are done.

    Tests of a file keep their order, and so do files that are not recorded; these come after the recorded ones.
    """
    items.sort(key=lambda item: -FILE_SECS.get(item.nodeid.partition("::")[0], 0))


# Property tests try the same examples in each run, so that a change never fails because of a fault that was there
# before. `make test-long` loads the profile "random" (`--hypothesis-profile`), which tries other and more examples.
# No profile limits how long an example takes: benchmarks measure speed, tests do not.
_untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", _untimed, derandomize=True)
settings.register_profile("random", _untimed, max_examples=1_000, print_blob=True)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def _logs_as_in_a_job() -> None:
    """Send logs where a job sends them, whatever tests before have left: `capture_logs` of structlog leaves stdout."""
    logging.configure(json=True)


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`host:port` of a real broker that all tests share, in all processes of a run."""
    base = tmp_path_factory.getbasetemp()
    # The folders of the processes of a run have one parent; without other processes the parent is that of all runs.
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with shared(folder / "kafka", kafka_endpoint) as bootstrap:
        yield bootstrap


@pytest.fixture
def own_kafka(tmp_path: Path) -> Iterator[KafkaBroker]:
    """A running embedded broker that the test may stop, kill and restart."""
    with KafkaBroker(tmp_path / "kafka") as broker:
        yield broker


@pytest.fixture(scope="session")
def aws_credentials() -> Iterator[None]:
    """Credentials in the environment, which no emulator checks; Spark's processes must find them when they start."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ACCESS_KEY_ID", "testing")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        yield


@pytest.fixture(scope="session")
def kinesis(aws_credentials: None) -> Iterator[str]:
    """URL of a Kinesis emulator that all tests share."""
    with moto_endpoint() as url:
        yield url


@pytest.fixture(scope="session")
def mongodb() -> Iterator[str]:
    """URI of a server of MongoDB's protocol that all tests share."""
    with mongodb_endpoint() as uri:
        yield uri


@pytest.fixture(scope="session")
def opensearch() -> Iterator[str]:
    """URL of an OpenSearch server that all tests share."""
    with opensearch_endpoint() as url:
        yield url


@pytest.fixture(scope="session")
def localstack(aws_credentials: None) -> Iterator[str]:
    """URL of LocalStack in a container; a test that asks for it is skipped where no Docker engine answers."""
    if not docker_answers():
        pytest.skip("LocalStack was not run: no Docker engine answers here")
    with localstack_in_container() as url:
        yield url


@pytest.fixture(scope="session")
def glue_context(aws_credentials: None) -> Iterator[GlueContext]:
    """The one Spark of this process; scripts run as jobs get their own."""
    from pyspark.sql import SparkSession

    from awsglue.context import GlueContext

    builder = SparkSession.builder.master("local[2]").config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.sql.shuffle.partitions", "2")
    with python_with_forks(dict(os.environ)) as python:
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("PYSPARK_PYTHON", python)
            spark = builder.getOrCreate()
        yield GlueContext(spark)


@pytest.fixture(scope="session")
def mariadb() -> Iterator[int]:
    """Port of a MariaDB server that all tests of a process share."""
    with mariadb_server() as port:
        yield port


@pytest.fixture(scope="session")
def h2() -> Iterator[H2]:
    """A server of H2 that all tests of a process share."""
    with h2_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """URL of a PostgreSQL server that all tests share."""
    with postgresql_endpoint() as url:
        yield url
