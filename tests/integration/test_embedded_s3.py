"""The S3 emulator of `gluepot up s3` and `gluepot serve --dev`, as clients see it."""

import boto3
import pytest

from gluepot.core.errors import ConfigError
from gluepot.servers.s3 import S3Server


def test_a_bucket_takes_objects_and_is_made_once(tmp_path, aws_credentials):
    with S3Server(tmp_path) as server:
        server.make_bucket("data")
        server.make_bucket("data")
        s3 = boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")
        s3.put_object(Bucket="data", Key="a", Body=b"text")
        assert s3.get_object(Bucket="data", Key="a")["Body"].read() == b"text"
        assert [one["Name"] for one in s3.list_buckets()["Buckets"]] == ["data"]
        with pytest.raises(ConfigError, match="'L' is no name for a bucket; use 3 to 63 lower-case letters"):
            server.make_bucket("L")
