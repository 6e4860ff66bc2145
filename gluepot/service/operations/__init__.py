"""The operations of the API, by name. Each takes the service and a checked request, and returns an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from gluepot.service.context import Service
from gluepot.service.operations import (
    bookmarks,
    connections,
    databases,
    events,
    functions,
    jobs,
    logs,
    partition_indexes,
    partitions,
    runs,
    tables,
    tags,
    triggers,
    workflows,
)

Operation: TypeAlias = Callable[[Service, Mapping[str, Any]], dict[str, Any]]

OPERATIONS: Mapping[str, Operation] = {
    "BatchCreatePartition": partitions.batch_create_partition,
    "BatchDeleteConnection": connections.batch_delete_connection,
    "BatchDeletePartition": partitions.batch_delete_partition,
    "BatchDeleteTable": tables.batch_delete_table,
    "BatchDeleteTableVersion": tables.batch_delete_table_version,
    "BatchGetJobs": jobs.batch_get_jobs,
    "BatchGetPartition": partitions.batch_get_partition,
    "BatchGetTriggers": triggers.batch_get_triggers,
    "BatchGetWorkflows": workflows.batch_get_workflows,
    "BatchStopJobRun": runs.batch_stop_job_run,
    "BatchUpdatePartition": partitions.batch_update_partition,
    "CreateConnection": connections.create_connection,
    "CreateDatabase": databases.create_database,
    "CreateJob": jobs.create_job,
    "CreatePartition": partitions.create_partition,
    "CreatePartitionIndex": partition_indexes.create_partition_index,
    "CreateTable": tables.create_table,
    "CreateTrigger": triggers.create_trigger,
    "CreateUserDefinedFunction": functions.create_user_defined_function,
    "CreateWorkflow": workflows.create_workflow,
    "DeleteConnection": connections.delete_connection,
    "DeleteDatabase": databases.delete_database,
    "DeleteJob": jobs.delete_job,
    "DeletePartition": partitions.delete_partition,
    "DeletePartitionIndex": partition_indexes.delete_partition_index,
    "DeleteTable": tables.delete_table,
    "DeleteTableVersion": tables.delete_table_version,
    "DeleteTrigger": triggers.delete_trigger,
    "DeleteUserDefinedFunction": functions.delete_user_defined_function,
    "DeleteWorkflow": workflows.delete_workflow,
    "GetConnection": connections.get_connection,
    "GetConnections": connections.get_connections,
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
    "ListJobs": jobs.list_jobs,
    "ListTriggers": triggers.list_triggers,
    "ListWorkflows": workflows.list_workflows,
    "PutWorkflowRunProperties": workflows.put_workflow_run_properties,
    "ResetJobBookmark": bookmarks.reset_job_bookmark,
    "ResumeWorkflowRun": workflows.resume_workflow_run,
    "SearchTables": tables.search_tables,
    "StartJobRun": runs.start_job_run,
    "StartTrigger": triggers.start_trigger,
    "StartWorkflowRun": workflows.start_workflow_run,
    "StopTrigger": triggers.stop_trigger,
    "StopWorkflowRun": workflows.stop_workflow_run,
    "TagResource": tags.tag_resource,
    "UntagResource": tags.untag_resource,
    "UpdateConnection": connections.update_connection,
    "UpdateDatabase": databases.update_database,
    "UpdateJob": jobs.update_job,
    "UpdatePartition": partitions.update_partition,
    "UpdateTable": tables.update_table,
    "UpdateTrigger": triggers.update_trigger,
    "UpdateUserDefinedFunction": functions.update_user_defined_function,
    "UpdateWorkflow": workflows.update_workflow,
}
"""The operations of Glue. What is not here is answered with `UnknownOperationException`."""

LOG_OPERATIONS: Mapping[str, Operation] = {
    "DescribeLogGroups": logs.describe_log_groups,
    "DescribeLogStreams": logs.describe_log_streams,
    "FilterLogEvents": logs.filter_log_events,
    "GetLogEvents": logs.get_log_events,
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

BY_TARGET: Mapping[str, Operation] = {
    f"{word}.{name}": one
    for word, operations in (
        ("AWSGlue", OPERATIONS),
        ("Logs_20140328", LOG_OPERATIONS),
        ("AWSEvents", EVENT_OPERATIONS),
    )
    for name, one in operations.items()
}
"""All operations, by the header that names them."""
