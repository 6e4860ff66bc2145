"""What the values of a script are, as far as names, imports and the signatures of our own classes tell."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import dataclass, field

import awsglue.transforms
import awsglueml.transforms
from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame, DynamicFrameCollection, DynamicFrameReader
from awsglue.job import Job
from awsglue.readers import DataFrameReader
from awsglue.sinks import DataFrameWriter, DataSink, DynamicFrameWriter
from awsglue.sources import DataSource, StreamingDataSource
from awsglueml.entity_detector import EntityDetector

CLASSES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        GlueContext,
        DynamicFrame,
        DynamicFrameCollection,
        DynamicFrameReader,
        DynamicFrameWriter,
        DataFrameReader,
        DataFrameWriter,
        DataSink,
        DataSource,
        StreamingDataSource,
        Job,
        EntityDetector,
    )
}
TRANSFORMS: dict[str, type] = {
    name: getattr(module, name)
    for module in (awsglue.transforms, awsglueml.transforms)
    for name in module.__all__
    if name not in CLASSES
}

_ATTRIBUTES = {
    ("GlueContext", "spark_session"): "SparkSession",
    ("GlueContext", "create_dynamic_frame"): "DynamicFrameReader",
    ("GlueContext", "create_data_frame"): "DataFrameReader",
    ("GlueContext", "write_dynamic_frame"): "DynamicFrameWriter",
    ("GlueContext", "write_data_frame"): "DataFrameWriter",
}
_KNOWN = frozenset(CLASSES) | {"DataFrame", "SparkSession"}
_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class Names:
    """What the names of a script stand for so far.

    Args:
        kinds: name of a class by name of a variable, for values.
        classes: name of a class or transform by the name it is imported under.
    """

    kinds: dict[str, str] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)

    def class_of(self, node: ast.expr) -> str | None:
        """Return which class an expression names; None if it is none of ours."""
        if isinstance(node, ast.Name):
            return self.classes.get(node.id)
        if isinstance(node, ast.Attribute) and node.attr in CLASSES.keys() | TRANSFORMS.keys():
            return node.attr if isinstance(node.value, ast.Name) and node.value.id not in self.kinds else None
        return None

    def kind_of(self, node: ast.expr) -> str | None:
        """Return the class of an expression's value; None if it cannot be told."""
        match node:
            case ast.Name(id=name):
                return self.kinds.get(name)
            case ast.Attribute(value=value, attr=name):
                return _ATTRIBUTES.get((self.kind_of(value) or "", name))
            case ast.Subscript(value=value):
                return "DynamicFrame" if self.kind_of(value) == "DynamicFrameCollection" else None
            case ast.Call(func=ast.Attribute(value=value, attr=name) as called):
                return self._returned(value, name) or self._made(called)
            case ast.Call(func=called):
                return self._made(called)
            case ast.IfExp(body=one, orelse=other):
                return self.kind_of(one) or self.kind_of(other)
            case _:
                return None

    def _made(self, called: ast.expr) -> str | None:
        made = self.class_of(called)
        return made if made in CLASSES else None

    def _returned(self, value: ast.expr, name: str) -> str | None:
        named = self.class_of(value)
        if named in TRANSFORMS:
            return returned_kind(TRANSFORMS[named], "__call__") if name == "apply" else None
        owner = named or self.kind_of(value)
        if owner in CLASSES:
            return returned_kind(CLASSES[owner], name)
        # DataFrames are followed only so far that what batch functions do with them is known.
        return "DataFrame" if owner == "DataFrame" and name != "write" else None


def returned_kind(cls: type, name: str) -> str | None:
    """Return the class that a method says it returns, the first of several; None for anything else."""
    method = getattr(cls, name, None)
    if not callable(method):
        return None
    said = str(inspect.signature(method).return_annotation)
    return next((word for word in _WORD.findall(said) if word in _KNOWN), None)
