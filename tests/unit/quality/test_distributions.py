"""The analyzer Distribution: bins of numbers, frequent values, frozen bins and bins that no longer fit."""

import json
import math
import pickle
import sys
from functools import reduce

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gluepot.frames.schema import choice_field
from gluepot.quality import distributions, measures
from gluepot.quality.checks import Facts, Setting
from gluepot.quality.distributions import ValueCounts, binned, cells_of
from gluepot.quality.dqdl import DqdlError
from gluepot.quality.dqdl.parser import parse
from gluepot.quality.evaluation import Examination
from gluepot.quality.measures import Measured, measure
from gluepot.quality.numbers import Moment
from gluepot.quality.row_tests import RowTests
from tests.duck import duck


def analyze(analyzer, *batches, before=None):
    """Return the distributions by column; `before` has those of an earlier evaluation."""
    setting = Setting(Moment(0.0), distributions=before or {})
    examination = Examination(parse(f"Analyzers = [ {analyzer} ]"), setting, RowTests(setting))
    wanted = examination.measures()
    measured = reduce(Measured.merged, [measure(batch, wanted) for batch in batches])
    found = examination.judged(Facts(pickle.loads(pickle.dumps(measured)))).distributions
    return {name.split(".")[1]: one for name, one in found.items()}


def batch(**columns):
    return pa.record_batch({name: pa.array(values) for name, values in columns.items()})


@pytest.fixture
def few_cells(monkeypatch):
    monkeypatch.setattr(distributions, "_MOST_CELLS", 64)


def test_numbers_have_bins_of_equal_width():
    found = analyze('Distribution "n" with bins = 5', batch(n=[0, 1, 2, None, 9]), batch(n=[4, 10]))["n"]
    assert found == ValueCounts("long", (2, 1, 1, 0, 2), (0.0, 2.0, 4.0, 6.0, 8.0, 10.0))


def test_there_are_twenty_bins_unless_the_ruleset_says_another_number():
    assert len(analyze('Distribution "n"', batch(n=[1.0, 2.0]))["n"].counts) == 20


def test_other_values_are_counted_and_the_most_frequent_ones_listed():
    texts = [f"v{at:02}" for at in range(30) for _ in range(1 + (at == 7) + 2 * (at == 3))] + [None]
    found = analyze('Distribution "s"', batch(s=texts))["s"]
    assert (found.data_type, found.values[:3], found.counts[:3]) == ("string", ("v03", "v07", "v00"), (3, 2, 1))
    assert (len(found.values), found.others) == (20, 10)


@pytest.mark.parametrize(
    ("values", "expected"),
    [([True, False, True], {"true": 2, "false": 1}), ([b"x", b"x", None], {"x": 2})],
    ids=["truth", "bytes"],
)
def test_truth_values_and_bytes_are_counted(values, expected):
    found = analyze('Distribution "c"', batch(c=values))["c"]
    assert dict(zip(found.values, found.counts, strict=True)) == expected


def test_all_columns_are_those_that_are_not_nested():
    rows = batch(n=[1, 2], s=["a", "a"], l=[[1], [2]], none=pa.nulls(2), nan=[math.nan, math.inf])
    assert sorted(analyze("Distribution AllColumns", rows)) == ["n", "s"]


def test_a_column_with_a_choice_of_types_has_no_distribution_but_others_have():
    choice = choice_field("c", [pa.field("", pa.int64()), pa.field("", pa.string())])
    several = pa.RecordBatch.from_arrays(
        [pa.array([{"long": 1, "string": None}]), pa.array([1])], schema=pa.schema([choice, pa.field("n", pa.int64())])
    )
    assert sorted(analyze("Distribution AllColumns", batch(c=[1], n=[1]), several)) == ["n"]


def test_a_column_with_numbers_and_texts_has_no_distribution_but_others_have():
    found = analyze("Distribution AllColumns", batch(a=[1], b=[1]), batch(a=["x"], b=[2]), batch(a=[3]))
    assert sorted(found) == ["b"]


