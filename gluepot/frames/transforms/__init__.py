"""Glue's narrow transforms as steps: picklable values that turn one chunk into another."""

from gluepot.frames.transforms.apply_mapping import ApplyMapping
from gluepot.frames.transforms.boxed import BoxedCsv, BoxedJson, BoxFormat
from gluepot.frames.transforms.compare_rows import CompareRows
from gluepot.frames.transforms.ddb_json import SimplifyDdbJson, UnnestDdbJson
from gluepot.frames.transforms.drop_nulls import DropNulls
from gluepot.frames.transforms.error_rows import ErrorRows
from gluepot.frames.transforms.fields import DropFields, RenameField, SelectFields
from gluepot.frames.transforms.known_schema import known_schema
from gluepot.frames.transforms.known_types import KnownTypes
from gluepot.frames.transforms.partitions import map_partition
from gluepot.frames.transforms.python_steps import FilterRows, MapRows, calls_user_code
from gluepot.frames.transforms.read_texts import ReadTexts
from gluepot.frames.transforms.resolve_choice import ResolveChoice, casts_to
from gluepot.frames.transforms.sample_rows import SampleRows
from gluepot.frames.transforms.steps import Stage, Step, output_schema, run_steps
from gluepot.frames.transforms.unbox import Unbox
from gluepot.frames.transforms.unnest import Unnest

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
    "KnownTypes",
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
