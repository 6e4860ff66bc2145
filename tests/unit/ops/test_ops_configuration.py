from __future__ import annotations

import pytest

from gluepot.core.masking import mask
from gluepot.ops.configuration import arguments_by_name


def test_arguments_are_shown_by_name():
    given = ["--JOB_NAME", "clicks", "--path=/data/a", "--enable-metrics", "--rest", "a", "b"]
    assert arguments_by_name(given) == {"JOB_NAME": "clicks", "path": "/data/a", "enable-metrics": "", "rest": "a b"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("db_password", "hunter2"),
        ("options", '{"user": "etl", "password": "hunter2 and more"}'),
        ("options", "user=etl,password=hunter2"),
        ("url", "jdbc:postgresql://etl:hunter2@db/shop"),
        ("conf", {"spark.hadoop.fs.s3a.secret.key": "hunter2"}),
        ("list", ["--password=hunter2"]),
    ],
)
def test_no_secret_is_shown_wherever_it_stands(name, value):
    assert "hunter2" not in str(mask({name: value}))


def test_what_is_no_secret_is_shown_as_it_is():
    plain = {"path": "s3://bucket/day=2024-01-01", "window": "10 seconds", "cores": 4, "at": "localhost:9092"}
    assert mask(plain) == plain