@given(st.lists(st.lists(st.floats(allow_infinity=True, allow_nan=True)), min_size=1, max_size=4))
@example([[-sys.float_info.max, sys.float_info.max]])
@example([[-5e-324, 5e-324]])
@example([[0.0, 11 * 5e-324]])
@example([[3 * 5e-324, sys.float_info.max]])
def test_no_number_is_lost_whatever_the_numbers(parts):
    found = reduce(lambda one, other: one.merged(other), [binned(np.array(part, float), ()) for part in parts]).cells
    finite = [one for part in parts for one in part if math.isfinite(one)]
    assert found.counts.sum() == len(finite)
    if finite:
        edges = found.edges(7)
        assert edges[0] <= min(finite)
        assert edges[-1] >= max(finite)
        assert (np.diff(edges) >= 0).all()
        assert sum(found.binned(edges)) == len(finite)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e12, 1e300])
@pytest.mark.parametrize("shape", ["even", "normal", "far away"])
def test_counts_are_exact_although_cells_are_few(few_cells, scale, shape):
    dice = np.random.default_rng(7)
    numbers = {
        "even": dice.uniform(-1, 3, 5_000),
        "normal": dice.normal(0, 1, 5_000),
        "far away": np.concatenate([dice.uniform(0, 1, 5_000), [1e6]]),
    }[shape] * scale
    cells = reduce(lambda one, other: one.merged(other), map(cells_of, np.array_split(numbers, 9)))
    assert len(cells.starts) <= 64
    edges = cells.edges(5)
    widths = np.diff(edges)
    assert widths == pytest.approx(widths[0], rel=1e-9)
    assert list(cells.binned(edges)) == np.histogram(numbers, edges)[0].tolist()
    assert edges[-1] - edges[0] < 1.5 * (numbers.max() - numbers.min())


@pytest.mark.usefixtures("few_cells")
def test_the_state_does_not_depend_on_the_order_of_merging():
    parts = [cells_of(part) for part in np.array_split(np.random.default_rng(3).lognormal(0, 3, 2_000), 8)]
    one = reduce(lambda a, b: a.merged(b), parts)
    other = reduce(lambda a, b: b.merged(a), reversed(parts))
    tree = reduce(lambda a, b: a.merged(b), [a.merged(b) for a, b in zip(parts[::2], parts[1::2], strict=True)])
    for again in (other, tree):
        assert (again.exponent, again.starts.tolist(), again.counts.tolist()) == (
            one.exponent, one.starts.tolist(), one.counts.tolist(),
        )  # fmt: skip


def test_one_number_has_a_bin_around_it():
    for number in (3.0, 0.0, 1e20, -1e-20, 1.7976931348623157e308):
        found = analyze('Distribution "n" with bins = 3', batch(n=[number] * 4))["n"]
        assert sum(found.counts) == 4
        assert found.edges[0] < number <= found.edges[-1]


BEFORE = {"n": ValueCounts("long", (5, 5), (0.0, 5.0, 10.0))}


def test_bins_are_frozen_after_the_first_evaluation():
    found = analyze('Distribution "n" with bins = 2', batch(n=[-1, 0, 5, 10]), batch(n=[11, 4]), before=BEFORE)["n"]
    assert (found.edges, found.counts, found.below, found.above) == ((0.0, 5.0, 10.0), (2, 2), 1, 1)
    assert found.outside_share == pytest.approx(2 / 6)


def test_another_number_of_bins_begins_anew():
    found = analyze('Distribution "n" with bins = 4', batch(n=[0, 40]), before=BEFORE)["n"]
    assert (found.edges, found.replaced_share) == ((0.0, 10.0, 20.0, 30.0, 40.0), 0.0)


