"""`awsglue` translates and holds no state: what a run remembers belongs to the run, in `gluepot`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MODULES = sorted(path for folder in ("awsglue", "awsgluedq", "awsglueml") for path in (ROOT / folder).rglob("*.py"))

CONTAINERS = frozenset({"dict", "list", "set", "bytearray", "defaultdict", "deque", "Counter", "OrderedDict"})
HOLDERS = frozenset({"local", "ContextVar", "Lock", "RLock", "Event", "WeakKeyDictionary", "WeakValueDictionary"})
CACHES = frozenset({"cache", "lru_cache"})
MUTATORS = frozenset(
    {
        "add", "append", "appendleft", "clear", "difference_update", "discard", "extend", "insert",
        "intersection_update", "pop", "popitem", "popleft", "remove", "setdefault", "symmetric_difference_update",
        "update",
    }
)  # fmt: skip


def state_in(source: str) -> Iterator[str]:
    """Yield what a module keeps from one call to the next.

    That is a `global` statement, a container that is empty at first, a lock and the like, a cache, and a change of
    something that the module, or the module that it imports it from, has made at its top level.
    """
    tree = ast.parse(source)
    shared = set(_shared_names(tree))
    for node in ast.walk(tree):
        match node:
            case ast.Global(names=names):
                yield f"line {node.lineno}: global {', '.join(names)}"
            case ast.FunctionDef(decorator_list=decorators) | ast.AsyncFunctionDef(decorator_list=decorators):
                for one in decorators:
                    if _name(one.func if isinstance(one, ast.Call) else one) in CACHES:
                        yield f"line {node.lineno}: {node.name} keeps its answers"
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attribute)):
                if name in shared and attribute in MUTATORS:
                    yield f"line {node.lineno}: {name}.{attribute}() changes what all share"
            case (
                ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del())
                | ast.Attribute(value=ast.Name(id=name), ctx=ast.Store() | ast.Del())
            ) if name in shared:
                yield f"line {node.lineno}: an assignment changes {name}, which all share"
    for scope in (tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))):
        for node in scope.body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _is_state(node.value):
                yield f"line {node.lineno}: {ast.unparse(node)}"


def _shared_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that are bound at a module's top level, imported ones and classes among them."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=targets):
                yield from (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.ClassDef(name=name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (one.asname or one.name.partition(".")[0] for one in names)


def _is_state(value: ast.expr) -> bool:
    match value:
        case ast.Dict(keys=[]) | ast.List(elts=[]):
            return True
        case ast.Call(func=function, args=given, keywords=named):
            name = _name(function)
            return name in HOLDERS or (name in CONTAINERS and not given and not named) or name == "defaultdict"
    return False


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def test_there_are_modules_to_look_at():
    assert len(MODULES) > 30


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_of_glues_surface_keeps_nothing(path):
    assert list(state_in(path.read_text())) == []


@pytest.mark.parametrize(
    "source",
    [
        "seen = {}",
        "seen: dict[str, int] = {}",
        "seen = set()",
        "seen = defaultdict(int)",
        "held = threading.local()",
        "class Reader:\n    opened = []",
        "_current = None\ndef begin(run):\n    global _current\n    _current = run",
        "@cache\ndef load(name): ...",
        "@functools.lru_cache(maxsize=8)\ndef load(name): ...",
        "SINKS = {'a': 1}\ndef add(name):\n    SINKS[name] = 2",
        "SINKS = {'a': 1}\ndef add(name):\n    SINKS.update({name: 2})",
        "from awsglue.sinks import SINKS\ndef add(name):\n    del SINKS[name]",
        "from awsglue import sinks\ndef use(one):\n    sinks.current = one",
        "class Job:\n    pass\ndef begin(run):\n    Job.current = run",
    ],
)
def test_state_is_noticed(source):
    assert list(state_in(source))


@pytest.mark.parametrize(
    "source",
    [
        "OPTIONS = {'a': 1}\nNAMES = ['a']\nlog = get_logger(__name__)",
        "def count(values):\n    seen = {}\n    seen['a'] = 1\n    seen.update(values)\n    return seen",
        "class Job:\n    def __init__(self):\n        self.names = []\n    def add(self, name):\n        self.names.append(name)",
    ],
)
def test_constants_and_values_of_a_call_are_no_state(source):
    assert list(state_in(source)) == []
