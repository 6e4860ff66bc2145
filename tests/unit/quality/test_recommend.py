"""Proposed rules: valid DQDL that the data fulfils, and that other data does not."""

import pyarrow as pa

from gluepot.quality.checks import Facts, Setting
from gluepot.quality.dqdl.parser import parse
from gluepot.quality.evaluation import Examination
from gluepot.quality.measures import ALL_COLUMNS, Statistics, measure
from gluepot.quality.numbers import Moment
from gluepot.quality.recommend import recommended
from gluepot.quality.row_tests import RowTests

DATA = pa.RecordBatch.from_pydict(
    {
        "id": list(range(100)),
        "status": ["new", "paid", 'with "quotes"', "paid"] * 25,
        "note": [None, "a note", "", "x" * 30] * 25,
        "amount": [0.5 * at for at in range(100)],
        "odd `name`": [1.5, None] * 50,
    }
)


def proposed() -> str:
    every = Statistics(ALL_COLUMNS)
    return recommended(DATA.num_rows, measure(DATA, [every]).states[every])


def failed(ruleset: str, data: pa.RecordBatch) -> list[str]:
    given = parse(ruleset)
    setting = Setting(Moment(0.0), {rule.where: "mask" for rule in given.all_rules() if rule.where})
    examination = Examination(given, setting, RowTests(setting))
    masked = data.append_column(
        "mask", pa.array([value is not None for value in data.column("odd `name`").to_pylist()])
    )
    found = examination.judged(Facts(measure(masked, examination.measures())))
    return [one.rule for one in found.outcomes if not one.passed]


def test_the_data_fulfils_what_is_proposed():
    assert failed(proposed(), DATA) == []


def test_keys_few_values_and_limits_are_noticed():
    text = proposed()
    for rule in (
        "RowCount between 50 and 200",
        'IsComplete "id"',
        'IsUnique "id"',
        'ColumnValues "status" in ["new", "paid", "with \\"quotes\\""]',
        'Completeness "note" >= 0.7',
        'ColumnLength "note" between -1 and 31',
        'ColumnValues "amount" between -1 and 51',
    ):
        assert rule in text


def test_other_data_fails():
    other = DATA.set_column(1, "status", pa.array(["lost"] * 100)).slice(0, 10)
    assert {rule.split()[0] for rule in failed(proposed(), other)} >= {"RowCount", "ColumnValues", "StandardDeviation"}


def test_no_rows_still_give_a_ruleset():
    empty = DATA.slice(0, 0)
    every = Statistics(ALL_COLUMNS)
    assert parse(recommended(0, measure(empty, [every]).states[every])).rules
