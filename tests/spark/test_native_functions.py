"""Which functions of Spark SQL the shortcut may take: a function that is newly taken changes this list."""

from __future__ import annotations

from gluepot.engine.native.aggregates import AGGREGATES, WINDOW_FUNCTIONS
from gluepot.engine.native.expressions import EXPRESSIONS
from gluepot.engine.native.nodes import simple

# Parts of plans rather than functions.
_PARTS = {"Alias", "AttributeReference", "Literal"}
_TAKEN = set(EXPRESSIONS) | AGGREGATES | WINDOW_FUNCTIONS | _PARTS
TAKEN = """
""".split()


def tree(expression):
    yield simple(expression.getClass().getName())
    inner = expression.children()
    for at in range(inner.size()):
        yield from tree(inner.apply(at))


def made(session, jvm, identifier, columns):
    """Return the classes that a call of a function consists of; nothing if it does not take so many arguments."""
    try:
        call = session.functionRegistry().lookupFunction(identifier, jvm.PythonUtils.toSeq(columns))
        if isinstance(getattr(call, "replacement", None), object) and "RuntimeReplaceable" in interfaces(jvm, call):
            call = call.replacement()
        return set(tree(call))
    except Exception:  # noqa: BLE001  whatever Spark says about the number of arguments
        return set()


def interfaces(jvm, thing):
    found, kind = set(), thing.getClass()
    while kind is not None:
        found |= {simple(one.getName()) for one in kind.getInterfaces()}
        kind = kind.getSuperclass()
    return found
