"""Event logs on S3: what Spark writes on this machine is copied there, and from there to the history server's machine."""

import pytest

from gluepot.core.storage import open_source, open_storage
from gluepot.job.event_logs import Upload, event_log
from gluepot.servers.log_mirror import Mirror


@pytest.fixture
def folders(tmp_path):
    made = [tmp_path / name for name in ("spark", "bucket", "history")]
    for one in made:
        one.mkdir()
    return made


def files(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_logs_that_grow_and_get_other_names_are_the_same_in_the_bucket_and_beside_the_history_server(folders):
    spark, bucket, history = folders
    upload, mirror = Upload(spark, open_storage(str(bucket))), Mirror(open_source(str(bucket)), history)
    rolling = spark / "eventlog_v2_app-1"
    rolling.mkdir()
    events = rolling / "events_1_app-1"
    (rolling / "appstatus_app-1.inprogress").touch()
    (bucket / "of-another-run").write_text("other")
    for text in ("a", "a", "ab"):
        events.write_text(text)
        (spark / ".events_1_app-1.crc").write_text("Spark's own")
        for one in (upload, mirror):
            one.refresh()
        there = {"eventlog_v2_app-1/events_1_app-1": text, "eventlog_v2_app-1/appstatus_app-1.inprogress": ""}
        assert files(bucket) == files(history) == {**there, "of-another-run": "other"}
    (rolling / "appstatus_app-1.inprogress").rename(rolling / "appstatus_app-1")
    for one in (upload, mirror):
        one.refresh()
    there = {"eventlog_v2_app-1/events_1_app-1": "ab", "eventlog_v2_app-1/appstatus_app-1": ""}
    assert files(bucket) == files(history) == {**there, "of-another-run": "other"}


def test_a_new_mirror_removes_what_is_gone(folders):
    _, bucket, history = folders
    (bucket / "log").write_text("new")
    (history / "log").write_text("old")
    (history / "gone").write_text("old")
    Mirror(open_source(str(bucket)), history).refresh()
    assert files(history) == {"log": "new"}


def test_a_folder_on_this_machine_is_made_for_spark_itself(tmp_path):
    with event_log(str(tmp_path / "new" / "logs")) as folder:
        assert folder == str(tmp_path / "new" / "logs")
        assert (tmp_path / "new" / "logs").is_dir()
