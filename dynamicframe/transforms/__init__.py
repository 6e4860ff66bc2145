"""Glue's narrow transforms as steps: picklable values that turn one chunk into another."""

from dynamicframe.transforms.apply_mapping import ApplyMapping
from dynamicframe.transforms.fields import DropFields, RenameField, SelectFields
from dynamicframe.transforms.python_steps import FilterRows, MapRows
from dynamicframe.transforms.steps import Step, output_schema, run_steps

__all__ = [
    "ApplyMapping",
    "DropFields",
    "FilterRows",
    "MapRows",
    "RenameField",
    "SelectFields",
    "Step",
    "output_schema",
    "run_steps",
]
