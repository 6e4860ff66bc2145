from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.quality.dqdl import DqdlError
from gluepot.quality.dqdl.conditions import condition_of
from gluepot.quality.dqdl.parser import parse
from gluepot.quality.dqdl.rule_types import TYPES, Kind
from gluepot.quality.dqdl.ruleset import (
    Arithmetic,
    Call,
    Composite,
    Keyword,
    Negative,
    Now,
    Number,
    Operator,
    Quantity,
    Rule,
    Tag,
    Text,
)

# Each line is a rule in the form that results show.
CANONICAL = r"""
RowCount > 0
ColumnCount between 3 and 8
RowCountMatch "yesterday" >= 0.80
SchemaMatch "yesterday" = 1.0
DatasetMatch "other" "id->key,day" "a->b" > 0.9
ReferentialIntegrity "a,b" "other.{x,y}" >= 0.999
AggregateMatch "sum(a)" "avg(other.b)" between 0.9 and 1.1
Completeness "a" > 0.95
IsComplete "a"
Uniqueness "a" "b" not between 0.1 and 0.2
IsUnique "a"
IsPrimaryKey "a" "b" "c"
UniqueValueRatio "a" < 0.5
DistinctValuesCount "a" in [2,3]
Entropy "a" > 1
Mean "a" = 3.5
Sum "a" != 3
StandardDeviation "a" <= 2
Variance "a" not in [1,2]
ColumnCorrelation "a" "b" > -0.8
ColumnExists "a"
ColumnNamesMatchPattern "^[a-z_]+$"
ColumnDataType "a" = "DECIMAL(10,2)" with threshold > 0.9
ColumnDataType "a" != "Date" with format = "dd/MM/yyyy"
ColumnLength "a" between 1 and 20
ColumnValues "a" > 1 where "b is not null" with threshold >= 0.9
ColumnValues "a" = "x"
ColumnValues "a" in ["x","y",NULL,EMPTY,WHITESPACES_ONLY]
ColumnValues "a" matches "\d{3}"
ColumnValues "a" not matches "a \"b\" \\"
ColumnValues "a" between "2024-01-31" and (now() + 2 hours)
ColumnValues "a" > "9:30 AM" with timeZone = "Europe/Paris"
ColumnValues "a" != NULL
DataFreshness "a" <= 3 days
DataFreshness "a" > -4 hours where "b = 1"
CustomSql "SELECT count(*) FROM primary" = 0
CustomSql "SELECT id FROM primary WHERE a > 1" with threshold > 0.9
DetectAnomalies "RowCount"
DetectAnomalies "Completeness" "a"
FileFreshness "s3://bucket/folder" > (now() - 24 hours) with recentFiles = 3 with uriRegex = "a+"
FileFreshness between "9:30 AM" and "21:45" with failFast = "true" with timeZone = "Europe/Paris"
FileSize "s3://bucket/folder" > 5 MB with threshold > 0.7 with filterOrder = ["uriRegex","recentFiles"]
FileUniqueness "s3://bucket/folder" > 0.9 with matchFileName = "true"
FileMatch "s3://a" "s3://b"
FileMatch "s3://a" in ["0cc1","7b"] with hashAlgorithm = "MD5"
RowCount > avg(last(3))
RowCount between min(last(10)) - 1 and max(last(10)) + 1
RowCount > index(last(3),1) * (1 - 0.5) / 2
RowCount > 1 - (2 - 3)
RowCount > -(1 + 2)
Mean "a" > -(-last())
(IsComplete "a") and (IsUnique "b")
((IsComplete "a") and (RowCount > 1)) or (ColumnValues "a" = NULL)
""".strip()


def only_rule(text):
    (rule,) = parse(f"Rules = [ {text} ]").rules
    return rule


@pytest.mark.parametrize("text", CANONICAL.splitlines())
def test_a_rule_in_canonical_form_keeps_its_text(text):
    assert str(only_rule(text)) == text


