"""The calls a script makes into Glue's library."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from awsglue.context import GlueContext
from gluepot.check.kinds import CLASSES, TRANSFORMS, Names

TRANSFORM = "transforms"

# What the facades of a context hand their arguments to.
_FACADES = {
    ("DynamicFrameReader", "from_options"): GlueContext.create_dynamic_frame_from_options,
    ("DataFrameReader", "from_options"): GlueContext.create_data_frame_from_options,
    ("DynamicFrameWriter", "from_options"): GlueContext.write_dynamic_frame_from_options,
}
GLUE_PACKAGES = ("awsglue", "awsglueml", "awsgluedq")


@dataclass(frozen=True, slots=True)
class Call:
    """One call.

    Args:
        owner: class of the method, or `TRANSFORM`.
        name: name of the method or transform.
        line: number of the line, from 1.
        arguments: the argument expressions, by name of the parameter if that is known.
        in_batch: whether the call is in a batch function.
    """

    owner: str
    name: str
    line: int
    arguments: Mapping[str, ast.expr]
    in_batch: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """The calls and imports of a script, in their order.

    Args:
        tree: the syntax tree of the script.
        calls: calls into Glue's library.
        imports: imported modules, and names from Glue's packages, with their lines.
        row_writes: lines in batch functions at which Spark writes a DataFrame.
    """

    tree: ast.Module
    calls: tuple[Call, ...]
    imports: tuple[tuple[str, int], ...]
    row_writes: tuple[int, ...]


def read_script(source: str) -> Script:
    """Return the calls and imports of a script.

    Raises:
        SyntaxError: the text is not Python.
    """
    tree = ast.parse(source)
    reader = _Reader(_batch_functions(tree), _texts(tree))
    reader.visit(tree)
    return Script(tree, tuple(reader.calls), tuple(reader.imports), tuple(reader.row_writes))


def _batch_functions(tree: ast.Module) -> frozenset[str]:
    """Return the names of the functions that are passed to forEachBatch."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "forEachBatch":
            given = [keyword.value for keyword in node.keywords if keyword.arg == "batch_function"] + node.args[1:2]
            found |= {one.id for one in given if isinstance(one, ast.Name)}
    return frozenset(found)


def _texts(tree: ast.Module) -> Mapping[str, ast.Constant]:
    """Return the texts of names that are bound once in the whole script, such as the rulesets that Studio writes."""
    bound = Counter(
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    bound.update(node.arg for node in ast.walk(tree) if isinstance(node, ast.arg))
    found = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str()) as text) if bound[name] == 1:
                found[name] = text
    return found


@dataclass(slots=True)
class _Reader(ast.NodeVisitor):
    """Visits the statements of a script in their order.

    It ignores methods that the script itself adds to a class, and methods with the name of an imported module, because
    custom visual transforms add themselves in that way (docs/glue 13.4). The packaged ones exist anyway.
    """

    batch_functions: frozenset[str]
    texts: Mapping[str, ast.Constant]
    names: Names = field(default_factory=Names)
    calls: list[Call] = field(default_factory=list)
    imports: list[tuple[str, int]] = field(default_factory=list)
    row_writes: list[int] = field(default_factory=list)
    added: set[str] = field(default_factory=set)
    in_batch: bool = False

    def visit_Import(self, node: ast.Import) -> None:
        self.imports += [(alias.name, node.lineno) for alias in node.names]
        self.added |= {alias.name for alias in node.names if not hasattr(CLASSES["DynamicFrame"], alias.name)}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        package = (node.module or "").partition(".")[0]
        if package not in GLUE_PACKAGES:
            return
        for alias in node.names:
            if alias.name == "*":
                theirs = {name for name, cls in TRANSFORMS.items() if cls.__module__.partition(".")[0] == package}
                self.names.classes |= {name: name for name in theirs}
            else:
                self.imports.append((f"{node.module}.{alias.name}", node.lineno))
                if alias.name in CLASSES.keys() | TRANSFORMS.keys():
                    self.names.classes[alias.asname or alias.name] = alias.name

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        kind = self.names.kind_of(node.value)
        for target in node.targets:
            self.visit(target)
            if isinstance(target, ast.Name):
                self._bind(target.id, kind)
            elif isinstance(target, ast.Attribute):
                self.added.add(target.attr)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before = self.in_batch
        for argument in node.args.args:
            annotated = None if argument.annotation is None else self.names.class_of(argument.annotation)
            if annotated is not None:
                self._bind(argument.arg, annotated)
            elif argument.arg in {"glueContext", "glue_context"}:
                self._bind(argument.arg, "GlueContext")
            elif argument.arg == "dfc":  # the signature of Studio's custom code
                self._bind(argument.arg, "DynamicFrameCollection")
        if node.name in self.batch_functions:
            self.in_batch = True
            if node.args.args:
                self._bind(node.args.args[0].arg, "DataFrame")
        self.generic_visit(node)
        self.in_batch = before

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute):
            self._method(node, node.func.value, node.func.attr)
        elif isinstance(node.func, ast.Call) and (named := self.names.class_of(node.func.func)) in TRANSFORMS:
            self._add(TRANSFORM, str(named), node, TRANSFORMS[str(named)].__call__)

    def _method(self, node: ast.Call, value: ast.expr, name: str) -> None:
        made = value.func if isinstance(value, ast.Call) else value  # also `EvaluateDataQuality().process_rows(...)`
        named = self.names.class_of(made)
        if named in TRANSFORMS:
            if name == "apply":
                self._add(TRANSFORM, named, node, TRANSFORMS[named].__call__)
            elif name == "process_rows":
                self._add(TRANSFORM, named, node, inspect.getattr_static(TRANSFORMS[named], name, None))
            return
        owner = named or self.names.kind_of(value)
        if owner in CLASSES and name not in self.added:
            method = _FACADES.get((owner, name)) or inspect.getattr_static(CLASSES[owner], name, None)
            self._add(owner, name, node, method)
        elif self.in_batch and _writes_rows(node):
            self.row_writes.append(node.lineno)

    def _add(self, owner: str, name: str, node: ast.Call, method: object) -> None:
        plain = method.__func__ if isinstance(method, classmethod) else method
        parameters = list(inspect.signature(plain).parameters)[1:] if callable(plain) else []  # without `self` or `cls`
        given = dict(zip(parameters, node.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        ruleset = given.get("ruleset")
        if isinstance(ruleset, ast.Name) and ruleset.id in self.texts:
            given["ruleset"] = self.texts[ruleset.id]
        self.calls.append(Call(owner, name, node.lineno, given, self.in_batch))

    def _bind(self, name: str, kind: str | None) -> None:
        if kind is None:
            self.names.kinds.pop(name, None)
        else:
            self.names.kinds[name] = kind


_WRITER_ENDS = frozenset(
    {"save", "saveAsTable", "insertInto", "jdbc", "parquet", "csv", "json", "orc", "text", "append"}
)
_WRITER_STARTS = frozenset({"write", "writeTo"})


def _writes_rows(node: ast.Call) -> bool:
    """Tell whether a call ends a chain such as `frame.write.mode("append").parquet(path)`."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in _WRITER_ENDS:
        return False
    inner: ast.expr = node.func.value
    while isinstance(inner, ast.Call | ast.Attribute):
        if isinstance(inner, ast.Attribute) and inner.attr in _WRITER_STARTS:
            return True
        inner = inner.func if isinstance(inner, ast.Call) else inner.value
    return False