def test_bins_that_did_not_fit_three_times_in_a_row_are_replaced():
    before, seen = BEFORE, []
    for _ in range(4):
        found = analyze('Distribution "n" with bins = 2', batch(n=[0, 9, 20]), before=before)["n"]
        before = {"n": ValueCounts.of_plain(json.loads(json.dumps(found.plain())))}
        seen.append((found.overflows, found.replaced_share > 0, found.edges))
    assert seen == [
        (1, False, (0.0, 5.0, 10.0)), (2, False, (0.0, 5.0, 10.0)),
        (0, True, (0.0, 10.0, 20.0)), (0, False, (0.0, 10.0, 20.0)),
    ]  # fmt: skip


def test_rows_that_fit_break_the_row_of_overflows():
    before = {"n": ValueCounts("long", (5, 5), (0.0, 5.0, 10.0), overflows=2)}
    assert analyze('Distribution "n" with bins = 2', batch(n=[1, 2]), before=before)["n"].overflows == 0


def test_without_rebin_bins_stay_for_ever():
    before = {"n": ValueCounts("long", (5, 5), (0.0, 5.0, 10.0), overflows=7)}
    found = analyze('Distribution "n" with bins = 2, rebin = false', batch(n=[99]), before=before)["n"]
    assert (found.overflows, found.replaced_share, found.above) == (8, 0.0, 1)


@pytest.mark.parametrize(
    "one",
    [
        ValueCounts("double", (1, 2), (0.1, 1 / 3, 1e300), below=1, above=2, overflows=2, replaced_share=0.25),
        ValueCounts("string", (3,), values=("a",), others=4),
    ],
)
def test_a_distribution_comes_back_from_the_history_as_it_was(one):
    assert ValueCounts.of_plain(json.loads(json.dumps(one.plain()))) == one


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ("bins = 21", "Line 1, column 15: Distribution has 21 bins; use an integer from 1 to 20."),
        ("bins = 0", "Distribution has 0 bins"),
        ("bins = 2.5", "Distribution has 2.5 bins"),
        ('rebin = "maybe"', "rebin is maybe; use true or false."),
    ],
)
def test_wrong_bins_are_an_error_of_the_ruleset(tags, message):
    with pytest.raises(DqdlError) as error:
        parse(f'Analyzers = [ Distribution "n" with {tags} ]')
    assert message in str(error.value)


def test_grouping_stops_when_there_are_too_many_values(monkeypatch):
    monkeypatch.setattr(measures, "MOST_GROUPS", 3)
    monkeypatch.setattr(measures, "_COMPACT_AT", 3)
    wanted = [measures.Groups(("s",)), measures.Statistics("s"), distributions.Distribution("s")]
    whole = Measured()
    for at in range(6):
        rows = batch(s=[f"{at} {n}" for n in range(4)])
        more = measure(rows, wanted, whole)
        whole = whole.merged(more)
    groups, nested, distribution = (more.states[one] for one in wanted)
    assert groups == measures.Grouped(4, too_many=True)
    assert nested["s"][wanted[0]] == groups
    assert distribution["s"] == groups
    assert whole.states[wanted[0]].rows == 24


def test_counts_are_those_that_duckdb_finds(few_cells):
    dice = np.random.default_rng(11)
    parts = [
        batch(n=dice.normal(0, 50, 400), s=[f"v{at}" for at in dice.integers(0, 40, 400).tolist()]) for _ in range(5)
    ]
    found = analyze("Distribution AllColumns with bins = 8", *parts)
    database = duck()
    database.register("rows", pa.Table.from_batches(parts))
    edges = found["n"].edges
    for at, count in enumerate(found["n"].counts):
        upper = "<=" if at == 7 else "<"
        query = f"SELECT count(*) FROM rows WHERE n >= {edges[at]!r} AND n {upper} {edges[at + 1]!r}"
        assert database.sql(query).fetchall() == [(count,)]
    top = database.sql("SELECT s, count(*) FROM rows GROUP BY s ORDER BY count(*) DESC, s LIMIT 20").fetchall()
    assert list(zip(found["s"].values, found["s"].counts, strict=True)) == top
