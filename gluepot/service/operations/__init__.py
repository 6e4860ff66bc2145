"""The operations of the API, by name. Each takes the service and a checked request, and returns an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

from gluepot.service.context import Service
from gluepot.service.operations import (
    alarms,
    bookmarks,
    classifiers,
    column_statistics,
    connections,
    crawlers,
    databases,
    events,
    functions,
    jobs,
    log_groups,
    logs,
    metrics,
    partition_indexes,
    partitions,
    policies,
    quality_runs,
    registries,
    runs,
    schema_versions,
    schemas,
    security_configurations,
    tables,
    tags,
    triggers,
    workflows,
)

Operation: TypeAlias = Callable[[Service, Mapping[str, Any]], dict[str, Any]]


def _when_asked(module: str, name: str) -> Operation:
    """Return an operation whose module is loaded with the first call, because it takes much memory."""

    def operation(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
        found: Operation = getattr(import_module(f"{__name__}.{module}"), name)
        return found(service, request)

    return operation


OPERATIONS: Mapping[str, Operation] = {
    "BatchCreatePartition": partitions.batch_create_partition,
    "BatchDeleteConnection": connections.batch_delete_connection,
    "BatchDeletePartition": partitions.batch_delete_partition,
    "BatchDeleteTable": tables.batch_delete_table,
    "BatchDeleteTableVersion": tables.batch_delete_table_version,
    "BatchGetCrawlers": crawlers.batch_get_crawlers,
    "BatchGetDataQualityResult": _when_asked("quality_results", "batch_get_data_quality_result"),
    "BatchGetJobs": jobs.batch_get_jobs,
    "BatchGetPartition": partitions.batch_get_partition,
    "BatchGetTriggers": triggers.batch_get_triggers,
    "BatchGetWorkflows": workflows.batch_get_workflows,
    "BatchStopJobRun": runs.batch_stop_job_run,
    "BatchUpdatePartition": partitions.batch_update_partition,
    "CancelDataQualityRuleRecommendationRun": quality_runs.cancel_data_quality_rule_recommendation_run,
    "CancelDataQualityRulesetEvaluationRun": quality_runs.cancel_data_quality_ruleset_evaluation_run,
    "CheckSchemaVersionValidity": schema_versions.check_schema_version_validity,
    "CreateClassifier": classifiers.create_classifier,
    "CreateConnection": connections.create_connection,
    "CreateCrawler": crawlers.create_crawler,
    "CreateDataQualityRuleset": _when_asked("quality_rulesets", "create_data_quality_ruleset"),
    "CreateDatabase": databases.create_database,
    "CreateJob": jobs.create_job,
    "CreatePartition": partitions.create_partition,
    "CreatePartitionIndex": partition_indexes.create_partition_index,
    "CreateRegistry": registries.create_registry,
    "CreateSchema": schemas.create_schema,
    "CreateSecurityConfiguration": security_configurations.create_security_configuration,
    "CreateTable": tables.create_table,
    "CreateTrigger": triggers.create_trigger,
    "CreateUserDefinedFunction": functions.create_user_defined_function,
    "CreateWorkflow": workflows.create_workflow,
    "DeleteClassifier": classifiers.delete_classifier,
    "DeleteColumnStatisticsForPartition": column_statistics.delete_column_statistics_for_partition,
    "DeleteColumnStatisticsForTable": column_statistics.delete_column_statistics_for_table,
    "DeleteConnection": connections.delete_connection,
    "DeleteCrawler": crawlers.delete_crawler,
    "DeleteDataQualityRuleset": _when_asked("quality_rulesets", "delete_data_quality_ruleset"),
    "DeleteDatabase": databases.delete_database,
    "DeleteJob": jobs.delete_job,
    "DeletePartition": partitions.delete_partition,
    "DeletePartitionIndex": partition_indexes.delete_partition_index,
    "DeleteRegistry": registries.delete_registry,
    "DeleteResourcePolicy": policies.delete_resource_policy,
    "DeleteSchema": schemas.delete_schema,
    "DeleteSchemaVersions": schema_versions.delete_schema_versions,
    "DeleteSecurityConfiguration": security_configurations.delete_security_configuration,
    "DeleteTable": tables.delete_table,
    "DeleteTableVersion": tables.delete_table_version,
    "DeleteTrigger": triggers.delete_trigger,
    "DeleteUserDefinedFunction": functions.delete_user_defined_function,
    "DeleteWorkflow": workflows.delete_workflow,
    "GetClassifier": classifiers.get_classifier,
    "GetClassifiers": classifiers.get_classifiers,
    "GetColumnStatisticsForPartition": column_statistics.get_column_statistics_for_partition,
    "GetColumnStatisticsForTable": column_statistics.get_column_statistics_for_table,
    "GetConnection": connections.get_connection,
    "GetConnections": connections.get_connections,
    "GetCrawler": crawlers.get_crawler,
    "GetCrawlerMetrics": crawlers.get_crawler_metrics,
    "GetCrawlers": crawlers.get_crawlers,
    "GetDataCatalogEncryptionSettings": security_configurations.get_data_catalog_encryption_settings,
    "GetDataQualityResult": _when_asked("quality_results", "get_data_quality_result"),
    "GetDataQualityRuleRecommendationRun": quality_runs.get_data_quality_rule_recommendation_run,
    "GetDataQualityRuleset": _when_asked("quality_rulesets", "get_data_quality_ruleset"),
    "GetDataQualityRulesetEvaluationRun": quality_runs.get_data_quality_ruleset_evaluation_run,
    "GetDatabase": databases.get_database,
    "GetDatabases": databases.get_databases,
    "GetJob": jobs.get_job,
    "GetJobBookmark": bookmarks.get_job_bookmark,
    "GetJobRun": runs.get_job_run,
    "GetJobRuns": runs.get_job_runs,
    "GetJobs": jobs.get_jobs,
    "GetPartition": partitions.get_partition,
    "GetPartitionIndexes": partition_indexes.get_partition_indexes,
    "GetPartitions": partitions.get_partitions,
    "GetRegistry": registries.get_registry,
    "GetResourcePolicies": policies.get_resource_policies,
    "GetResourcePolicy": policies.get_resource_policy,
    "GetSchema": schemas.get_schema,
    "GetSchemaByDefinition": schema_versions.get_schema_by_definition,
    "GetSchemaVersion": schema_versions.get_schema_version,
    "GetSchemaVersionsDiff": schema_versions.get_schema_versions_diff,
    "GetSecurityConfiguration": security_configurations.get_security_configuration,
    "GetSecurityConfigurations": security_configurations.get_security_configurations,
    "GetTable": tables.get_table,
    "GetTableVersion": tables.get_table_version,
    "GetTableVersions": tables.get_table_versions,
    "GetTables": tables.get_tables,
    "GetTags": tags.get_tags,
    "GetTrigger": triggers.get_trigger,
    "GetTriggers": triggers.get_triggers,
    "GetUserDefinedFunction": functions.get_user_defined_function,
    "GetUserDefinedFunctions": functions.get_user_defined_functions,
    "GetWorkflow": workflows.get_workflow,
    "GetWorkflowRun": workflows.get_workflow_run,
    "GetWorkflowRunProperties": workflows.get_workflow_run_properties,
    "GetWorkflowRuns": workflows.get_workflow_runs,
    "ListCrawlers": crawlers.list_crawlers,
    "ListCrawls": crawlers.list_crawls,
    "ListDataQualityResults": _when_asked("quality_results", "list_data_quality_results"),
    "ListDataQualityRuleRecommendationRuns": quality_runs.list_data_quality_rule_recommendation_runs,
    "ListDataQualityRulesetEvaluationRuns": quality_runs.list_data_quality_ruleset_evaluation_runs,
    "ListDataQualityRulesets": _when_asked("quality_rulesets", "list_data_quality_rulesets"),
    "ListJobs": jobs.list_jobs,
    "ListRegistries": registries.list_registries,
    "ListSchemaVersions": schema_versions.list_schema_versions,
    "ListSchemas": schemas.list_schemas,
    "ListTriggers": triggers.list_triggers,
    "ListWorkflows": workflows.list_workflows,
    "PutDataCatalogEncryptionSettings": security_configurations.put_data_catalog_encryption_settings,
    "PutResourcePolicy": policies.put_resource_policy,
    "PutSchemaVersionMetadata": schema_versions.put_schema_version_metadata,
    "PutWorkflowRunProperties": workflows.put_workflow_run_properties,
    "QuerySchemaVersionMetadata": schema_versions.query_schema_version_metadata,
    "RegisterSchemaVersion": schema_versions.register_schema_version,
    "RemoveSchemaVersionMetadata": schema_versions.remove_schema_version_metadata,
    "ResetJobBookmark": bookmarks.reset_job_bookmark,
    "ResumeWorkflowRun": workflows.resume_workflow_run,
    "SearchTables": tables.search_tables,
    "StartCrawler": crawlers.start_crawler,
    "StartCrawlerSchedule": crawlers.start_crawler_schedule,
    "StartDataQualityRuleRecommendationRun": quality_runs.start_data_quality_rule_recommendation_run,
    "StartDataQualityRulesetEvaluationRun": quality_runs.start_data_quality_ruleset_evaluation_run,
    "StartJobRun": runs.start_job_run,
    "StartTrigger": triggers.start_trigger,
    "StartWorkflowRun": workflows.start_workflow_run,
    "StopCrawler": crawlers.stop_crawler,
    "StopCrawlerSchedule": crawlers.stop_crawler_schedule,
    "StopTrigger": triggers.stop_trigger,
    "StopWorkflowRun": workflows.stop_workflow_run,
    "TagResource": tags.tag_resource,
    "TestConnection": connections.try_connection,
    "UntagResource": tags.untag_resource,
    "UpdateClassifier": classifiers.update_classifier,
    "UpdateColumnStatisticsForPartition": column_statistics.update_column_statistics_for_partition,
    "UpdateColumnStatisticsForTable": column_statistics.update_column_statistics_for_table,
    "UpdateConnection": connections.update_connection,
    "UpdateCrawler": crawlers.update_crawler,
    "UpdateCrawlerSchedule": crawlers.update_crawler_schedule,
    "UpdateDataQualityRuleset": _when_asked("quality_rulesets", "update_data_quality_ruleset"),
    "UpdateDatabase": databases.update_database,
    "UpdateJob": jobs.update_job,
    "UpdatePartition": partitions.update_partition,
    "UpdateRegistry": registries.update_registry,
    "UpdateSchema": schemas.update_schema,
    "UpdateTable": tables.update_table,
    "UpdateTrigger": triggers.update_trigger,
    "UpdateUserDefinedFunction": functions.update_user_defined_function,
    "UpdateWorkflow": workflows.update_workflow,
}
"""The operations of Glue. What is not here is answered with `UnknownOperationException`."""

LOG_OPERATIONS: Mapping[str, Operation] = {
    "CreateLogGroup": log_groups.create_log_group,
    "CreateLogStream": log_groups.create_log_stream,
    "DeleteLogGroup": log_groups.delete_log_group,
    "DeleteLogStream": log_groups.delete_log_stream,
    "DeleteRetentionPolicy": log_groups.delete_retention_policy,
    "DescribeLogGroups": log_groups.describe_log_groups,
    "DescribeLogStreams": logs.describe_log_streams,
    "FilterLogEvents": logs.filter_log_events,
    "GetLogEvents": logs.get_log_events,
    "ListTagsForResource": log_groups.list_tags_for_resource,
    "PutLogEvents": log_groups.put_log_events,
    "PutRetentionPolicy": log_groups.put_retention_policy,
    "TagResource": log_groups.tag_resource,
    "UntagResource": log_groups.untag_resource,
}
"""The operations of CloudWatch Logs."""

EVENT_OPERATIONS: Mapping[str, Operation] = {
    "DeleteRule": events.delete_rule,
    "DescribeRule": events.describe_rule,
    "DisableRule": events.disable_rule,
    "EnableRule": events.enable_rule,
    "ListRuleNamesByTarget": events.list_rule_names_by_target,
    "ListRules": events.list_rules,
    "ListTargetsByRule": events.list_targets_by_rule,
    "PutEvents": events.put_events,
    "PutRule": events.put_rule,
    "PutTargets": events.put_targets,
    "RemoveTargets": events.remove_targets,
    "TestEventPattern": events.try_event_pattern,
}
"""The operations of EventBridge."""

METRIC_OPERATIONS: Mapping[str, Operation] = {
    "DeleteAlarms": alarms.delete_alarms,
    "DescribeAlarmHistory": alarms.describe_alarm_history,
    "DescribeAlarms": alarms.describe_alarms,
    "DescribeAlarmsForMetric": alarms.describe_alarms_for_metric,
    "DisableAlarmActions": alarms.disable_alarm_actions,
    "EnableAlarmActions": alarms.enable_alarm_actions,
    "GetMetricData": metrics.get_metric_data,
    "GetMetricStatistics": metrics.get_metric_statistics,
    "ListMetrics": metrics.list_metrics,
    "ListTagsForResource": alarms.list_tags_for_resource,
    "PutMetricAlarm": alarms.put_metric_alarm,
    "PutMetricData": metrics.put_metric_data,
    "SetAlarmState": alarms.set_alarm_state,
    "TagResource": alarms.tag_resource,
    "UntagResource": alarms.untag_resource,
}
"""The operations of CloudWatch."""

BY_TARGET: Mapping[str, Operation] = {
    f"{word}.{name}": one
    for word, operations in (
        ("AWSGlue", OPERATIONS),
        ("Logs_20140328", LOG_OPERATIONS),
        ("AWSEvents", EVENT_OPERATIONS),
        ("GraniteServiceVersion20100801", METRIC_OPERATIONS),
    )
    for name, one in operations.items()
}
"""All operations, by the header that names them."""


def operations_of(service: Service) -> dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]]:
    """Return what answers each operation of a service, by the header that names it."""
    return {target: partial(one, service) for target, one in BY_TARGET.items()}
