"""Runs the job on a file of its own. `pip install pytest`, then `pytest`."""

from gluepot.testing import assert_frames_equal

LINES = '{"order_id": 1, "country": "DE", "price": 1.5}\n{"order_id": 2, "country": "FR", "price": "12.0"}\n'


def test_prices_are_numbers(run_glue_job, glue_context, tmp_path):
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "orders.jsonl").write_text(LINES)
    run_glue_job(
        "job.py",
        {"JOB_NAME": "test", "input_path": str(tmp_path / "input"), "output_path": str(tmp_path / "orders")},
    )
    written = glue_context.spark_session.read.parquet(str(tmp_path / "orders"))
    expected = [{"order_id": 1, "country": "DE", "price": 1.5}, {"order_id": 2, "country": "FR", "price": 12.0}]
    assert_frames_equal(written, expected, keys=["order_id"])
