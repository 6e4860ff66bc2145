"""The operations of the API, by name. Each takes the service and a checked request, and returns an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from gluepot.service.context import Service
from gluepot.service.operations import bookmarks, jobs, logs, runs, tags

Operation: TypeAlias = Callable[[Service, Mapping[str, Any]], dict[str, Any]]

OPERATIONS: Mapping[str, Operation] = {
    "BatchGetJobs": jobs.batch_get_jobs,
    "BatchStopJobRun": runs.batch_stop_job_run,
    "CreateJob": jobs.create_job,
    "DeleteJob": jobs.delete_job,
    "GetJob": jobs.get_job,
    "GetJobBookmark": bookmarks.get_job_bookmark,
    "GetJobRun": runs.get_job_run,
    "GetJobRuns": runs.get_job_runs,
    "GetJobs": jobs.get_jobs,
    "GetTags": tags.get_tags,
    "ListJobs": jobs.list_jobs,
    "ResetJobBookmark": bookmarks.reset_job_bookmark,
    "StartJobRun": runs.start_job_run,
    "TagResource": tags.tag_resource,
    "UntagResource": tags.untag_resource,
    "UpdateJob": jobs.update_job,
}
"""The operations of Glue. What is not here is answered with `UnknownOperationException`."""

LOG_OPERATIONS: Mapping[str, Operation] = {
    "DescribeLogGroups": logs.describe_log_groups,
    "DescribeLogStreams": logs.describe_log_streams,
    "FilterLogEvents": logs.filter_log_events,
    "GetLogEvents": logs.get_log_events,
}
"""The operations of CloudWatch Logs."""

BY_TARGET: Mapping[str, Operation] = {f"AWSGlue.{name}": one for name, one in OPERATIONS.items()} | {
    f"Logs_20140328.{name}": one for name, one in LOG_OPERATIONS.items()
}
"""All operations, by the header that names them."""
