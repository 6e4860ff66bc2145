"""The report on what the tests cost."""

from scripts.test_times import file_secs, lines, read

REPORT = """<testsuites><testsuite>
<testcase classname="tests.unit.files.test_source" name="test_a[x]" time="0.5" />
<testcase classname="tests.unit.test_disk" name="test_b" time="2.25"><skipped message="no disk" /></testcase>
<testcase classname="tests.e2e.test_job" name="test_c" time="100"><failure message="no">text</failure></testcase>
</testsuite></testsuites>"""


def test_the_report_adds_up_lanes_and_names_the_slowest_tests():
    assert lines(read(REPORT)) == [
        "lane           tests  skipped  failed     secs",
        "e2e                1        0       1      100",
        "unit               2        1       0        3",
        "all                3        1       1      103",
        "The 25 slowest tests:",
        "  100.0 s  tests/e2e/test_job.py::test_c",
        "    2.2 s  tests/unit/test_disk.py::test_b",
        "    0.5 s  tests/unit/files/test_source.py::test_a[x]",
    ]


def test_only_files_that_take_long_are_recorded():
    assert file_secs(read(REPORT)) == {"tests/e2e/test_job.py": 100}
