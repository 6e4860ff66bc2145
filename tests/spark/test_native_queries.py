"""Queries over tables of Parquet that run in DuckDB give what Spark gives: every type, join, window and aggregate."""

from __future__ import annotations

import pytest

from tests.native_tables import DEEP_MEASURES, MEASURES, SALES, SHOPS, answer_of, plain, read_tables, with_settings

# Each is a column of one query.
EXPRESSIONS = """
    price * tax; price + tax; price - 1; tax - price; price / tax; large * price; large / tax; -price; abs(price);
    price * tax * tax; large * 0.5; large * tax * 0.5; round(price, 1); round(tax, 2); round(ratio, 2); round(ratio); cast(tax as double);
    cast(price as int); cast(price as decimal(12,1)); cast(ratio as decimal(20,3)); cast(id as decimal(25,2));
    cast(code as decimal(8,2)); cast(price as string); cast(code as int); cast(paid as int); cast(paid as string);
    ratio / 3; ratio * -1; -ratio; abs(ratio); shop + id; id * 2 - shop; year(sold); quarter(sold); month(sold);
    day(sold); dayofyear(sold); date_add(sold, 30); date_sub(sold, shop); datediff(sold, date'2020-02-29');
    cast(sold as string); cast(made as date); cast('2026-02-03' as date) > sold; made >= timestamp'2026-01-05 12:00:00';
    sold between date'2024-01-01' and date'2026-03-03'; substring(name, 2, 2); length(name); trim(name);
    concat(name, '-', code); name || 'x'; name like 'a%b_'; name like '%b%o%'; name like 'a%'; not contains(name, 'b');
    startswith(name, 'a'); endswith(name, 'x'); name in ('abba', 'x', null); upper(code); lower(code);
    id in (1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23); code in ('1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11');
    sold in (date'2026-03-01', date'2026-03-02', date'2026-03-03', date'2026-03-04', date'2026-03-05', date'2026-01-31',
        date'2026-03-07', date'2026-03-08', date'2026-03-09', date'2026-03-10', date'2026-03-11', date'2024-02-29');
    price <=> null; name <=> code; coalesce(price, 0.00); if(paid, price, tax * 0); case when shop = 1 then name end;
    case shop when 1 then 'one' when 2 then 'two' else city end; paid and shop > 1; paid or not paid; price > `limit`;
    shop is null or city is not null; nullif(shop, 1); shop & 2; shiftright(shop, 1); ratio = -0.0D; ratio > price
"""
NUMBERED = ", ".join(f"{one.strip()} AS e{number}" for number, one in enumerate(EXPRESSIONS.split(";")))
AGGREGATES = """
    sum(price), avg(price), avg(tax), avg(large), min(price), max(sold), min(made), max(ratio), avg(ratio),
    stddev(ratio), var_pop(ratio), count(*), sum(id), avg(id), max(name)
"""
WINDOWS = """
    row_number() OVER (PARTITION BY shop ORDER BY sold DESC, id), rank() OVER (ORDER BY paid),
    dense_rank() OVER (ORDER BY paid DESC NULLS LAST), lag(name) OVER (ORDER BY id),
    lead(id, 2, -1L) OVER (ORDER BY id), sum(price) OVER (PARTITION BY shop), count(*) OVER (PARTITION BY paid),
    avg(price) OVER (PARTITION BY shop ORDER BY id),
    max(sold) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)
"""
STATEMENTS = [
    f"SELECT {NUMBERED}, sales.id AS id FROM sales LEFT JOIN shops USING (shop)",
    f"SELECT shop, {AGGREGATES} FROM sales GROUP BY shop",
    "SELECT sum(price), avg(price), count(price), min(name), stddev_samp(ratio) FROM sales WHERE id > 99",
    "SELECT count(DISTINCT shop), count(DISTINCT name), sum(DISTINCT price), count(*), avg(tax), max(sold) FROM sales",
    "SELECT shop, count(DISTINCT name) AS a, count(DISTINCT paid) AS b, sum(id) FILTER (WHERE paid) FROM sales GROUP BY 1",
    "SELECT DISTINCT shop, paid FROM sales",
    "SELECT sum(id) FILTER (WHERE false) FROM sales",
    "SELECT 1 AS one, count(*) FROM sales GROUP BY 1",
    "SELECT 1 AS one, 'x' AS x, count(*) FROM sales WHERE id > 99 GROUP BY 1, 2",
    "SELECT DISTINCT 7 FROM sales",
    "SELECT sold, price, made, count(*) FROM sales GROUP BY sold, price, made",
    "SELECT sum(price) / sum(tax), 100 * sum(if(paid, price, 0)) / sum(price), sum(price) * 0.1 FROM sales",
    "SELECT shop, paid, sum(price), grouping(paid), grouping_id() FROM sales GROUP BY ROLLUP (shop, paid)",
    "SELECT shop, paid, count(DISTINCT name) FROM sales GROUP BY GROUPING SETS ((shop), (paid), ())",
    "SELECT shop, n FROM (SELECT shop, sum(price) AS n FROM sales GROUP BY shop HAVING count(*) > 1) WHERE n > 0",
    "SELECT s.id, city FROM sales AS s JOIN shops ON s.shop = shops.shop AND price > `limit`",
    "SELECT s.id, city FROM sales AS s RIGHT JOIN shops ON s.shop = shops.shop AND paid",
    "SELECT s.id, city FROM sales AS s FULL JOIN shops ON s.shop = shops.shop",
    "SELECT s.id, city FROM sales AS s CROSS JOIN shops WHERE s.id < 3",
    "SELECT s.id, city FROM sales AS s JOIN shops ON s.shop <=> shops.shop",
    "SELECT a.id, b.id FROM sales AS a JOIN sales AS b ON a.shop = b.shop AND a.id < b.id",
    "SELECT id FROM sales LEFT SEMI JOIN shops USING (shop)",
    "SELECT id FROM sales AS s WHERE EXISTS (SELECT 1 FROM shops WHERE shops.shop = s.shop AND `limit` < price)",
    "SELECT id FROM sales WHERE shop NOT IN (SELECT shop FROM shops)",
    "SELECT id FROM sales WHERE shop NOT IN (SELECT shop FROM shops WHERE shop IS NOT NULL)",
    "SELECT id FROM sales WHERE paid OR shop IN (SELECT shop FROM shops WHERE city > 'L')",
    "SELECT id FROM sales WHERE price > (SELECT avg(price) FROM sales WHERE id <> 3)",
    "SELECT id FROM sales AS s WHERE price > (SELECT 0.2 * avg(price) FROM sales AS o WHERE o.shop = s.shop)",
    "SELECT shop FROM sales INTERSECT SELECT shop FROM shops",
    "SELECT shop FROM sales EXCEPT SELECT shop FROM shops",
    "SELECT count(*), sum(shop) FROM (SELECT shop FROM sales UNION ALL SELECT shop FROM shops)",
    "WITH t AS (SELECT shop, sum(price) AS n FROM sales GROUP BY shop) SELECT * FROM t WHERE n = (SELECT max(n) FROM t)",
    f"SELECT id, {WINDOWS} FROM sales",
    "SELECT shop, X'CAFE', X'', array('a, b', ' c ', '', 'null', null), array(1, null), count(*) FROM sales GROUP BY shop",
    "SELECT shop, array(array('it''s')), array(X'00', null), array(1.5D, double('NaN')), max(id) FROM sales GROUP BY shop",
    "SELECT id, lag(cast(null as bigint), 1, id) OVER (ORDER BY id), lead(shop, -1, 7) OVER (ORDER BY id) FROM sales",
    "SELECT id, lag(shop, 1, cast(null as int)) OVER (ORDER BY id), lead(array('x'), 2) OVER (ORDER BY id) FROM sales",
    "SELECT shop, cast(max(cast(tax / 1000 as decimal(9,9))) as string) AS t, cast(min(cast(price as decimal(20,10)) + 3) as string) FROM sales GROUP BY shop",
    "SELECT shop, max(if(id > 3, ratio, 0D)), min(if(id > 3, ratio, 1D)) FROM sales WHERE id <> 8 GROUP BY shop",
    "SELECT * FROM (SELECT id, shop, row_number() OVER (PARTITION BY shop ORDER BY id DESC) AS n FROM sales) WHERE n = 1",
    "SELECT shop, sum(price) AS n, rank() OVER (ORDER BY sum(price) DESC) AS place FROM sales GROUP BY shop",
]
ORDERED = [
    "SELECT shop, sum(price) AS n FROM sales GROUP BY shop ORDER BY n DESC NULLS LAST, shop LIMIT 3",
    "SELECT shop, paid, count(*) FROM sales GROUP BY shop, paid ORDER BY paid NULLS LAST, shop DESC",
    "SELECT sales.id + 1 AS x FROM sales JOIN shops USING (shop) ORDER BY ratio DESC, id",
]


