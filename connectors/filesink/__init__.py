"""What all sinks that write files share: partition folders, names, staging, rejects. Not a connector itself."""

from gluepot.connectors.filesink.format import FileFormat, RowWriter
from gluepot.connectors.filesink.sink import TARGET_FILE_SIZE_BYTES, FileSink, new_file_sink

__all__ = ["TARGET_FILE_SIZE_BYTES", "FileFormat", "FileSink", "RowWriter", "new_file_sink"]
