"""What all sinks that write files share: partition folders, names, staging, rejects."""

from gluepot.connectors.files.sink.file_sink import TARGET_FILE_SIZE_BYTES, FileSink, new_file_sink

__all__ = ["TARGET_FILE_SIZE_BYTES", "FileSink", "new_file_sink"]
