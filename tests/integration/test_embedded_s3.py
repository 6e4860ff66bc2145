"""The S3 emulator of `gluepot up s3` and `gluepot serve --dev`, as clients see it."""

import boto3
import pytest

from gluepot.core.errors import ConfigError
from gluepot.servers.s3 import S3Server, make_bucket


def test_a_bucket_takes_objects_and_is_made_once(tmp_path, aws_credentials):
    with S3Server(tmp_path) as server:
        server.make_bucket("data")
        server.make_bucket("data")
        s3 = boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")
        s3.put_object(Bucket="data", Key="a", Body=b"text")
        assert s3.get_object(Bucket="data", Key="a")["Body"].read() == b"text"
        assert [one["Name"] for one in s3.list_buckets()["Buckets"]] == ["data"]


@pytest.mark.parametrize("name", ["Lake", "l", "a/b", "-a-"])
def test_a_name_that_s3_would_refuse_is_refused(name):
    with pytest.raises(ConfigError, match=f"'{name}' is not a valid bucket name; use 3 to 63 lower-case letters"):
        make_bucket(1, name)
