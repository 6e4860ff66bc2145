"""Which of Spark's plans become SQL of DuckDB, and what the SQL says."""

from __future__ import annotations

import pytest

from gluepot.engine.native.plan import File, Sources, translated
from gluepot.engine.native.types import NotTranslated

CATALYST = "org.apache.spark.sql.catalyst"
FILE = File("/rows/it's.parquet", frozenset({"id", "country"}))


def attribute(number, name, kind):
    return node("expressions.AttributeReference", name=name, dataType=kind, exprId={"id": number})


def node(kind, children=0, /, **fields):
    return {"class": f"{CATALYST}.{kind}", "num-children": children, **fields}


ID, COUNTRY, TAGS = (
    attribute(1, "id", "long"),
    attribute(2, "country", "string"),
    attribute(3, "tags", {"type": "array", "elementType": "string"}),
)
MAP = attribute(4, "more", {"type": "map", "keyType": "string", "valueType": "long"})
RELATION = node("plans.logical.LogicalRelation", output=[[ID], [COUNTRY], [TAGS]])
COLLATED = node("plans.logical.LogicalRelation", output=[[ID], [attribute(2, "country", "string collate UNICODE_CI")]])
COUNT = [
    node("expressions.Alias", 1, name="n", exprId={"id": 9}),
    node("expressions.aggregate.AggregateExpression", 1, isDistinct=True, mode={"object": "Complete$"}),
    node("expressions.aggregate.Count", 1),
    ID,
]


def said(name):
    return {"object": f"{CATALYST}.{name}"}


BY = node("expressions.SortOrder", 1, direction=said("Descending$"), nullOrdering=said("NullsLast$"))


def reading(*files):
    return Sources({1: files})


def aggregate(keys, values):
    return [node("plans.logical.Aggregate", 1, groupingExpressions=keys, aggregateExpressions=values), RELATION]


def test_an_aggregation_reads_its_files_and_numbers_its_columns():
    assert translated(aggregate([[COUNTRY]], [[COUNTRY], COUNT]), reading(FILE)).sql == (
        "SELECT c0, c1 FROM ("
        "SELECT given.c1 AS c0, count(DISTINCT given.c0) AS c1 FROM ("
        'SELECT "id" AS c0, "country" AS c1, CAST(NULL AS VARCHAR[]) AS c2 FROM'
        " read_parquet(['/rows/it''s.parquet'], hive_partitioning = false)"
        ") AS given GROUP BY given.c1)"
    )


def test_the_order_of_rows_is_that_of_the_last_step():
    top = [
        node("plans.logical.GlobalLimit", 1, limitExpr=[node("expressions.Literal", value="5", dataType="integer")]),
        node("plans.logical.LocalLimit", 1),
        node("plans.logical.Sort", 1, order=[[BY, COUNTRY]], **{"global": True}),
    ]

    sql = translated([*top, *aggregate([[COUNTRY]], [COUNT, [COUNTRY]])], reading(FILE)).sql

    assert sql.startswith("SELECT c0, c1 FROM (SELECT * FROM (SELECT given.c0, given.c1, given.c1 AS o0 FROM (")
    assert sql.endswith(") AS given) ORDER BY o0 DESC NULLS LAST LIMIT 5) ORDER BY o0 DESC NULLS LAST")


def test_partitions_of_the_last_step_are_told():
    top = node("plans.logical.Repartition", 1, numPartitions=3, shuffle=False)

    assert translated([top, *aggregate([], [COUNT])], reading(FILE)).partitions == 3


def test_a_column_that_a_file_lacks_is_null():
    sql = translated(aggregate([], [COUNT]), reading(FILE, File("/rows/2.parquet", frozenset()))).sql

    assert "SELECT CAST(NULL AS BIGINT) AS c0, CAST(NULL AS VARCHAR) AS c1" in sql


def test_a_relation_of_another_kind_is_a_view():
    cached = node("execution.columnar.InMemoryRelation", output=[[attribute(7, "id", "long")], [MAP]])
    equal = [node("expressions.EqualTo", 2), ID, attribute(7, "id", "long")]
    plan = [node("plans.logical.Join", 2, joinType=said("plans.Inner$"), condition=equal), RELATION, cached]
    top = node("plans.logical.Project", 1, projectList=[[ID], [attribute(7, "id", "long")]])

    sql = translated([top, *plan], Sources({1: [FILE]}, frozenset({7}))).sql

    assert "JOIN (SELECT c0, CAST(NULL AS INTEGER) AS c1 FROM copy_7) AS r ON (l.c0 = r.c0)" in sql


def test_a_file_with_names_that_differ_by_case_is_left_to_spark():
    with pytest.raises(NotTranslated):
        translated(aggregate([], [COUNT]), reading(File("/rows/1.parquet", frozenset({"id", "ID"}))))


def test_a_function_of_a_library_is_left_to_spark():
    foreign = {**node("expressions.Upper", 1), "class": "com.example.Upper"}
    alias = node("expressions.Alias", 1, name="r", exprId={"id": 9})

    with pytest.raises(NotTranslated):
        translated(aggregate([[COUNTRY]], [[alias, foreign, COUNTRY]]), reading(FILE))


def test_the_types_of_a_query_are_those_of_its_columns():
    assert translated(aggregate([[COUNTRY]], [[COUNTRY], COUNT]), reading(FILE)).kinds == ("string", "long")


@pytest.mark.parametrize(
    "plan",
    [
        [RELATION],
        aggregate([[TAGS]], [COUNT]),
        aggregate([], [[*COUNT[:3], TAGS]]),
        aggregate([], [[*COUNT[:2], node("expressions.aggregate.Max", 1), TAGS]]),
        [node("plans.logical.Sort", 1, order=[[BY, TAGS]], **{"global": True}), *aggregate([[ID]], [[TAGS]])],
        [
            node("plans.logical.Filter", 1, condition=[node("expressions.EqualTo", 2), TAGS, TAGS]),
            *aggregate([], [COUNT]),
        ],
        [aggregate([[COUNTRY]], [COUNT])[0], COLLATED],
        aggregate([], [[node("expressions.Alias", 1, name="r", exprId={"id": 9}), node("expressions.Rand", 0)]]),
        aggregate([], [[*COUNT[:2], node("expressions.aggregate.CollectSet", 1), ID]]),
        aggregate([], [[COUNT[0], {**COUNT[1], "mode": {"object": "Partial$"}}, *COUNT[2:]]]),
        [node("plans.logical.Sort", 1, order=[], **{"global": False}), *aggregate([], [COUNT])],
        [node("plans.logical.GlobalLimit", 1, limitExpr=[ID]), *aggregate([], [COUNT])],
        aggregate([], [COUNT])[:1],
    ],
    ids=[
        "no aggregation",
        "key",
        "count of a list",
        "max of a list",
        "order of lists",
        "equal lists",
        "collation",
        "function",
        "aggregate",
        "mode",
        "sort",
        "limit",
        "incomplete",
    ],
)
def test_anything_else_is_left_to_spark(plan):
    with pytest.raises(NotTranslated):
        translated(plan, reading(FILE))
