"""State that all threads of a script share: each test makes two threads meet in the middle of a change."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict

from gluepot.bookmarks import jobrun
from gluepot.catalog import connect as catalog
from gluepot.connectors.kafka import reader
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.values import SourceRange
from gluepot.core.clock import SystemClock
from gluepot.engine import row_folders
from gluepot.engine.row_files import RowFile
from gluepot.evaluation.history import connect as history
from gluepot.streaming.query import session
from tests.meeting import Meeting, at_once


def test_two_reads_of_one_ctx_have_a_bookmark_each():
    meet = Meeting()

    class Met(Counter):
        def __getitem__(self, name):
            count = super().__getitem__(name)
            meet()
            return count

    marks = jobrun.Bookmarks(None, None, None)
    marks._named = Met()

    assert sorted(at_once(lambda: marks.next_read("a"), lambda: marks.next_read("a"))) == ["a", "a.2"]


def test_a_run_ends_once_whoever_commits_it(monkeypatch):
    run = jobrun.JobRun("copy", "jr_1")
    monkeypatch.setattr(jobrun, "_current", run)
    committing = threading.Thread(target=jobrun.commit)

    with jobrun._beginning:  # another thread begins or ends a run
        committing.start()
        committing.join(0.05)
        assert jobrun.current() is run

    committing.join()
    assert jobrun.current() is None


def test_databases_are_brought_up_to_date_although_threads_open_several_at_once(tmp_path):
    clock = SystemClock()
    urls = [f"sqlite:///{tmp_path}/{number}.db" for number in range(4)]

    at_once(
        *(lambda url=url: catalog.open_catalog(url, clock) for url in urls[:2]),
        *(lambda url=url: history.shared_engine(url) for url in urls[2:]),
    )

    assert catalog.open_catalog(urls[0], clock).databases() is not None
    for url in urls[2:]:
        history._opened.pop(url).dispose()


def test_threads_share_one_catalog_of_a_url(tmp_path):
    url = f"sqlite:///{tmp_path}/catalog.db"

    first, second = at_once(*[lambda: catalog.shared_catalog(url, SystemClock())] * 2)

    assert first is second
    catalog._opened.pop(url)


def test_files_of_rows_are_added_while_others_are_removed(monkeypatch, tmp_path):
    meet, added = Meeting(), Meeting()

    class Met(dict):
        def __iter__(self):
            for path in super().__iter__():
                yield path
                meet()
                added()

    monkeypatch.setattr(row_folders, "_files", Met({f"{tmp_path}/a": None, f"{tmp_path}/b": None}))

    def add():
        meet()
        row_folders.add([RowFile("/elsewhere/c", 1, 1, ())])
        added()

    at_once(lambda: row_folders.remove(row_folders.RowFolders(str(tmp_path), None, 0)), add)

    assert list(dict.keys(row_folders._files)) == ["/elsewhere/c"]


class Resting:
    """A consumer without a broker."""

    def unassign(self):
        pass

    def close(self):
        pass


def test_kept_readers_change_hands_one_at_a_time(monkeypatch):
    meet, changed = Meeting(), Meeting()
    settings = KafkaReadSettings.from_options({"bootstrap.servers": "a:1", "topicName": "t"})
    wanted = SourceRange("kafka", "t", "id", "99", 0, 1)

    class Met(OrderedDict):
        def __iter__(self):
            keys = super().__iter__()
            meet()
            changed()
            return keys

    keys = [("a:1", "t", "id", False, str(number)) for number in range(reader.KEPT_CONSUMERS)]
    kept = Met((key, reader.PartitionReader(Resting(), "t", int(key[-1]))) for key in keys)
    monkeypatch.setattr(reader, "_readers", kept)

    def put_back():
        meet()
        reader._keep(kept, ("a:1", "t", "id", False, "100"), reader.PartitionReader(Resting(), "t", 100))
        changed()

    (_, taken), _ = at_once(lambda: reader._reader(settings, wanted), put_back)

    assert isinstance(taken, reader.PartitionReader)
    assert len(kept) <= reader.KEPT_CONSUMERS


def test_watchers_hear_of_the_batches_of_several_queries_one_at_a_time():
    meet, met = Meeting(), []
    streams = session.StreamSession(watchers=[lambda _: met.append(meet())])

    at_once(*[lambda: streams.committed(None, lambda _, tell: tell())] * 2)

    assert met == [False, False]
