"""Texts that Spark reads as a date or time stamp by a pattern. `tests/spark/test_date_patterns_oracle.py` asks Spark itself."""

import pyarrow as pa
import pytest

from gluepot.quality.date_patterns import DatePatternError, date_pattern


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        (
            "dd/MM/yyyy",
            ["31/01/2024", "29/02/2024"],
            ["1/1/2024", "29/02/2023", "31/04/2024", "01/13/2024", "x", "", None],
        ),
        ("d.M.yy", ["1.2.24", "01.02.24"], ["0.1.24", "1.2.2024"]),
        ("yyyyMMdd", ["20240131"], ["2024131", "20240230"]),
        ("yyyy-MM-dd", ["+12024-01-01"], ["12024-01-01", " 2024-01-31"]),
        ("MMM d, yyyy", ["Jan 5, 2024", "JAN 05, 2024"], ["january 5, 2024"]),
        ("MMMM d", ["february 28"], ["february 29", "feb 1"]),  # a date without a year is one of 1970
        ("yyyy-DDD", ["2024-366", "2023-365"], ["2023-366", "2024-000"]),
        ("h:mm a", ["12:30 pm", "1:05 AM"], ["13:05 PM", "0:05 AM", "12:30"]),
        ("HH:mm a", ["13:05 PM"], ["13:05 AM"]),
        ("HH:mm:ss[.SSS]", ["23:59:59", "23:59:59.1"], ["24:00:00", "23:59:60", "23:59:59.1234", "23:59:59."]),
        ("yyyy-MM-dd'T'HH:mmXXX", ["2024-01-31T10:11Z", "2024-01-31T10:11+01:00"], ["2024-01-31T10:11+0100"]),
        ("''yy", ["'24"], ["24"]),
    ],
)
def test_texts_fit_as_spark_reads_them(pattern, fitting, others):
    texts = pa.array([*fitting, *others], pa.string())
    assert date_pattern(pattern).fits(texts).to_pylist() == [True] * len(fitting) + [False] * len(others)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("YYYY", "YYYY is not known"), ("EEE d", "EEE is not known"), ("yyyy G", "G is not known"),
        ("[yyyy", "its brackets do not pair"), ("yyyy]", "its brackets do not pair"),
        ("-", "it has no letter such as y"), ("yyyy yy", "it has the letter y in two places"),
    ],
)  # fmt: skip
def test_a_pattern_that_cannot_be_used_says_why(pattern, reason):
    with pytest.raises(DatePatternError) as error:
        date_pattern(pattern)
    assert reason in str(error.value)
