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
_CHANGES = frozenset({"append", "clear", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update"})
_NO_SUCH_MODULE = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


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
        imports: imported modules, and names from Glue's packages, with their lines. Modules that the script can do
            without are left out.
        row_writes: lines in batch functions at which Spark writes a DataFrame.
        formats: what Spark's own readers and writers are told by `format`, with their lines, and whether it is
            `readStream` that is told.
    """

    tree: ast.Module
    calls: tuple[Call, ...]
    imports: tuple[tuple[str, int], ...]
    row_writes: tuple[int, ...]
    formats: tuple[tuple[str, int, bool], ...]


def read_script(source: str) -> Script:
    """Return the calls and imports of a script.

    Raises:
        SyntaxError: the text is not Python.
    """
    tree = ast.parse(source)
    reader = _Reader(_batch_functions(tree), _literals(tree))
    reader.visit(tree)
    return Script(tree, tuple(reader.calls), tuple(reader.imports), tuple(reader.row_writes), tuple(reader.formats))


def imported_modules(source: str) -> frozenset[str]:
    """Return the dotted names of the modules that a script imports, and of what it imports from them.

    Raises:
        SyntaxError: the text is not Python.
    """
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=module, names=names):
                inside = f"{module}." if module else ""
                found |= {inside.rstrip("."), *(f"{inside}{alias.name}" for alias in names)}
    return frozenset(found)


def _batch_functions(tree: ast.Module) -> frozenset[str]:
    """Return the names of the functions that are passed to forEachBatch."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "forEachBatch":
            given = [keyword.value for keyword in node.keywords if keyword.arg == "batch_function"] + node.args[1:2]
            found |= {one.id for one in given if isinstance(one, ast.Name)}
    return frozenset(found)


def _literals(tree: ast.Module) -> Mapping[str, ast.expr]:
    """Return the values of names that are bound once in the whole script and not changed, if they are written there.

    These are texts, such as the rulesets that Studio writes, and dicts and lists, such as options.
    """
    bound: Counter[str] = Counter()
    found: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                bound[name] += 1
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                bound[name] += 1
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if attr in _CHANGES:
                bound[name] += 1
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str()) as value):
                found[name] = value
            case ast.Assign(targets=[ast.Name(id=name)], value=(ast.Dict() | ast.List()) as value):
                found[name] = value
    return {name: value for name, value in found.items() if bound[name] == 1}


@dataclass(slots=True)
class _Reader(ast.NodeVisitor):
    """Visits the statements of a script in their order.

    It ignores methods that the script itself adds to a class, and methods with the name of an imported module, because
    custom visual transforms add themselves in that way (docs/glue 13.4). The packaged ones exist anyway.
    """

    batch_functions: frozenset[str]
    literals: Mapping[str, ast.expr]
    names: Names = field(default_factory=Names)
    calls: list[Call] = field(default_factory=list)
    imports: list[tuple[str, int]] = field(default_factory=list)
    row_writes: list[int] = field(default_factory=list)
    formats: list[tuple[str, int, bool]] = field(default_factory=list)
    asked_for: Counter[str] = field(default_factory=Counter)
    can_do_without: bool = False
    added: set[str] = field(default_factory=set)
    in_batch: bool = False

    def visit_Try(self, node: ast.Try) -> None:
        before = self.can_do_without
        self.can_do_without = before or any(_catches_imports(handler) for handler in node.handlers)
        for statement in node.body:
            self.visit(statement)
        self.can_do_without = before
        for part in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(part)

    def visit_If(self, node: ast.If) -> None:
        """Leave methods alone that the script calls only if they are there: `if hasattr(frame, "name")`."""
        self.visit(node.test)
        asked = [name for one in ast.walk(node.test) if (name := _asked_for(one)) is not None]
        self.asked_for.update(asked)
        for statement in node.body:
            self.visit(statement)
        self.asked_for.subtract(asked)
        for statement in node.orelse:
            self.visit(statement)

    def visit_Import(self, node: ast.Import) -> None:
        if not self.can_do_without:
            self.imports += [(alias.name, node.lineno) for alias in node.names]
        self.added |= {alias.name for alias in node.names if not hasattr(CLASSES["DynamicFrame"], alias.name)}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        package = (node.module or "").partition(".")[0]
        if package not in GLUE_PACKAGES:
            if not node.level and not self.can_do_without:
                self.imports.append((str(node.module), node.lineno))
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
        before, kinds = self.in_batch, dict(self.names.kinds)
        for argument in node.args.args:
            annotated = None if argument.annotation is None else self.names.class_of(argument.annotation)
            if argument.annotation is not None:
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
        for argument in node.args.args:  # outside of the function, the name means what it meant before
            self._bind(argument.arg, kinds.get(argument.arg))

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
        if name == "format" and node.args:
            given = self._literal(node.args[0])
            if isinstance(given, ast.Constant) and _is_of_spark(value):
                of_stream = any(isinstance(one, ast.Attribute) and one.attr == "readStream" for one in ast.walk(value))
                self.formats.append((str(given.value), node.lineno, of_stream))
        if owner in CLASSES and name not in self.added and not self.asked_for[name]:
            method = _FACADES.get((owner, name)) or inspect.getattr_static(CLASSES[owner], name, None)
            self._add(owner, name, node, method)
        elif self.in_batch and _writes_rows(node):
            self.row_writes.append(node.lineno)

    def _add(self, owner: str, name: str, node: ast.Call, method: object) -> None:
        plain = method.__func__ if isinstance(method, classmethod) else method
        parameters = list(inspect.signature(plain).parameters)[1:] if callable(plain) else []  # without `self` or `cls`
        given = dict(zip(parameters, node.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        given = {parameter: self._literal(value) for parameter, value in given.items()}
        self.calls.append(Call(owner, name, node.lineno, given, self.in_batch))

    def _literal(self, node: ast.expr) -> ast.expr:
        return self.literals.get(node.id, node) if isinstance(node, ast.Name) else node

    def _bind(self, name: str, kind: str | None) -> None:
        if kind is None:
            self.names.kinds.pop(name, None)
        else:
            self.names.kinds[name] = kind


def _catches_imports(handler: ast.ExceptHandler) -> bool:
    """Tell whether a handler catches the error of an import."""
    return handler.type is None or any(
        isinstance(one, ast.Name) and one.id in _NO_SUCH_MODULE for one in ast.walk(handler.type)
    )


def _asked_for(node: ast.AST) -> str | None:
    """Return the name for which an expression asks by `hasattr`; None if it does something else."""
    match node:
        case ast.Call(func=ast.Name(id="hasattr"), args=[_, ast.Constant(value=str() as name)]):
            return name
    return None


def _is_of_spark(node: ast.expr) -> bool:
    """Tell whether an expression is a chain from one of Spark's readers or writers: `spark.read`, `df.writeStream`."""
    while isinstance(node, ast.Call | ast.Attribute):
        if isinstance(node, ast.Attribute) and node.attr in {"read", "readStream", "write", "writeStream"}:
            return True
        node = node.func if isinstance(node, ast.Call) else node.value
    return False


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
