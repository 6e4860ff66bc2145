"""Runs the job on recorded batches; needs no broker. `pip install pytest`, then `pytest`."""

from gluepot.testing import assert_frames_equal

FIRST = [{"order_id": 1, "country": "DE", "price": 1.5}, {"order_id": 2, "country": "FR", "price": "12.0"}]
SECOND = [{"order_id": 3, "country": "DE", "price": 2}]


def test_prices_of_all_batches_are_numbers(run_glue_job, glue_context, tmp_path):
    run_glue_job(
        "job.py", {"JOB_NAME": "orders", "output_path": str(tmp_path / "orders")}, streams={"orders": [FIRST, SECOND]}
    )
    written = glue_context.spark_session.read.parquet(str(tmp_path / "orders"))
    expected = [
        {"order_id": 1, "country": "DE", "price": 1.5},
        {"order_id": 2, "country": "FR", "price": 12.0},
        {"order_id": 3, "country": "DE", "price": 2.0},
    ]
    assert_frames_equal(written, expected, keys=["order_id"])