def test_the_list_above_has_every_rule_type():
    assert {name for name, one in TYPES.items() if one.is_rule} - {
        line.split()[0] for line in CANONICAL.splitlines()
    } == set()


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("RowCount>0", "RowCount > 0"),
        ("IsComplete  colA", 'IsComplete "colA"'),
        ("IsComplete a.b", 'IsComplete "a.b"'),
        ("IsComplete RowCount", 'IsComplete "RowCount"'),
        ('Uniqueness "a" and "b" > 0.5', 'Uniqueness "a" "b" > 0.5'),
        ('Completeness of "a" > 0.5', 'Completeness "a" > 0.5'),
        ('DetectAnomalies OF Completeness OF "c"', 'DetectAnomalies "Completeness" "c"'),
        ('CustomSQL "SELECT 1" = 1', 'CustomSql "SELECT 1" = 1'),
        ("RowCount in [ 1, 2 , 3 ]", "RowCount in [1,2,3]"),
        ("RowCount between 1 AND 2", "RowCount between 1 and 2"),
        ("RowCount > - 3", "RowCount > -3"),
        ("RowCount > ((2 * 3))", "RowCount > 2 * 3"),
        ('ColumnValues "a" in [null, empty, whitespaces_only]', 'ColumnValues "a" in [NULL,EMPTY,WHITESPACES_ONLY]'),
        ('ColumnValues "d" > now() - 3 days', 'ColumnValues "d" > (now() - 3 days)'),
        ('ColumnValues "b" = true', 'ColumnValues "b" = "true"'),
        ('(IsComplete "a")', 'IsComplete "a"'),
        ('(IsComplete "a") OR (IsUnique "a")', '(IsComplete "a") or (IsUnique "a")'),
        (
            '(IsComplete "a") or (IsUnique "b") and (RowCount > 1)',
            '(IsComplete "a") or ((IsUnique "b") and (RowCount > 1))',
        ),
    ],
)
def test_a_rule_has_one_text_however_it_is_written(text, canonical):
    assert str(only_rule(text)) == canonical


@pytest.mark.parametrize(
    ("text", "kind", "operator", "operands"),
    [
        ("RowCount > 1.5", Kind.NUMBER, Operator.MORE, [Number("1.5")]),
        ('ColumnValues "a" >= 1', Kind.NUMBER, Operator.AT_LEAST, [Number("1")]),
        ('ColumnValues "a" in [NULL, 1]', Kind.NUMBER, Operator.IN, [Keyword.NULL, Number("1")]),
        ('ColumnValues "a" != NULL', Kind.STRING, Operator.UNEQUAL, [Keyword.NULL]),
        ('ColumnValues "a" = "x"', Kind.STRING, Operator.EQUAL, [Text("x")]),
        ('ColumnValues "a" not in ["x", EMPTY]', Kind.STRING, Operator.NOT_IN, [Text("x"), Keyword.EMPTY]),
        ('ColumnValues "a" in ["2024-01-31", "x"]', Kind.STRING, Operator.IN, [Text("2024-01-31"), Text("x")]),
        ('ColumnValues "a" matches "2024-01-31"', Kind.STRING, Operator.MATCHES, [Text("2024-01-31")]),
        ('ColumnValues "a" = "2024-01-31"', Kind.DATE, Operator.EQUAL, [Text("2024-01-31")]),
        ('ColumnValues "a" in ["2024-01-31", NULL]', Kind.DATE, Operator.IN, [Text("2024-01-31"), Keyword.NULL]),
        ('ColumnValues "a" < "9:30 AM"', Kind.DATE, Operator.LESS, [Text("9:30 AM")]),
        ('ColumnValues "a" <= "21:45"', Kind.DATE, Operator.AT_MOST, [Text("21:45")]),
        ('ColumnValues "a" < now()', Kind.DATE, Operator.LESS, [Now()]),
        (
            'ColumnValues "a" > (now() - 3 days)',
            Kind.DATE,
            Operator.MORE,
            [Arithmetic("-", Now(), Quantity(3, "days"))],
        ),
        ('DataFreshness "a" <= 5 minutes', Kind.DURATION, Operator.AT_MOST, [Quantity(5, "minutes")]),
        ("FileSize between 1 KB and 2 TB", Kind.SIZE, Operator.BETWEEN, [Quantity(1, "KB"), Quantity(2, "TB")]),
    ],
)
def test_operands_give_a_condition_its_kind(text, kind, operator, operands):
    condition = only_rule(text).condition
    assert (condition.kind, condition.operator, list(condition.operands)) == (kind, operator, operands)


