"""Makes wrong versions of functions: one change of the syntax tree each. Pure.

Only what functions do is changed: no defaults, no decorators, no annotations, no texts, and nothing that classes and
modules do while they are imported. Log lines and kill points, which change no result, are left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_NO_RESULT = ("log", "_log", "logger", "_LOG", "LOG", "reach", "failpoints")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One wrong version.

    Attributes:
        path: the file, from the root of the repository.
        function: the qualified name of the outermost function that is changed.
        number: which change of that file.
        line: where.
        operator: the kind of the change.
        before: the code that is changed, shortened.
    """

    path: str
    function: str
    number: int
    line: int
    operator: str
    before: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.operator}: {self.before}"


@dataclass(frozen=True, slots=True)
class _Change:
    function: str
    node: ast.AST
    operator: str
    make: Callable[[], None]


def mutants(path: str, source: str) -> list[Mutant]:
    """List all changes of a file, in the order of the file."""
    return [
        Mutant(path, one.function, number, getattr(one.node, "lineno", 0), one.operator, _shown(one.node))
        for number, one in enumerate(_changes(ast.parse(source)))
    ]


def mutated(mutant: Mutant, source: str, filename: str) -> CodeType:
    """Compile the function that a mutant changes."""
    tree = ast.parse(source)
    next(one for n, one in enumerate(_changes(tree)) if n == mutant.number).make()
    return function_codes(tree, filename)[mutant.function]


def noticing(source: str, filename: str, call: str) -> dict[str, CodeType]:
    """Compile all functions so that each begins with a call of a global function with its own name."""
    tree = ast.parse(source)
    for name, function in _functions(tree, ""):
        notice = ast.parse(f"{call}({name!r})").body[0]
        for node in ast.walk(notice):
            ast.copy_location(node, function.body[0])
        has_docstring = ast.get_docstring(function, clean=False) is not None
        function.body.insert(1 if has_docstring else 0, notice)
    return function_codes(tree, filename)


def function_codes(tree: ast.Module, filename: str) -> dict[str, CodeType]:
    """Compile a module; returns the code of its functions and methods by qualified name, without inner functions."""
    found: dict[str, CodeType] = {}

    def add(code: CodeType) -> None:
        for one in code.co_consts:
            if isinstance(one, CodeType) and "<" not in one.co_qualname:
                found.setdefault(one.co_qualname, one)
                add(one)

    add(compile(ast.fix_missing_locations(tree), filename, "exec", dont_inherit=True))
    return {name: found[name] for name, _ in _functions(tree, "") if name in found}


def _functions(parent: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in getattr(parent, "body", []):
        if isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")


def _changes(tree: ast.Module) -> Iterator[_Change]:
    for name, function in _functions(tree, ""):
        yield from _in_block(name, function, "body", is_last=True)


def _in_block(name: str, parent: ast.AST, field: str, *, is_last: bool) -> Iterator[_Change]:
    """Yield changes of the statements of a block; `is_last` if the function ends with the block."""
    block: list[ast.stmt] = getattr(parent, field)
    for n, statement in enumerate(block):
        ends = is_last and n == len(block) - 1
        kind = _removable(statement, ends=ends)
        if kind:
            yield _Change(
                name, statement, kind, lambda n=n, old=statement: _put(block, n, ast.copy_location(ast.Pass(), old))
            )
        yield from _in_statement(name, statement)
        for inner in ("body", "orelse", "finalbody"):
            if getattr(statement, inner, None):
                goes_on = isinstance(statement, (ast.For, ast.While))
                yield from _in_block(name, statement, inner, is_last=ends and not goes_on)
        for handler in getattr(statement, "handlers", []):
            yield from _in_block(name, handler, "body", is_last=ends)


def _removable(statement: ast.stmt, *, ends: bool) -> str | None:
    match statement:
        case ast.Expr(value=ast.Constant()):
            return None  # a docstring
        case ast.Expr(value=ast.Call(func=called)):
            return None if _root(called) in _NO_RESULT else "call removed"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.AugAssign() | ast.Delete():
            return "assignment removed"
        case ast.Raise():
            return "raise removed"
        case ast.Return():
            return None if ends else "early return removed"
        case ast.Continue() | ast.Break():
            return "jump removed"
    return None


def _in_statement(name: str, statement: ast.stmt) -> Iterator[_Change]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Raise):
        return  # of a raise, all that matters is whether it is there
    if (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and _root(statement.value.func) in _NO_RESULT
    ):
        return
    if isinstance(statement, ast.If):
        if not _has_own_opposite(statement.test):
            yield _Change(name, statement.test, "condition reversed", lambda: _reverse(statement))
        if not statement.orelse:
            yield _Change(name, statement.test, "condition never true", lambda: _never(statement))
    for expression in ast.iter_child_nodes(statement):
        if isinstance(expression, ast.expr | ast.withitem) and expression is not getattr(statement, "annotation", None):
            yield from _in_expression(name, expression)