NAN = [
    ("count(*) FROM measures WHERE x > 5", 2),
    ("count(*) FROM measures WHERE x IN (7, double('NaN')) AND NOT (x <= 2) AND x BETWEEN 3 AND double('NaN')", 2),
    ("count(*) FROM deep WHERE s.x = double('NaN') AND (x > 5 OR id > 5)", 1),
    ("cast(max(x) AS string) FROM measures", "NaN"),
    ("count(*) FROM deep WHERE x > 5", 2),
    ("count(*) FROM measures JOIN (SELECT x FROM measures WHERE id = 2) AS one ON one.x = measures.x", 2),
]
LEFT_TO_SPARK = [
    "SELECT shop, min(-cast(large AS decimal(35,4))) FROM sales GROUP BY shop",
    "SELECT shop, cast(max(cast(0 as decimal(20,10))) as string) FROM sales GROUP BY shop",
    "SELECT shop, cast(max(tax / 1000000000) as string) FROM sales GROUP BY shop",
    "SELECT shop, array('a, b'), array('a', ' b'), count(*) FROM sales GROUP BY shop",
    "SELECT shop, named_struct('a', 1), count(*) FROM sales GROUP BY shop",
    "SELECT shop, array(date'2020-01-01'), count(*) FROM sales GROUP BY shop",
    "SELECT id, lead(name, cast(null as int), 'x') OVER (ORDER BY id) FROM sales",
    "SELECT min(if(id > 3, ratio, 0D)), max(-abs(if(ratio = 0, ratio, 0D)) * if(id > 5, 1, -1)) FROM sales",
]
SETTINGS = {
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.legacy.allowHashOnMapType": "true",
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.parquet.binaryAsString": "true",
}


