"""Which events a pattern describes, and which patterns are none."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.service.events.patterns import PatternError, TooManySteps, matches, parsed

EVENT = {
    "source": "aws.s3",
    "detail-type": "Object Created",
    "resources": ["arn:aws:s3:::orders", "arn:aws:s3:::archive"],
    "detail": {
        "bucket": {"name": "orders"},
        "object": {"key": "2026/05/a*b.csv", "size": 42},
        "requester": None,
        "first": True,
        "address": "10.0.0.7",
        "parts": [{"kind": "a", "size": 1}, {"kind": "b", "size": 2}],
    },
}


@pytest.mark.parametrize(
    "pattern",
    [
        {"source": ["aws.s3"]},
        {"source": ["aws.glue", "aws.s3"], "detail": {"bucket": {"name": ["orders"]}}},
        {"resources": ["arn:aws:s3:::archive"]},
        {"detail": {"object": {"key": [{"prefix": "2026/"}]}}},
        {"detail": {"object": {"key": [{"prefix": {"equals-ignore-case": "2026/05/A"}}]}}},
        {"detail": {"object": {"key": [{"suffix": ".csv"}]}}},
        {"detail": {"object": {"key": [{"suffix": {"equals-ignore-case": ".CSV"}}]}}},
        {"detail": {"object": {"key": [{"wildcard": "2026/*.csv"}]}}},
        {"detail": {"object": {"key": [{"wildcard": r"2026/*/a\*b.csv"}]}}},
        {"detail-type": [{"equals-ignore-case": "OBJECT created"}]},
        {"detail": {"object": {"size": [{"numeric": [">", 0, "<=", 42]}]}}},
        {"detail": {"object": {"size": [{"numeric": ["=", 42]}]}}},
        {"detail": {"object": {"size": [42.0]}}},
        {"detail": {"bucket": {"name": [{"anything-but": "archive"}]}}},
        {"detail": {"bucket": {"name": [{"anything-but": ["archive", "old"]}]}}},
        {"detail": {"bucket": {"name": [{"anything-but": {"prefix": ["arch", "old"]}}]}}},
        {"detail": {"bucket": {"name": [{"anything-but": {"wildcard": "*x*"}}]}}},
        {"detail": {"address": [{"cidr": "10.0.0.0/24"}]}},
        {"detail": {"requester": [None]}},
        {"detail": {"first": [True]}},
        {"detail": {"object": {"key": [{"exists": True}]}}},
        {"detail": {"object": {"version": [{"exists": False}]}}},
        {"detail": {"nothing": {"at": {"all": [{"exists": False}]}}}},
        {"detail": {"parts": {"kind": ["b"], "size": [2]}}},
        {"$or": [{"source": ["aws.glue"]}, {"detail": {"first": [True]}}]},
        {"detail": {"$or": [{"first": [False]}, {"object": {"size": [42]}}]}},
    ],
    ids=json.dumps,
)
def test_a_pattern_describes_an_event(pattern):
    assert matches(parsed(json.dumps(pattern)), EVENT)


@pytest.mark.parametrize(
    "pattern",
    [
        {"source": ["aws.glue"]},
        {"source": ["aws.s3"], "detail": {"bucket": {"name": ["archive"]}}},
        {"detail": {"bucket": ["orders"]}},
        {"detail": {"bucket": [{"exists": True}]}},
        {"detail": {"object": {"key": [{"prefix": "05"}]}}},
        {"detail": {"object": {"size": [{"prefix": "4"}]}}},
        {"detail": {"object": {"key": [{"wildcard": "2026/*.cs"}]}}},
        {"detail": {"object": {"key": [{"wildcard": r"2026\*csv"}]}}},
        {"detail": {"object": {"size": [{"numeric": [">", 42]}]}}},
        {"detail": {"first": [{"numeric": ["=", 1]}]}},
        {"detail": {"first": [1]}},
        {"detail": {"object": {"size": ["42"]}}},
        {"detail": {"bucket": {"name": [{"anything-but": ["archive", "orders"]}]}}},
        {"detail": {"bucket": {"name": [{"anything-but": {"prefix": "ord"}}]}}},
        {"detail": {"bucket": {"owner": [{"anything-but": "me"}]}}},
        {"detail": {"address": [{"cidr": "10.0.1.0/24"}]}},
        {"source": [{"cidr": "10.0.1.0/24"}]},
        {"detail": {"requester": [{"exists": False}]}},
        {"detail": {"parts": {"kind": ["b"], "size": [1]}}},
        {"$or": [{"source": ["aws.glue"]}, {"detail": {"first": [False]}}]},
    ],
    ids=json.dumps,
)
def test_a_pattern_does_not_describe_an_event(pattern):
    assert not matches(parsed(json.dumps(pattern)), EVENT)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "it is not JSON"),
        ("[]", "it is not an object"),
        ("{}", "it is not an object with at least one field"),
        ('{"source": "aws.s3"}', "source is neither an object nor a list"),
        ('{"source": []}', "source is neither an object nor a list with at least one value"),
        ('{"detail": {}}', "detail is neither an object nor a list"),
        ('{"detail": {"a": [[1]]}}', "detail.a has a list inside of its list"),
        ('{"a": [{"prefix": "x", "suffix": "y"}]}', "a has a filter with 2 kinds instead of one"),
        ('{"a": [{"contains": "x"}]}', "a has the filter 'contains'; use one of prefix, suffix,"),
        ('{"a": [{"prefix": 5}]}', "a has the filter 'prefix' with 5, which it cannot have"),
        ('{"a": [{"numeric": [">", 5, "<", 1]}]}', "a has the filter 'numeric'"),
        ('{"a": [{"numeric": ["!", 5]}]}', "a has the filter 'numeric'"),
        ('{"a": [{"numeric": [">", 5e9, "<", 6e9]}]}', "a has the filter 'numeric'"),
        ('{"a": [{"cidr": "10.0.0.0/40"}]}', "a has the filter 'cidr'"),
        ('{"a": [{"exists": "yes"}]}', "a has the filter 'exists'"),
        ('{"a": [{"anything-but": {"numeric": 5}}]}', "a has the filter 'anything-but'"),
        ('{"a": [{"anything-but": []}]}', "a has the filter 'anything-but'"),
        ('{"$or": [{"a": [1]}]}', "$or is not a list of at least two patterns"),
    ],
)
def test_what_is_no_pattern_is_told_with_its_place(text, why):
    with pytest.raises(PatternError) as raised:
        parsed(text)
    assert why in str(raised.value)


VALUES = st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab*\\", max_size=3)
TREES = st.recursive(VALUES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner))


@given(st.dictionaries(st.sampled_from("ab"), TREES, min_size=1), TREES)
def test_a_pattern_that_is_taken_can_be_compared_with_every_event(pattern, event):
    try:
        taken = parsed(json.dumps(pattern))
    except PatternError:
        return
    assert matches(taken, event) in (True, False)


@given(st.dictionaries(st.sampled_from("abc"), st.integers() | st.text() | st.booleans() | st.none(), min_size=1))
def test_the_pattern_that_is_made_of_an_event_describes_it(event):
    assert matches(parsed(json.dumps({name: [value] for name, value in event.items()})), event)


def test_wildcards_take_linear_time():
    pattern = parsed(json.dumps({"detail": {"key": [{"wildcard": "*a" * 10 + "*b"}]}}))
    assert not matches(pattern, {"detail": {"key": "a" * 1024}})
    assert matches(pattern, {"detail": {"key": "a" * 1024 + "b"}})


def test_many_values_in_pattern_and_event_take_no_product_of_time():
    wanted = [f"w{number}" for number in range(500)]
    pattern = parsed(json.dumps({"detail": {"keys": wanted, "others": [{"anything-but": wanted}]}}))
    event = {"detail": {"keys": [f"v{number}" for number in range(20_000)], "others": wanted * 20}}
    began = time.process_time()
    assert not matches(pattern, event)
    assert not matches({"detail": {"others": pattern["detail"]["others"]}}, event)
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize(
    "detail",
    [
        {"$or": [{"parts": {"kind": [str(number)]}} for number in range(200)]},
        {"keys": [{"prefix": f"w{number}"} for number in range(200)]},
        {"keys": [{"anything-but": {"suffix": [str(number) for number in range(1000)]}}]},
    ],
)
def test_an_event_with_very_many_values_for_a_pattern_is_refused(detail):
    pattern = parsed(json.dumps({"detail": detail}))
    event = {"detail": {"parts": [{"kind": "a"}] * 2_000, "keys": ["v"] * 2_000}}
    assert not matches(pattern, {"detail": {"parts": [{"kind": "a"}] * 20, "keys": []}})
    with pytest.raises(TooManySteps):
        matches(pattern, event)
