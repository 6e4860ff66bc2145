"""For tests of Glue scripts: run one as a job, hand it recorded batches in place of a stream, compare frames.

With Gluepot installed, pytest has the fixtures `glue_context` and `run_glue_job`:

def test_prices_are_numbers(run_glue_job, glue_context, tmp_path):
    run_glue_job("job.py", {"output_path": tmp_path / "out"}, streams={"clicks": [[{"id": 1, "price": "2"}]]})
    found = glue_context.spark_session.read.parquet(str(tmp_path / "out"))
    assert_frames_equal(found, [{"id": 1, "price": 2.0}], keys=["id"])
"""

from gluepot.testing.compare import assert_frames_equal, difference
from gluepot.testing.jobs import GlueJobRunner, JobFailed, JobResult
from gluepot.testing.streams import Batch, Record

__all__ = ["Batch", "GlueJobRunner", "JobFailed", "JobResult", "Record", "assert_frames_equal", "difference"]