def _in_expression(name: str, root: ast.AST) -> Iterator[_Change]:
    if isinstance(root, ast.JoinedStr):
        return
    match root:
        case ast.Compare():
            for n, op in enumerate(root.ops):
                other = _OPPOSITE[type(op)]()
                yield _Change(name, root, "comparison", lambda n=n, other=other: _put(root.ops, n, other))
        case ast.BoolOp():
            other_op = ast.Or() if isinstance(root.op, ast.And) else ast.And()
            yield _Change(name, root, "and/or", lambda: setattr(root, "op", other_op))
        case ast.UnaryOp(op=ast.Not()):
            yield _Change(name, root, "not removed", lambda: _truth(root))
        case ast.IfExp():
            yield _Change(name, root, "branches exchanged", lambda: _exchange(root))
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            sign = ast.Sub() if isinstance(root.op, ast.Add) else ast.Add()
            yield _Change(name, root, "plus/minus", lambda: setattr(root, "op", sign))
        case ast.Constant(value=bool()):
            yield _Change(name, root, "constant", lambda: setattr(root, "value", not root.value))
        case ast.Constant(value=int()):
            yield _Change(name, root, "constant", lambda: setattr(root, "value", root.value + 1))
        case ast.comprehension(ifs=[_, *_]):
            yield _Change(name, root.ifs[0], "filter removed", root.ifs.clear)
    for node in ast.iter_child_nodes(root):
        yield from _in_expression(name, node)


def _has_own_opposite(test: ast.expr) -> bool:
    match test:
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(ops=[ast.Eq() | ast.NotEq() | ast.Is() | ast.IsNot() | ast.In() | ast.NotIn()]):
            return True
    return False


def _put(where: list, n: int, new: ast.AST) -> None:
    where[n] = new


def _reverse(statement: ast.If) -> None:
    statement.test = ast.copy_location(ast.UnaryOp(ast.Not(), statement.test), statement.test)


def _never(statement: ast.If) -> None:
    false = ast.copy_location(ast.Constant(value=False), statement.test)
    # What the condition does besides is still done, for example a name that it binds.
    statement.test = ast.copy_location(ast.BoolOp(ast.And(), [statement.test, false]), statement.test)


def _truth(root: ast.UnaryOp) -> None:
    """Turn `not x` into `not not x`, which is true or false as `not x` is."""
    root.op = ast.Not()
    root.operand = ast.copy_location(ast.UnaryOp(ast.Not(), root.operand), root.operand)


def _exchange(root: ast.IfExp) -> None:
    root.body, root.orelse = root.orelse, root.body


def _root(called: ast.expr) -> str:
    while isinstance(called, ast.Attribute):
        called = called.value
    return called.id if isinstance(called, ast.Name) else ""


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 90 else f"{text[:87]}..."