def test_escapes_are_resolved_and_other_backslashes_stay():
    assert only_rule(r'ColumnValues "a" matches "\" \\ \d"').condition.operands == (Text(r'" \ \d'),)


def test_variables_are_replaced_in_conditions_and_parameters():
    rules = parse("""
        column = "status"
        known = ["open","closed"]
        query = "SELECT count(*) FROM primary"
        Rules = [ ColumnValues $column in $known, ColumnValues $column not in $column, CustomSql $query = 1 ]
    """).rules
    assert [str(one) for one in rules] == [
        'ColumnValues "status" in ["open","closed"]',
        'ColumnValues "status" not in ["status"]',
        'CustomSql "SELECT count(*) FROM primary" = 1',
    ]


def test_rules_have_their_own_and_the_default_labels():
    rules = parse("""
        DefaultLabels = ["team"="a", "tier"="1"]
        Rules = [
            RowCount > 1,
            IsComplete "a" labels=["team"="b"],
            ColumnValues "a" > 1 labels=["x"="y"] with threshold > 0.5,
            ColumnValues "a" > 1 with threshold > 0.5 labels=["x"="y"],
            ((IsComplete "a") and (IsUnique "a")) labels = ["x"=""]
        ]
    """).rules
    default = {"team": "a", "tier": "1"}
    expected = [default, {**default, "team": "b"}, *[{**default, "x": "y"}] * 2, {**default, "x": ""}]
    assert [dict(one.labels) for one in rules] == expected


def test_metadata_and_data_sources_are_read():
    ruleset = parse("""
        Metadata = {"Version": "1.2"}
        DataSources = {"Primary": "orders", "AdditionalDataSources": ["customers", "items"]}
        Rules = [ RowCount > 1 ]
    """)
    assert ruleset.metadata == {"Version": "1.2"}
    assert ruleset.data_sources == {"Primary": "orders", "AdditionalDataSources": ["customers", "items"]}


def test_every_analyzer_is_read():
    texts = [
        *("RowCount", "ColumnCount", 'Completeness "a"', 'Uniqueness "a" "b"', 'UniqueValueRatio "a"'),
        *('DistinctValuesCount "a"', 'ColumnCorrelation "a" "b"', 'ColumnLength "a"', 'ColumnValues "a"', 'Mean "a"'),
        *('Sum "a"', 'StandardDeviation "a"', 'Entropy "a"', 'CustomSql "SELECT 1"', 'AllStatistics "AllColumns"'),
        *('Distribution "a"', 'Distribution "a" with bins = 20 with rebin = "false"'),
    ]
    assert [str(one) for one in parse(f"Analyzers = [ {','.join(texts)} ]").analyzers] == texts
    assert {one.split()[0] for one in texts} == {name for name, one in TYPES.items() if one.is_analyzer}


def test_tags_of_distribution_may_follow_each_other_with_a_comma():
    analyzers = parse('Analyzers = [ Distribution "a" with bins = 20, rebin = false, RowCount ]').analyzers
    assert [str(one) for one in analyzers] == ['Distribution "a" with bins = 20 with rebin = "false"', "RowCount"]


def test_rules_and_analyzers_stand_beside_each_other():
    ruleset = parse("Rules = [ RowCount > 1 ] Analyzers = [ ColumnCount ]")
    assert [str(one) for one in ruleset.all_rules()] == ["RowCount > 1", "ColumnCount"]


def test_comments_of_glue_are_ignored_without_a_note():
    ruleset = parse('# first\nRules = [ # "second"\r\n  RowCount > 1 # , IsComplete "a"\n]\r\n# last')
    assert [str(one) for one in ruleset.rules] == ["RowCount > 1"]
    assert ruleset.notes == ()


