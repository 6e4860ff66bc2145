import pytest

from gluepot.core.durations import duration_secs, interval_secs


@pytest.mark.parametrize(
    ("text", "secs"),
    [
        ("30s", 30.0),
        ("500ms", 0.5),
        ("7 us", 0.000007),
        ("15m", 900.0),
        ("15 MIN", 900.0),
        ("1.5h", 5400.0),
        ("2d", 172_800.0),
        ("1 minute 30 seconds", 90.0),
        (" 90 ", 90.0),
        (90, 90.0),
        ("0s", 0.0),
    ],
)
def test_a_time_has_a_short_unit_or_is_an_interval(text, secs):
    assert duration_secs(text) == secs


@pytest.mark.parametrize("text", ["", "s", "soon", "-5s", "5 parsecs", "5w", "1m30s", "5seconds", None, True, "9" * 30])
def test_what_is_no_time_has_no_seconds(text):
    assert duration_secs(text) is None


def test_a_number_without_a_unit_counts_what_the_option_says():
    assert duration_secs("250", bare_unit="ms") == 0.25
    assert duration_secs("250s", bare_unit="ms") == 250.0


@pytest.mark.parametrize("text", ["30s", "5 s", "5seconds", "500ms"])
def test_an_interval_has_no_short_units_as_in_spark(text):
    assert interval_secs(text) is None
