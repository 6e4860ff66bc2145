"""Queries that are put together by chance, and those of TPC-H and TPC-DS, give in DuckDB what they give in Spark."""

from __future__ import annotations

import random
from itertools import count

import pytest
from pyspark.errors import PySparkException

from benchmarks.tpc.suite import make_tables, queries_of
from tests.native_tables import SALES, SHOPS, answer_of, plain, read_tables

pytestmark = pytest.mark.long

# Texts of expressions by type, with places for others: a decimal, a double, a whole number, a text, a date, a condition.
FORMS = {
    "m": """price; tax; `limit`; 0.25; -3.5; {m} + {m}; {m} - {m}; cast({m} * {m} as decimal(20,4)); {m} / 7; {m} / tax;
        round({m}, {k}); abs({m}); -({m}); cast({i} as decimal(14,2)); coalesce({m}, 0.5); if({b}, {m}, {m});
        cast({d} as decimal(18,3)); nullif({m}, {m})""",
    "d": """ratio; ratio; 2.5D; -0.0D; {d} * 3; {d} + {d}; {d} - 0.1D; cast({i} as double); cast(tax as double);
        round({d}, {k}); abs({d}); -({d}); {d} / 4; if({b}, {d}, {d}); coalesce({d}, 1D)""",
    "i": """shop; cast(id as int); 7; -1; {i} + {i}; {i} - {i}; {i} * 3; length({s}); year({t}); month({t}); day({t});
        quarter({t}); datediff({t}, {t}); cast(code as int); cast({b} as int); coalesce({i}, 0); abs({i}); cast({m} as int);
        case when {b} then {i} when {b} then {i} else {i} end; if({b}, {i}, null); size(tags)""",
    "s": """name; code; city; 'abba'; ''; concat({s}, {s}); substring({s}, {k} + 1, 2); trim({s}); coalesce({s}, 'none');
        if({b}, {s}, {s}); cast({i} as string); cast({t} as string); cast({m} as string); upper(code); cast({b} as string);
        try_element_at(tags, -1); get(tags, {k}); coalesce(try_element_at(tags, 2), {s})""",
    "t": """sold; sold; date'2026-03-03'; date_add({t}, {i}); date_sub({t}, {k}); coalesce({t}, date'2026-01-01');
        cast(made as date); if({b}, {t}, {t}); cast('2024-02-29' as date)""",
    "b": """paid; true; {m} > {m}; {d} <= {d}; {i} <> {i}; {s} = {s}; {t} < {t}; {m} is null; {s} is not null; not {b};
        ({b} and {b}); ({b} or {b}); {i} in (1, 2, {i}); {s} in ('x', 'abba', null); {i} between -1 and 9; {s} like '%b%';
        {s} like 'a_%'; contains({s}, 'b'); startswith({s}, 'a'); {i} <=> {i}; {m} in (1.25, 0.5); made > timestamp'2026-01-06'""",
}
AGGREGATES = """
    sum({m}); avg({m}); min({m}); max({m}); sum({i}); avg({i}); count({s}); count(distinct {s}); min({t}); max({s});
    count(distinct {i}); sum({d}); avg({d}); max({d}); count(*); sum({i}) filter (where {b}); sum(distinct {m}); min({d})
"""
WINDOWS = """
    row_number() over (partition by {i} order by id, city); rank() over (order by {m}); dense_rank() over (order by {s} desc);
    sum({m}) over (partition by {s}); count(*) over (partition by {b} order by id, city); lag({s}) over (order by id, city);
    max({t}) over (order by id, city rows between 1 preceding and 2 following); avg({m}) over (partition by shop order by id, city);
    lead({i}, 2) over (partition by paid order by id, city desc)
"""
JOINED = "sales {kind} join shops using (shop)"


class Maker:
    """Puts queries together."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def one(self, kind: str, depth: int = 3) -> str:
        """Return an expression of a type."""
        forms = [form.strip() for form in FORMS[kind].split(";")]
        leaves = [form for form in forms if "{" not in form]
        return self._filled(self._random.choice(forms if depth else leaves), depth)

    def _filled(self, form: str, depth: int) -> str:
        parts = form.split("{")
        text = parts[0]
        for part in parts[1:]:
            kind, _, rest = part.partition("}")
            text += (str(self._random.randrange(4)) if kind == "k" else f"({self.one(kind, max(0, depth - 1))})") + rest
        return text

    def some(self, forms: str, most: int) -> list[str]:
        """Return some expressions of a list of forms."""
        given = [form.strip() for form in forms.split(";")]
        return [self._filled(self._random.choice(given), 2) for _ in range(self._random.randint(1, most))]

    def query(self) -> str:
        """Return a query."""
        source = JOINED.format(kind=self._random.choice(["left", "inner", "full"]))
        tests = f"where {self.one('b')}" if self._random.random() < 0.5 else ""
        if self._random.random() < 0.5:
            columns = [self.one(self._random.choice("mdistb")) for _ in range(4)] + self.some(WINDOWS, 3)
            return f"select {_named(columns)} from {source} {tests}"
        keys = [self.one(self._random.choice("mistb"), 1) for _ in range(self._random.randrange(3))]
        grouped = f"group by {', '.join(map(str, range(1, len(keys) + 1)))}" if keys else ""
        having = f"having count(*) > {self._random.randrange(3)}" if keys and self._random.random() < 0.3 else ""
        return f"select {_named(keys + self.some(AGGREGATES, 5))} from {source} {tests} {grouped} {having}"


def _named(columns):
    return ", ".join(f"{one} as e{number}" for number, one in enumerate(columns))


def answers(spark, query):
    """Return what DuckDB and Spark say to a query, sorted; None for DuckDB if the query is left to Spark."""
    frame = spark.sql(query)
    found = answer_of(spark, frame)
    if found is None:
        return None, None
    return sorted(map(plain, found)), sorted(plain(row) for row in frame.collect())


@pytest.mark.parametrize("seed", range(6))
def test_queries_by_chance(glue_context, tmp_path, seed):
    read_tables(glue_context, tmp_path, {"sales": SALES, "shops": SHOPS})
    maker, seen, compared = Maker(seed), count(1), 0
    while compared < 50:
        assert next(seen) < 300, "too few queries are translated"
        query = maker.query()
        try:
            found, wanted = answers(glue_context.spark_session, query)
        except PySparkException as refused:
            if refused.getCondition() in {"DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES", "GROUP_BY_POS_AGGREGATE"}:
                continue
            raise AssertionError(query) from refused
        if found is not None:
            assert found == wanted, query
            compared += 1


@pytest.mark.parametrize(("suite", "least"), [("tpch", 22), ("tpcds", 97)])
def test_queries_of_the_tpc(glue_context, tmp_path, suite, least):
    spark = glue_context.spark_session
    tables = make_tables(tmp_path, suite, 0.01)
    for name in tables:
        frame = glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [f"{tmp_path}/{name}.parquet"]}, format="parquet"
        )
        frame.toDF().createOrReplaceTempView(name)
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")  # Spark's own joins would need more memory
    equal = set()
    for name, query in queries_of(suite, tables).items():
        found, wanted = answers(spark, query)
        if found is not None:
            assert found == wanted, name
            equal.add(name)
    spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    assert len(equal) >= least