def test_comments_that_glue_refuses_are_ignored_with_a_note():
    ruleset = parse('-- first\nRules = [\n  RowCount > 1, // second\n  IsComplete "a -- b // c # d" # -- third\n]')
    assert [str(one) for one in ruleset.rules] == ["RowCount > 1", 'IsComplete "a -- b // c # d"']
    assert ruleset.notes == (
        "Line 1: Glue knows only comments that begin with #; this one begins with --.",
        "Line 3: Glue knows only comments that begin with #; this one begins with //.",
    )


def test_windows_line_ends_are_accepted():
    assert [str(one) for one in parse("Rules = [\r\n\tRowCount > 1,\r\n\tColumnCount > 2\r\n]\r\n").rules] == [
        "RowCount > 1",
        "ColumnCount > 2",
    ]


def test_a_rule_knows_its_line_which_does_not_distinguish_it():
    first, second = parse("Rules = [\n RowCount > 1,\n\n RowCount > 1 ]").rules
    assert (first.line, second.line, first == second) == (2, 4, True)


def test_a_sample_with_sql_comments_is_read():
    ruleset = parse("""-- DQDL ruleset saved as a Glue Data Quality ruleset resource
Rules = [
-- Completeness: critical columns must be non-null
Completeness "customer_id" >= 0.999,
Completeness "order_id" >= 1.0,
-- Uniqueness: order_id must be a primary key
Uniqueness "order_id" >= 0.999,
-- Value range
ColumnValues "total_amount" between 0 and 100000,
ColumnValues "status" in ["PENDING","PROCESSING","SHIPPED","DELIVERED","CANCELLED"],
-- Row count anomaly detection (flags if row count drops >20% vs previous run)
RowCountMatch "orders_yesterday" >= 0.80,
-- Referential integrity: every order's customer_id must exist in customers table
ReferentialIntegrity "customer_id" "customers.id" >= 0.999,
-- Custom SQL rule
CustomSql "SELECT COUNT(*) FROM primary WHERE total_amount < 0" = 0
]
""")
    assert [str(one) for one in ruleset.rules] == [
        'Completeness "customer_id" >= 0.999',
        'Completeness "order_id" >= 1.0',
        'Uniqueness "order_id" >= 0.999',
        'ColumnValues "total_amount" between 0 and 100000',
        'ColumnValues "status" in ["PENDING","PROCESSING","SHIPPED","DELIVERED","CANCELLED"]',
        'RowCountMatch "orders_yesterday" >= 0.80',
        'ReferentialIntegrity "customer_id" "customers.id" >= 0.999',
        'CustomSql "SELECT COUNT(*) FROM primary WHERE total_amount < 0" = 0',
    ]
    assert [note.split(":")[0] for note in ruleset.notes] == [f"Line {line}" for line in (1, 3, 6, 8, 11, 13, 15)]


