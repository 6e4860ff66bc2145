"""Executes Airflow's operators for data quality as its workers do; prints what each returns, a line of JSON each.

Arguments: a database and a table. The connection to AWS is in the environment.
"""

import contextlib
import json
import sys

from airflow.providers.amazon.aws.operators.glue import (
    GlueDataQualityOperator,
    GlueDataQualityRuleRecommendationRunOperator,
    GlueDataQualityRuleSetEvaluationRunOperator,
)

DATABASE, TABLE = sys.argv[1:]
SOURCE = {"GlueTable": {"DatabaseName": DATABASE, "TableName": TABLE}}
RULES = 'Rules = [ RowCount > 1, ColumnValues "id" < 2 ]'


class TaskInstance:
    """What the operators need of the instance of a task."""

    dag_id, task_id, run_id, try_number, map_index = "quality", "check", "manual", 1, -1
    stats_tags = {}  # noqa: RUF012  Airflow's own has it so

    def xcom_push(self, key, value, **_):
        pass


def tell(operator):
    # Airflow's log goes to the standard output; that of this program has nothing but answers.
    with contextlib.redirect_stdout(sys.stderr):
        try:
            found = {"found": operator.execute({"ti": TaskInstance()})}
        except Exception as error:  # noqa: BLE001  what a task raises is its answer
            found = {"raised": f"{type(error).__name__}: {error}"}
    print(json.dumps(found), flush=True)


tell(GlueDataQualityOperator(task_id="define", name="airflow", ruleset=RULES))
tell(GlueDataQualityOperator(task_id="change", name="airflow", ruleset=RULES, update_rule_set=True))
tell(
    GlueDataQualityRuleSetEvaluationRunOperator(
        task_id="check", datasource=SOURCE, role="any", rule_set_names=["airflow"], waiter_delay=1
    )
)
tell(
    GlueDataQualityRuleRecommendationRunOperator(
        task_id="propose",
        datasource=SOURCE,
        role="any",
        recommendation_run_kwargs={"CreatedRulesetName": "proposed"},
        waiter_delay=1,
    )
)
