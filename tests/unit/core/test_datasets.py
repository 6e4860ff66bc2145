import pytest

from gluepot.core.datasets import Dataset, folder_dataset, stream_dataset, table_dataset, topic_dataset


@pytest.mark.parametrize(
    ("url", "dataset"),
    [
        ("s3://lake/clicks/daily/", Dataset("s3://lake", "clicks/daily")),
        ("s3://lake", Dataset("s3://lake", "/")),
        ("/data/clicks", Dataset("file", "/data/clicks")),
        ("file:///data/clicks", Dataset("file", "/data/clicks")),
    ],
)
def test_a_folder_is_named_by_its_store_and_its_path(url, dataset):
    assert folder_dataset(url) == dataset


@pytest.mark.parametrize("bootstrap", ["b1:9092", "b1:9092,b2:9092", "b1", "PLAINTEXT://b1:9092, b2:9092"])
def test_a_topic_is_named_by_the_first_of_its_brokers(bootstrap):
    assert topic_dataset(bootstrap, "clicks") == Dataset("kafka://b1:9092", "clicks")


def test_a_stream_is_named_by_its_service():
    host = "kinesis.eu-west-1.amazonaws.com"
    assert stream_dataset(host, "clicks") == Dataset(f"kinesis://{host}", "clicks")


@pytest.mark.parametrize(
    ("url", "table", "dataset"),
    [
        ("jdbc:postgresql://db:5433/shop", "orders", Dataset("postgres://db:5433", "shop.public.orders")),
        (
            "postgresql://ann:secret@db/shop?sslmode=require",
            "sales.orders",
            Dataset("postgres://db:5432", "shop.sales.orders"),
        ),
        ("jdbc:mysql://db/shop?user=ann&password=secret", "orders", Dataset("mysql://db:3306", "shop.orders")),
        (
            "jdbc:sqlserver://db:1433;databaseName=shop;password=secret",
            "orders",
            Dataset("sqlserver://db:1433", "shop.dbo.orders"),
        ),
    ],
)
def test_a_table_is_named_without_secrets(url, table, dataset):
    named = table_dataset(url, table)
    assert named == dataset
    assert "secret" not in f"{named}"