AFTER_A_CONDITION = "), ], a comma, and, labels, or, where or with should follow."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "No rules or analyzers provided."),
        ("Rules = [ ]", "No rules or analyzers provided."),
        ("Rules = [ ] Analyzers = [ ]", "No rules or analyzers provided."),
        ("Rules = [ RowCount > 1", f"The ruleset ends too early; {AFTER_A_CONDITION}"),
        ("Rules = [ RowCount > 1, ]", "Line 1, column 25: `]` is not expected here; ( or a name should follow."),
        ("Rules = [ RowCount > 1 ; ]", f"Line 1, column 24: `;` is not expected here; {AFTER_A_CONDITION}"),
        (
            "Rules = [ RowCount > 1\nColumnCount > 1 ]",
            f"Line 2, column 1: `ColumnCount` is not expected here; {AFTER_A_CONDITION}",
        ),
        (
            "Rules = [ RowCount > ]",
            (
                "Line 1, column 22: `]` is not expected here;"
                " (, [, a name, a number, a quoted text or a variable should follow."
            ),
        ),
        (
            'Rules = [ IsComplete "a ]',
            (
                "Line 1, column 22: a quoted text does not end; ), ], a comma, a comparison such as >, a name,"
                " a quoted text, a variable, and or or should follow."
            ),
        ),
        ('Rules = [ ColumnValues "a" between 1 ]', "Line 1, column 38: `]` is not expected here; and should follow."),
        (
            "Rules = [ RowCount > 1 ] Rules = [ RowCount > 1 ]",
            "Line 1, column 26: `Rules` is not expected here; Analyzers should follow.",
        ),
        ('Rules = [ isComplete "a" ]', "Line 1, column 11: there is no rule type isComplete; did you mean IsComplete?"),
        (
            'Rules = [\n  Completness "a" > 0.5 ]',
            "Line 2, column 3: there is no rule type Completness; did you mean Completeness?",
        ),
        (
            'Rules = [ Quux "a" ]',
            "Line 1, column 11: there is no rule type Quux; docs/glue/12-data-quality.md lists the rule types.",
        ),
        ("Rules = [ RowCount ]", "Line 1, column 11: RowCount needs a condition, such as `> 0`."),
        ('Rules = [ IsComplete "a" > 0.5 ]', "Line 1, column 26: IsComplete is true or false and takes no condition."),
        ("Rules = [ IsComplete ]", "Line 1, column 11: IsComplete takes one parameter, but 0 are given."),
        ('Rules = [ RowCount "a" > 1 ]', "Line 1, column 11: RowCount takes no parameters, but 1 are given."),
        ("Rules = [ IsUnique ]", "Line 1, column 11: IsUnique takes one parameter or more, but 0 are given."),
        (
            'Rules = [ ColumnCorrelation "a" > 1 ]',
            "Line 1, column 11: ColumnCorrelation takes 2 parameters, but 1 are given.",
        ),
        (
            'Rules = [ RowCount > "1" ]',
            'Line 1, column 20: RowCount compares with a number, but the condition is `> "1"`.',
        ),
        (
            'Rules = [ ColumnValues "a" > "b" ]',
            'Line 1, column 28: ColumnValues compares with a number or a text or a date, but the condition is `> "b"`.',
        ),
        (
            'Rules = [ ColumnValues "a" in [1, "b"] ]',
            (
                "Line 1, column 28: ColumnValues compares with a number or a text or a date,"
                ' but the condition is `in [1,"b"]`.'
            ),
        ),
        (
            'Rules = [ ColumnDataType "a" > "DATE" ]',
            'Line 1, column 30: ColumnDataType compares with a text, but the condition is `> "DATE"`.',
        ),
        (
            'Rules = [ DataFreshness "a" > 3 ]',
            "Line 1, column 29: DataFreshness compares with a duration, but the condition is `> 3`.",
        ),
        (
            'Rules = [ DataFreshness "a" > 3 weeks ]',
            f"Line 1, column 33: `weeks` is not expected here; {AFTER_A_CONDITION}",
        ),
        ('Rules = [ DataFreshness "a" > 1.5 days ]', "Line 1, column 31: 1.5 days has a fraction; use an integer."),
        ("Rules = [ RowCount in [] ]", "Line 1, column 23: the list is empty; it needs a value at least."),
        (
            'Rules = [ ColumnValues "a" > NULL ]',
            "Line 1, column 28: NULL can be compared by =, !=, in and not in, not by >.",
        ),
        ("Rules = [ RowCount = NULL ]", "Line 1, column 20: NULL can only be used in conditions of ColumnValues."),
        (
            "Rules = [ RowCount > mode(last(3)) ]",
            (
                "Line 1, column 20: There is no function mode; use one of abs, average, avg, index, last, max, mean, median,"
                " min, percentile, std, stddev, sum."
            ),
        ),
        ("Rules = [ RowCount > last(1.5) ]", "Line 1, column 20: last(1.5) takes an integer, as in last(3)."),
        (
            'Rules = [ ColumnLength "a" > last(1) ]',
            "Line 1, column 28: ColumnLength cannot compare with earlier values, so it takes no last().",
        ),
        (
            'Rules = [ ColumnValues "a" > 1 with threshold > last(1) ]',
            (
                "Line 1, column 37: The threshold of ColumnValues cannot compare with earlier values, so it takes no"
                " last()."
            ),
        ),
        ('Rules = [ ColumnCount > 3 where "a" ]', "Line 1, column 27: ColumnCount takes no where."),
        (
            'Rules = [ IsComplete "a" with threshold > 0.9 ]',
            "Line 1, column 31: `with threshold` is not known: IsComplete takes no `with`.",
        ),
        (
            "Rules = [ FileSize > 1 B with bins = 2 ]",
            (
                "Line 1, column 31: `with bins` is not known:"
                " FileSize knows threshold, failFast, recentFiles, uriRegex, filterOrder."
            ),
        ),
        (
            'Rules = [ ColumnValues "a" > 1 with threshold > "x" ]',
            'Line 1, column 37: The threshold of ColumnValues compares with a number, but the condition is `> "x"`.',
        ),
        (
            "Rules = [ FileSize > 1 B with recentFiles > 2 ]",
            "Line 1, column 31: `with recentFiles` takes one value, as in `with recentFiles = ...`.",
        ),
        (
            'Rules = [ CustomSql "SELECT 1" = 1 with threshold > 0.5 ]',
            "Line 1, column 11: CustomSql takes a condition or a threshold, not both.",
        ),
        (
            'Rules = [ DetectAnomalies "Completeness" ]',
            "Line 1, column 11: Completeness takes one parameter, but 0 are given.",
        ),
        (
            'Rules = [ DetectAnomalies "IsComplete" "a" ]',
            (
                "Line 1, column 11: DetectAnomalies cannot watch IsComplete; it watches ColumnCorrelation, ColumnCount,"
                " ColumnLength, ColumnValues, Completeness, CustomSql, DistinctValuesCount, Entropy, Mean, RowCount,"
                " StandardDeviation, Sum, UniqueValueRatio, Uniqueness."
            ),
        ),
        ('Rules = [ AllStatistics "a" ]', "Line 1, column 11: AllStatistics is an analyzer; list it under Analyzers."),
        (
            'Analyzers = [ IsComplete "a" ]',
            "Line 1, column 15: IsComplete is a rule, not an analyzer; list it under Rules.",
        ),
        (
            'x = "a"\nRules = [ IsComplete $y ]',
            "Line 2, column 22: the variable y is not declared before Rules; declared are: x.",
        ),
        ('x = ["a"]\nRules = [ IsComplete $x ]', "Line 2, column 22: $x is a list, but a parameter is one text."),
        ('x = ["a"]\nRules = [ ColumnValues "a" = $x ]', "Line 2, column 30: $x is a list; use it with `in`."),
        (
            '_x = "a"\nRules = [ RowCount > 1 ]',
            "Line 1, column 1: the variable _x must not begin with a dot or an underscore.",
        ),
        (
            'x = "a"\nx = "b"\nRules = [ RowCount > 1 ]',
            "Line 2, column 1: the variable x is declared twice; use another name.",
        ),
        (
            'Metadata = {"V": "1"} Rules = [ RowCount > 1 ]',
            "Line 1, column 13: the key V is not known here; known are Version.",
        ),
        (
            'DataSources = {"Second": "1"} Rules = [ RowCount > 1 ]',
            "Line 1, column 16: the key Second is not known here; known are AdditionalDataSources, Primary.",
        ),
        ('Rules = [ RowCount > 1 labels=["a"="b","a"="c"] ]', "Line 1, column 40: the label a is given twice."),
        (
            'Rules = [ RowCount > 1 labels=[""="b"] ]',
            (
                "Line 1, column 32: the label  is too long or has no key; keys have 1 to 128 characters,"
                " values at most 256."
            ),
        ),
        (
            f'Rules = [ RowCount > 1 labels=["a"="{"b" * 257}"] ]',
            (
                "Line 1, column 32: the label a is too long or has no key; keys have 1 to 128 characters,"
                " values at most 256."
            ),
        ),
        (
            "Rules = [ RowCount > 1 labels=[" + ",".join(f'"{at}"="v"' for at in range(11)) + "] ]",
            "Line 1, column 31: 11 labels are given; a rule has at most 10.",
        ),
    ],
)
def test_an_error_says_where_it_is_and_what_to_do(text, message):
    with pytest.raises(DqdlError) as error:
        parse(text)
    assert str(error.value) == message


