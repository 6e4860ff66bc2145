"""Infers the classes of a script's values from names, imports and the signatures of our own classes."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import dataclass, field

import awsglue.transforms
import awsgluedq.transforms
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
    for module in (awsglue.transforms, awsgluedq.transforms, awsglueml.transforms)
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
    """The meaning of a script's names, as far as the script has been read.

    Args:
        kinds: for each variable, the class of its value.
        classes: for each imported name, the class or transform that it stands for.
    """

    kinds: dict[str, str] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)

    def class_of(self, node: ast.expr) -> str | None:
        """Return the class that an expression names; None if it is not one of ours."""
        if isinstance(node, ast.Name):
            return self.classes.get(node.id)
        if isinstance(node, ast.Attribute) and node.attr in CLASSES.keys() | TRANSFORMS.keys():
            return node.attr if isinstance(node.value, ast.Name) and node.value.id not in self.kinds else None
        return None

    def kind_of(self, node: ast.expr) -> str | None:
        """Return the class of an expression's value; None if it is not known."""
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
        # DataFrames are followed only as far as the rules about batch functions need it.
        return "DataFrame" if owner == "DataFrame" and name != "write" else None


def returned_kind(cls: type, name: str) -> str | None:
    """Return our class in a method's return annotation, the first of several; None if there is none."""
    method = getattr(cls, name, None)
    if not callable(method):
        return None
    said = str(inspect.signature(method).return_annotation)
    return next((word for word in _WORD.findall(said) if word in _KNOWN), None)
