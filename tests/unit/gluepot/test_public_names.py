"""What programs may import from Gluepot. A change here is a change for users and belongs into the changelog."""

import importlib

import pytest

PUBLIC = {
    "gluepot.connector_api": [
        "Access",
        "AheadReader",
        "BatchRead",
        "BatchSource",
        "Checkpoint",
        "Chunk",
        "Clock",
        "Connector",
        "Dataset",
        "Declare",
        "Document",
        "DocumentStore",
        "ErrorRecord",
        "GroupPositions",
        "InputSplit",
        "OriginalRecord",
        "Outgoing",
        "PayloadSettings",
        "Planner",
        "PositionsCodec",
        "RawBatch",
        "RecordShape",
        "RecordSink",
        "Refusal",
        "SourceRange",
        "Span",
        "StreamAdmin",
        "StreamIdentity",
        "StreamPositions",
        "StreamReading",
        "StreamShape",
        "StreamSource",
        "TaskReader",
        "ThrottledReads",
        "of_stream",
        "payload_field",
        "read_start",
    ],
    "gluepot.errors": [
        "CheckpointError",
        "ConfigError",
        "DataLoss",
        "EtlError",
        "LeaseHeld",
        "NotSupported",
        "PermanentError",
        "TransientError",
    ],
    "gluepot.sources": ["read_on"],
    "gluepot.table": ["Table", "open", "register"],
    "gluepot.testing": [
        "Batch",
        "GlueJobRunner",
        "JobFailed",
        "JobResult",
        "Record",
        "assert_frames_equal",
        "difference",
    ],
}


@pytest.mark.parametrize("module", PUBLIC)
def test_a_public_module_has_these_names(module):
    found = importlib.import_module(module)
    assert sorted(found.__all__) == PUBLIC[module]
    assert all(hasattr(found, name) for name in found.__all__)


def test_the_package_says_which_modules_are_public():
    import gluepot

    assert all(f"`{module}`" in gluepot.__doc__ for module in PUBLIC)