# Arbitrary texts, of characters that could end a text or begin a comment.
TEXTS = st.text("ab \"\\\n#-/$'é🙂,)(", max_size=6)
NAMES = st.from_regex("[a-z][a-z0-9_]{0,5}", fullmatch=True)
NUMBERS = st.from_regex(r"[0-9]{1,4}(\.[0-9]{1,3})?", fullmatch=True).map(Number)
EXPRESSIONS = st.recursive(
    st.one_of(NUMBERS, st.integers(1, 9).map(lambda count: Call("last", (Number(str(count)),))), st.just(Call("last"))),
    lambda inner: st.one_of(
        inner.map(Negative),
        st.builds(Arithmetic, st.sampled_from("+-*/"), inner, inner),
        st.builds(Call, st.sampled_from(["avg", "max", "index"]), st.lists(inner, min_size=1, max_size=2).map(tuple)),
    ),
    max_leaves=6,
)
DURATIONS = st.builds(Quantity, st.integers(0, 99), st.sampled_from(["days", "hours", "minutes"]))
DATES = st.one_of(
    st.dates().map(lambda day: Text(day.isoformat())),
    st.times().map(lambda time: Text(f"{time:%H:%M}")),
    st.just(Now()),
    st.builds(Arithmetic, st.sampled_from("+-"), st.just(Now()), DURATIONS),
)
COMPARED = [Operator.EQUAL, Operator.UNEQUAL, Operator.MORE, Operator.AT_LEAST, Operator.LESS, Operator.AT_MOST]