@pytest.fixture(scope="module")
def tables(glue_context, tmp_path_factory):
    read_tables(
        glue_context,
        tmp_path_factory.mktemp("tables"),
        {"sales": SALES, "shops": SHOPS, "measures": MEASURES, "deep": DEEP_MEASURES},
    )
    return glue_context.spark_session


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_rows_are_those_of_spark(tables, statement):
    frame = tables.sql(statement)
    found = answer_of(tables, frame)

    assert found is not None
    assert sorted(map(plain, found)) == sorted(plain(row) for row in frame.collect())


@pytest.mark.parametrize("statement", ORDERED)
def test_the_order_is_that_of_spark(tables, statement):
    frame = tables.sql(statement)
    found = answer_of(tables, frame)

    assert found is not None
    assert list(map(plain, found)) == [plain(row) for row in frame.collect()]


@pytest.mark.parametrize(("query", "value"), NAN)
def test_nan_is_greater_than_all_numbers_in_spark_and_in_duckdb(tables, query, value):
    frame = tables.sql(f"SELECT {query}")

    assert [tuple(row) for row in frame.collect()] == [(value,)]
    assert answer_of(tables, frame) in ([(value,)], None)


@pytest.mark.parametrize("statement", LEFT_TO_SPARK)
def test_values_that_duckdb_would_give_otherwise_are_left_to_spark(tables, statement):
    assert answer_of(tables, tables.sql(statement)) is None


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_is_not_covered_leaves_a_query_to_spark(tables, name):
    with with_settings(tables, {name: SETTINGS[name]}):
        assert answer_of(tables, tables.sql("SELECT shop, max(made) FROM sales GROUP BY shop")) is None


def test_a_cast_in_another_zone_leaves_a_query_to_spark_also_when_the_session_has_left_the_zone(tables):
    statement = "SELECT shop, max(cast(made AS date)) FROM sales GROUP BY shop"
    with with_settings(tables, {"spark.sql.session.timeZone": "America/New_York"}):
        frame = tables.sql(statement)

    assert answer_of(tables, frame) is None
    assert answer_of(tables, tables.sql(statement)) is not None
