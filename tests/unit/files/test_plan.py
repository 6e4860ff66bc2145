from __future__ import annotations

import pytest

from gluepot.connectors.files.source.log_lines import log_lines
from gluepot.connectors.files.source.plan import PlanOptions, Verdict, plan, plan_range
from gluepot.connectors.files.source.versions import FilesState, FileVersion, state_body, state_of
from gluepot.core.errors import CheckpointError

ROOT = "s3://lake/clicks"
MINUTE_US = 60_000_000
T = 1_700_000_000_000_000
NOTHING = FilesState()
GLUES = PlanOptions()


def file(name: str, mtime_us: int = T, size_bytes: int = 10, etag: str = "e", partition: str = "day=1") -> FileVersion:
    return FileVersion(ROOT, f"{ROOT}/{partition}" if partition else ROOT, name, size_bytes, mtime_us, etag)


def read(*files: FileVersion, started_us: int = T) -> FilesState:
    return state_of([state_body(files, started_us, {})])


def verdicts(listing, state, options=GLUES):
    made = plan(listing, state, options, T, keep_judged=True)
    return {file.name: verdict for file, verdict in made.judged}


def test_everything_is_new_at_first():
    made = plan([file("a"), file("b")], NOTHING, GLUES, T)
    assert [one.name for one in made.files] == ["a", "b"]


def test_a_version_that_was_read_is_skipped():
    assert verdicts([file("a")], read(file("a"))) == {"a": Verdict.ALREADY_READ}


def test_a_file_overwritten_in_place_is_read_again():
    before = file("a")
    for change in (file("a", etag="f"), file("a", size_bytes=11), file("a", mtime_us=T + 1)):
        assert verdicts([change], read(before)) == {"a": Verdict.OVERWRITTEN}


def test_a_new_file_with_the_very_time_of_one_that_was_read_is_read():
    assert verdicts([file("a"), file("b")], read(file("a"))) == {"a": Verdict.ALREADY_READ, "b": Verdict.NEW}


def test_a_late_file_that_glue_would_miss_is_counted_and_read():
    late = file("late", mtime_us=T - 16 * MINUTE_US)
    assert verdicts([late], read(file("a"))) == {"late": Verdict.LATE}
    assert plan([late], read(file("a")), GLUES, T).files == (late,)


def test_a_file_in_the_band_is_not_called_late():
    assert verdicts([file("b", mtime_us=T - 14 * MINUTE_US)], read(file("a"))) == {"b": Verdict.NEW}


def test_a_file_dated_in_the_future_is_read_once():
    ahead = file("ahead", mtime_us=T + 3600 * 1_000_000)
    assert verdicts([ahead], NOTHING) == {"ahead": Verdict.NEW}
    assert verdicts([ahead], read(ahead)) == {"ahead": Verdict.ALREADY_READ}


def test_beyond_the_look_back_window_a_late_file_waits_for_a_wider_one():
    old = file("old", mtime_us=T - 120 * MINUTE_US)
    state = read(file("a"))
    assert verdicts([old], state, PlanOptions(look_back_ms=3_600_000)) == {"old": Verdict.TOO_LATE}
    assert verdicts([old], state, PlanOptions(look_back_ms=3 * 3_600_000)) == {"old": Verdict.LATE}


def test_the_look_back_window_does_not_concern_a_new_folder():
    old = file("old", mtime_us=T - 120 * MINUTE_US, partition="day=2")
    assert verdicts([old], read(file("a")), PlanOptions(look_back_ms=1)) == {"old": Verdict.NEW}


def test_a_full_band_defers_the_newest_files():
    listing = [file("c", T + 2), file("a", T), file("b", T + 1), file("old", T - 60 * MINUTE_US)]
    made = plan(listing, NOTHING, PlanOptions(max_files_in_band=2), T + 3)
    assert [one.name for one in made.files] == ["old", "a", "b"]
    assert made.counts[Verdict.BAND_FULL] == 1


def test_bounds_defer_the_newest_files():
    listing = [file("c", T + 2), file("a", T), file("b", T + 1)]
    assert [one.name for one in plan(listing, NOTHING, PlanOptions(bounded_files=2), T).files] == ["a", "b"]
    assert [one.name for one in plan(listing, NOTHING, PlanOptions(bounded_size_bytes=25), T).files] == ["a", "b"]


def test_a_file_larger_than_the_bound_is_read_alone():
    listing = [file("huge", size_bytes=1000), file("b", T + 1)]
    assert [one.name for one in plan(listing, NOTHING, PlanOptions(bounded_size_bytes=25), T).files] == ["huge"]


def test_the_same_ctx_over_another_path_reads_that_path_whole():
    elsewhere = FileVersion("s3://lake/other", "s3://lake/other", "a", 10, T - 60 * MINUTE_US, "e")
    assert verdicts([elsewhere], read(file("a"))) == {"a": Verdict.NEW}


def test_a_state_survives_the_way_through_text():
    hostile = file('a:b"\n ü\udc80', partition="day=50%25")
    assert state_of([state_body([hostile], T, {})]).holds(hostile)


def test_states_add_up_as_their_bodies_do():
    bodies = [state_body([file("a")], T, {}), state_body([file("b")], T + 5, {})]
    both = state_of(bodies)
    assert both == state_of(bodies[:1]).and_then(state_of(bodies[1:]))
    assert both.started_us == T + 5


def test_a_range_of_runs_holds_what_they_read_and_nothing_else():
    after, upto = read(file("a")), read(file("a"), file("b"))
    made = plan_range([file("a"), file("b"), file("c")], after, upto)
    assert [one.name for one in made.files] == ["b"]


def test_the_digest_knows_the_input_and_not_its_order():
    one, two = file("a"), file("b")
    assert plan([one, two], NOTHING, GLUES, T).digest == plan([two, one], NOTHING, GLUES, T).digest
    assert plan([one], NOTHING, GLUES, T).digest != plan([two], NOTHING, GLUES, T).digest


def lines(listing, state):
    return [line.text for line in log_lines(plan(listing, state, GLUES, T))]


def test_the_log_has_glues_lines_for_a_partition_in_part_new():
    old = [file(f"old-{n}") for n in range(32)]
    new = [file(f"new-{n}", T + 1) for n in range(15)]
    partition = "in partition DynamicFramePartition(s3://lake/clicks/day=1)"
    assert lines(old + new, read(*old)) == [
        f"After initial job bookmarks filter, processing 31.91% of 47 files {partition}",
        f"After final job bookmarks filter, processing 100.00% of 15 files {partition}",
    ]


def test_the_log_has_glues_line_for_a_skipped_partition():
    idle = file("a", partition="year=2019/month=03")
    values, place = '{"year": "2019", "month": "03"}', "s3://lake/clicks/year=2019/month=03/"
    skipped = f"Skipping Partition {values} has no new files detected @ {place} or path does not exist"
    assert lines([idle], read(idle)) == [skipped]


def test_the_log_has_glues_line_for_a_new_partition():
    new = [file(f"{n}", partition="year=2020") for n in range(47)]
    found = "Found new partition DynamicFramePartition(s3://lake/clicks/year=2020) with 47 files"
    assert found in lines(new, NOTHING)


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"kind": "jdbc", "version": 1}', '{"kind": "files", "version": 9}'])
def test_a_state_of_another_kind_or_version_is_named(body):
    with pytest.raises(CheckpointError, match="reset it"):
        state_of([body])
