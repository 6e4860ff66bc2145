"""Table formats of data lakes: which archives and which settings of Spark `--datalake-formats` stands for."""

from gluepot.datalake.formats import archives_of
from gluepot.datalake.settings import with_formats

__all__ = ["archives_of", "with_formats"]
