"""Which functions of Spark SQL the shortcut may take: a function that is newly taken changes this list."""

from __future__ import annotations

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from gluepot.engine.native.aggregates import AGGREGATES, WINDOW_FUNCTIONS
from gluepot.engine.native.expressions import EXPRESSIONS
from gluepot.engine.native.nodes import simple

TRANSLATED = set(EXPRESSIONS) | AGGREGATES | WINDOW_FUNCTIONS
REPLACED = "org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable"

# For some types of arguments; `tests/differential/kinds/sql.py` compares them.
TAKEN = """
    ! & * + - / < <= <=> = == > >= >> abs and any array_size avg bigint binary bool_and bool_or boolean btrim
    cardinality cast char_length character_length coalesce collation concat contains count date date_add
    date_diff date_sub dateadd datediff day dayofmonth dayofyear decimal dense_rank double element_at endswith
    equal_null every float get if ifnull ilike in int isnotnull isnull lag lcase lead left len length like
    lower max mean min month negative not nullifzero nvl nvl2 or quarter rank regr_avgx regr_avgy regr_count
    right round row_number shiftright size smallint some startswith std stddev stddev_pop stddev_samp string
    substr substring sum time timestamp tinyint to_date to_timestamp to_timestamp_ltz to_timestamp_ntz trim
    try_avg try_element_at try_sum try_to_date try_to_timestamp ucase upper var_pop var_samp variance when
    year
"""


def classes(expression):
    """Yield the classes of an expression and all below it, without columns."""
    name = simple(expression.getClass().getName())
    if name != "AttributeReference":
        yield name
    inner = expression.children()
    for at in range(inner.size()):
        yield from classes(inner.apply(at))


def replacement(jvm, kind, registry, identifier, columns):
    """Return the classes that a call becomes for some number of arguments that it takes."""
    for number in (1, 2, 3):
        try:
            call = registry.lookupFunction(identifier, jvm.PythonUtils.toSeq(columns[:number]))
            return set(classes(call.replacement() if kind.isInstance(call) else call))
        except (PySparkException, Py4JError):  # another number of arguments, or other types
            continue
    return set()


def test_the_functions_that_may_be_taken(glue_context):
    spark = glue_context.spark_session
    jvm = spark.sparkContext._jvm
    registry = spark._jsparkSession.sessionState().functionRegistry()
    rows = spark.range(1).selectExpr(*(f"cast(id as string) AS c{at}" for at in range(3)))
    output = rows._jdf.queryExecution().analyzed().output()
    columns = [output.apply(at) for at in range(3)]
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    replaced = jvm.java.lang.Class.forName(REPLACED, True, loader)
    names, taken = registry.listFunction(), set()
    for at in range(names.size()):
        identifier = names.apply(at)
        name = registry.lookupFunction(identifier).get().getClassName()
        kinds = {simple(name)}
        if simple(name).endswith("Builder") or replaced.isAssignableFrom(
            jvm.java.lang.Class.forName(name, True, loader)
        ):
            kinds = replacement(jvm, replaced, registry, identifier, columns)
        if kinds and kinds <= TRANSLATED:
            taken.add(identifier.funcName())

    assert sorted(taken) == TAKEN.split()
