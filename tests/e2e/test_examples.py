"""Every script under `examples/`, not a line changed; `clickstream.py` has tests of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gluepot.testing import GlueJobRunner
from tests.duck import duck
from tests.e2e.jobs import EXAMPLES, arguments, column
from tests.job_host.client import hosted_python

ORDERS = [
    {"order_id": 1679931512485, "symbol": "AMZN", "instrument": "AMZN MAR 24 23 102 PUT", "currency": "usd", "price": 17.18, "exchange": "EDGX", "bought": [18, 38]},
    {"order_id": 1679931512487, "symbol": "BMW.DE", "instrument": "BMW.DE APR 28 23 101 CALL", "currency": "eur", "price": 14.71, "exchange": "XETR", "sold": [9, 59, 54]},
    {"order_id": 1679931512492, "symbol": "AMZN", "instrument": "AMZN MAY 26 23 95 CALL", "currency": "usd", "price": 11.44, "exchange": "EDGX", "sold": [41]},
]  # fmt: skip


@pytest.fixture
def run(tmp_path):
    return GlueJobRunner(tmp_path, python=hosted_python())


def lines(folder: Path, *documents) -> Path:
    folder.mkdir()
    texts = [one if isinstance(one, str) else json.dumps(one) for one in documents]
    (folder / "input.json").write_text("\n".join(texts) + "\n")
    return folder


def found(query: str) -> list[tuple]:
    return duck().sql(query).fetchall()


def test_option_orders(run, tmp_path):
    given = lines(tmp_path / "in", *ORDERS)

    run(EXAMPLES / "option_orders.py", {"input_path": given, "output_path": tmp_path / "out"})

    assert found(f"SELECT symbol, CALL, PUT FROM read_csv('{tmp_path}/out/summary/*') ORDER BY 1") == [
        ("AMZN", 41, 56),
        ("BMW.DE", 122, None),
    ]
    orders = f"SELECT contracts, expiration_date, total_usd FROM '{tmp_path}/out/orders/*.parquet' ORDER BY 1 LIMIT 2"
    assert found(orders) == [(9, "2023-APR-28", 144.31), (18, "2023-MAR-24", 309.24)]


def test_sales_by_day(run, tmp_path):
    given = {"output_path": tmp_path / "out"}

    run(EXAMPLES / "sales_by_day.py", given, transforms=EXAMPLES / "transforms")

    assert len(column(tmp_path / "out", "sale_date")) == 10_000
    assert column(tmp_path / "out", "DISTINCT year") == [2021]
    assert column(tmp_path / "out", "count(DISTINCT (month, day))") == [365]


def test_flights_csv(run, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    rows = ["year,carrier,dep_delay,distance,cancelled,comment", "2016,AA,5,733.5,false,", "2017,UA,late,100,true,fog"]
    (folder / "flights.csv").write_text("\n".join(rows) + "\n")

    run(EXAMPLES / "flights_csv.py", {"input_path": folder, "output_path": tmp_path / "out"})

    files = f"read_parquet('{tmp_path}/out/**/*.parquet', hive_partitioning=true)"
    asked = f"SELECT year, carrier, dep_delay_minutes, distance_miles, cancelled FROM {files} ORDER BY 1"
    assert found(asked) == [(2016, "AA", 5, 733.5, False), (2017, "UA", None, 100.0, True)]


def test_payments_cleaning(run, tmp_path):
    payments = [
        {"id": 1, "amount": "12.5", "card": "4111111111111111", "customer": {"name": "Ada", "country": "GB"}},
        {"id": 2, "amount": 2000, "card": "4111111111112222", "customer": {"name": "Bob", "country": "US"}},
        {"id": 3, "amount": -1, "card": "4111111111113333", "customer": {"name": "Eve", "country": "US"}},
        {"id": 4, "amount": 1, "card": "4111111111114444", "customer": {"name": "Mal", "country": "??"}},
        "{broken",
    ]

    job = run(
        EXAMPLES / "payments_cleaning.py",
        {"input_path": lines(tmp_path / "in", *payments), "output_path": tmp_path / "out"},
    )

    assert "4 payments, 1 lines that are none" in job.stdout
    asked = f"SELECT id, amount, card, country FROM '{tmp_path}/out/%s/*.parquet'"
    assert found(asked % "small") == [(1, 12.5, "************1111", "GB")]
    assert found(asked % "large") == [(2, 2000.0, "************2222", "US")]
    errors = found(f"SELECT error.msg FROM read_json('{tmp_path}/out/errors/*') ORDER BY 1")
    assert len(errors) == 2
    assert any("payment 4 has no country" in msg for (msg,) in errors)


def test_dynamodb_export(run, tmp_path):
    items = [
        {"Item": {"id": {"S": "a"}, "name": {"S": "Ada|L"}, "logins": {"N": "3"}, "active": {"BOOL": True}}},
        {"Item": {"id": {"S": "b"}, "name": {"S": "Bob"}, "logins": {"N": "1"}, "active": {"BOOL": False}}},
    ]
    given = lines(tmp_path / "in", *items)

    run(EXAMPLES / "dynamodb_export.py", {"input_path": given, "output_path": tmp_path / "out"})

    (file,) = [one for one in (tmp_path / "out").iterdir() if one.is_file()]
    assert file.read_text().splitlines() == ["id|name|logins", "a|'Ada|L'|3"]


def run_to_the_end(launch, script, **given):
    job = launch.hosted(
        "run", EXAMPLES / script, "--master", "local[2]", "--until-caught-up", "--", *arguments(**given)
    )
    assert job.exit_code() == 0, job.err


def test_sensor_alerts(launch, topic, tmp_path):
    readings = [("a", "hall", 21.5), ("b", "hall", 30.0), ("c", "cellar", 9.0), ("d", "attic", 40.25)]
    topic.send(json.dumps({"sensor": s, "room": r, "temperature": t}).encode() for s, r, t in readings)

    run_to_the_end(
        launch, "sensor_alerts.py", TempDir=tmp_path / "temp", JOB_NAME="sensors",
        bootstrap_servers=topic.bootstrap, topic=topic.name, output_path=tmp_path / "out",
    )  # fmt: skip

    asked = f"SELECT room, sum(alerts), max(highest) FROM '{tmp_path}/out/*.parquet' GROUP BY 1 ORDER BY 1"
    assert found(asked) == [("attic", 1, 40.25), ("hall", 2, 30.0)]


def test_orders_stream(launch, topic, tmp_path):
    changes = [(1, "new", "10:00", "5.00"), (1, "paid", "10:05", "5.00"), (2, "new", "11:00", "7.50")]
    topic.send(
        json.dumps({"order_id": n, "status": s, "updated_at": f"2026-01-02T{at}:00Z", "total": total}).encode()
        for n, s, at, total in changes
    )

    run_to_the_end(
        launch, "orders_stream.py", JOB_NAME="orders", checkpoint=tmp_path / "checkpoint", window_size="1 second",
        bootstrap_servers=topic.bootstrap, topic=topic.name, output_path=tmp_path / "out",
    )  # fmt: skip

    files = f"read_json('{tmp_path}/out/day=*/*/*', hive_partitioning=true)"
    asked = f"SELECT order_id, status, day, total FROM {files} ORDER BY 1"
    assert [(n, s, str(day), float(total)) for n, s, day, total in found(asked)] == [
        (1, "paid", "2026-01-02", 5.0),
        (2, "new", "2026-01-02", 7.5),
    ]
