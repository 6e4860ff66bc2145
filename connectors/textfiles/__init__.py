"""The sinks `format="json"` and `format="csv"`: text, plain or compressed."""

from connectors.textfiles.csv_format import CsvFormat
from connectors.textfiles.json_format import JsonFormat
from connectors.textfiles.sinks import csv_sink, json_sink

__all__ = ["CsvFormat", "JsonFormat", "csv_sink", "json_sink"]