@st.composite
def conditions(draw, rule_type, operands, operators):
    operator = draw(st.sampled_from(operators))
    match operator:
        case Operator.BETWEEN | Operator.NOT_BETWEEN:
            count = 2
        case Operator.IN | Operator.NOT_IN:
            count = draw(st.integers(1, 3))
        case _:
            count = 1
    return condition_of(TYPES[rule_type], operator, [draw(operands) for _ in range(count)])


def rules():
    ranges = [*COMPARED, Operator.BETWEEN, Operator.NOT_BETWEEN, Operator.IN, Operator.NOT_IN]
    of_texts = [Operator.EQUAL, Operator.UNEQUAL, Operator.IN, Operator.NOT_IN, Operator.MATCHES, Operator.NOT_MATCHES]
    columns = TEXTS.map(lambda name: (name,))
    tags = st.lists(NUMBERS, max_size=1).map(
        lambda one: tuple(Tag("threshold", Operator.MORE, (each,)) for each in one)
    )
    wheres = st.one_of(st.just(""), TEXTS)
    plain = TEXTS.map(Text)
    return st.one_of(
        st.builds(Rule, st.just("RowCount"), st.just(()), conditions("RowCount", EXPRESSIONS, ranges), wheres),
        st.builds(Rule, st.just("IsPrimaryKey"), st.lists(TEXTS, min_size=1, max_size=3).map(tuple), where=wheres),
        st.builds(
            Rule,
            st.just("ColumnValues"),
            columns,
            st.one_of(
                conditions("ColumnValues", plain, of_texts),
                conditions("ColumnValues", DATES, ranges),
                conditions("ColumnValues", st.one_of(st.sampled_from(Keyword), plain), of_texts[:4]),
            ),
            wheres,
            st.just(()),
            tags,
        ),
        st.builds(Rule, st.just("DataFreshness"), columns, conditions("DataFreshness", DURATIONS, ranges)),
    )


COMPOSITES = st.recursive(
    rules(),
    lambda inner: st.builds(
        Composite, st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=3).map(tuple)
    ),
    max_leaves=4,
)


@given(COMPOSITES)
def test_the_text_of_a_rule_gives_the_same_rule(rule):
    assert only_rule(str(rule)) == rule


@given(st.text('Rules=[]RowCount>1 "a$#-/()\n.,', max_size=30))
def test_any_text_gives_a_ruleset_or_a_dqdl_error(text):
    with suppress(DqdlError):
        parse(text)
