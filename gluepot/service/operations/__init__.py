"""The operations of the API, by name. Each takes the service and a checked request, and returns an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from gluepot.service.context import Service
from gluepot.service.operations import bookmarks, jobs, logs, runs, tags, triggers, workflows

Operation: TypeAlias = Callable[[Service, Mapping[str, Any]], dict[str, Any]]

OPERATIONS: Mapping[str, Operation] = {
    "BatchGetJobs": jobs.batch_get_jobs,
    "BatchGetTriggers": triggers.batch_get_triggers,
    "BatchGetWorkflows": workflows.batch_get_workflows,
    "BatchStopJobRun": runs.batch_stop_job_run,
    "CreateJob": jobs.create_job,
    "CreateTrigger": triggers.create_trigger,
    "CreateWorkflow": workflows.create_workflow,
    "DeleteJob": jobs.delete_job,
    "DeleteTrigger": triggers.delete_trigger,
    "DeleteWorkflow": workflows.delete_workflow,
    "GetJob": jobs.get_job,
    "GetJobBookmark": bookmarks.get_job_bookmark,
    "GetJobRun": runs.get_job_run,
    "GetJobRuns": runs.get_job_runs,
    "GetJobs": jobs.get_jobs,
    "GetTags": tags.get_tags,
    "GetTrigger": triggers.get_trigger,
    "GetTriggers": triggers.get_triggers,
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
    "StartJobRun": runs.start_job_run,
    "StartTrigger": triggers.start_trigger,
    "StartWorkflowRun": workflows.start_workflow_run,
    "StopTrigger": triggers.stop_trigger,
    "StopWorkflowRun": workflows.stop_workflow_run,
    "TagResource": tags.tag_resource,
    "UntagResource": tags.untag_resource,
    "UpdateJob": jobs.update_job,
    "UpdateTrigger": triggers.update_trigger,
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

BY_TARGET: Mapping[str, Operation] = {f"AWSGlue.{name}": one for name, one in OPERATIONS.items()} | {
    f"Logs_20140328.{name}": one for name, one in LOG_OPERATIONS.items()
}
"""All operations, by the header that names them."""
