"""JSON and CSV, plain or compressed: the sinks, and readers of what they wrote."""

from gluepot.connectors.textfiles.csv_format import CsvFormat
from gluepot.connectors.textfiles.csv_read import read_csv
from gluepot.connectors.textfiles.json_format import JsonFormat
from gluepot.connectors.textfiles.json_read import read_json
from gluepot.connectors.textfiles.sinks import csv_sink, json_sink

__all__ = ["CsvFormat", "JsonFormat", "csv_sink", "json_sink", "read_csv", "read_json"]
