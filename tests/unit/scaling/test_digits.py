"""Numbers in advice have the digits that the model is good for."""

import pytest

from gluepot.streaming.advisor.digits import rate, seconds


@pytest.mark.parametrize(
    ("secs", "text"),
    [
        (0.0, "0 s"),
        (0.0421, "0.042 s"),
        (0.4215, "0.42 s"),
        (4.25, "4.2 s"),
        (9.96, "10 s"),
        (59.7, "60 s"),
        (4321.5, "4,322 s"),
    ],
)
def test_a_short_time_is_not_rounded_to_nothing(secs, text):
    assert seconds(secs) == text


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (29_116.4, "29,100 rows/s"),
        (1_234_567, "1,230,000 rows/s"),
        (320, "320 rows/s"),
        (3.14159, "3.1 rows/s"),
        (0, "0.0 rows/s"),
    ],
)
def test_a_rate_has_three_digits(rows, text):
    assert rate(rows) == text
