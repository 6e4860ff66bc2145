"""The operations of the API, by name. Each takes the service and a checked request, and returns an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from gluepot.service.context import Service
from gluepot.service.operations import (
    bookmarks,
    connections,
    databases,
    functions,
    jobs,
    partition_indexes,
    partitions,
    runs,
    tables,
    tags,
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
    "BatchStopJobRun": runs.batch_stop_job_run,
    "BatchUpdatePartition": partitions.batch_update_partition,
    "CreateConnection": connections.create_connection,
    "CreateDatabase": databases.create_database,
    "CreateJob": jobs.create_job,
    "CreatePartition": partitions.create_partition,
    "CreatePartitionIndex": partition_indexes.create_partition_index,
    "CreateTable": tables.create_table,
    "CreateUserDefinedFunction": functions.create_user_defined_function,
    "DeleteConnection": connections.delete_connection,
    "DeleteDatabase": databases.delete_database,
    "DeleteJob": jobs.delete_job,
    "DeletePartition": partitions.delete_partition,
    "DeletePartitionIndex": partition_indexes.delete_partition_index,
    "DeleteTable": tables.delete_table,
    "DeleteTableVersion": tables.delete_table_version,
    "DeleteUserDefinedFunction": functions.delete_user_defined_function,
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
    "GetUserDefinedFunction": functions.get_user_defined_function,
    "GetUserDefinedFunctions": functions.get_user_defined_functions,
    "ListJobs": jobs.list_jobs,
    "ResetJobBookmark": bookmarks.reset_job_bookmark,
    "SearchTables": tables.search_tables,
    "StartJobRun": runs.start_job_run,
    "TagResource": tags.tag_resource,
    "UntagResource": tags.untag_resource,
    "UpdateConnection": connections.update_connection,
    "UpdateDatabase": databases.update_database,
    "UpdateJob": jobs.update_job,
    "UpdatePartition": partitions.update_partition,
    "UpdateTable": tables.update_table,
    "UpdateUserDefinedFunction": functions.update_user_defined_function,
}
"""What is not here is answered with `UnknownOperationException`."""
