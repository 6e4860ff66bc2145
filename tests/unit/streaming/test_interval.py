import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.core.errors import ConfigError
from gluepot.streaming.interval import parse_interval


@pytest.mark.parametrize(
    ("text", "secs"),
    [
        ("100 seconds", 100.0),
        ("1 minute", 60.0),
        ("1 minute 30 seconds", 90.0),
        ("interval 5 seconds", 5.0),
        ("500 milliseconds", 0.5),
        ("2 HOURS", 7200.0),
        ("1 Day", 86400.0),
        ("  1   week ", 604800.0),
        ("250 microseconds", 0.00025),
        ("1.5 seconds", 1.5),
        ("1 minute -30 seconds", 30.0),
        ("0 seconds", 0.0),
        ("60", 60.0),
        (60, 60.0),
        (0.5, 0.5),
    ],
)
def test_spark_intervals_become_seconds(text, secs):
    assert parse_interval(text) == secs


@pytest.mark.parametrize(
    "text",
    [
        "",
        "interval",
        "soon",
        "seconds",
        "5seconds",
        "5 parsecs",
        "1 month",
        "-5 seconds",
        "1 minute 30",
        "1e3 seconds",
        "nan seconds",
        "\N{ARABIC-INDIC DIGIT FIVE} seconds",
        "999999999999999999 weeks",
        True,
        None,
    ],
)
def test_what_is_no_interval_is_refused_with_option_value_and_examples(text):
    with pytest.raises(ConfigError) as refused:
        parse_interval(text, "maxTriggerDelay")
    message = str(refused.value)
    assert message.startswith(f"maxTriggerDelay is {text!r}")
    assert "'100 seconds'" in message


@given(
    st.integers(0, 10**6),
    st.integers(0, 59),
    st.sampled_from(["{} minutes {} seconds", "INTERVAL {} minute {} second"]),
)
def test_parts_of_an_interval_add_up(minutes, seconds, shape):
    assert parse_interval(shape.format(minutes, seconds)) == minutes * 60 + seconds


@given(st.text())
def test_any_text_gives_seconds_or_a_config_error(text):
    try:
        secs = parse_interval(text)
    except ConfigError:
        return
    assert 0 <= secs < 2**63
