"""Glue's narrow transforms as steps: picklable values that turn one chunk into another."""

from dynamicframe.transforms.apply_mapping import ApplyMapping
from dynamicframe.transforms.boxed import BoxedCsv, BoxedJson, BoxFormat
from dynamicframe.transforms.compare_rows import CompareRows
from dynamicframe.transforms.ddb_json import SimplifyDdbJson, UnnestDdbJson
from dynamicframe.transforms.drop_nulls import DropNulls
from dynamicframe.transforms.error_rows import ErrorRows
from dynamicframe.transforms.fields import DropFields, RenameField, SelectFields
from dynamicframe.transforms.known_schema import known_schema
from dynamicframe.transforms.partitions import map_partition
from dynamicframe.transforms.python_steps import FilterRows, MapRows, calls_user_code
from dynamicframe.transforms.read_texts import ReadTexts
from dynamicframe.transforms.resolve_choice import ResolveChoice, casts_to
from dynamicframe.transforms.sample_rows import SampleRows
from dynamicframe.transforms.steps import Stage, Step, output_schema, run_steps
from dynamicframe.transforms.unbox import Unbox
from dynamicframe.transforms.unnest import Unnest

__all__ = [
    "ApplyMapping",
    "BoxFormat",
    "BoxedCsv",
    "BoxedJson",
    "CompareRows",
    "DropFields",
    "DropNulls",
    "ErrorRows",
    "FilterRows",
    "MapRows",
    "ReadTexts",
    "RenameField",
    "ResolveChoice",
    "SampleRows",
    "SelectFields",
    "SimplifyDdbJson",
    "Stage",
    "Step",
    "Unbox",
    "Unnest",
    "UnnestDdbJson",
    "calls_user_code",
    "casts_to",
    "known_schema",
    "map_partition",
    "output_schema",
    "run_steps",
]
