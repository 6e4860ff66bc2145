"""Keeps pandas from being loaded before something uses it: loading it takes half a second of processor time.

Two libraries load it in most processes of a job, mostly in vain:

- pyarrow, when it first makes an array or a scalar of Python objects. It looks up classes of pandas, to recognise their
  instances. `for_pyarrow` gives it stand-ins. An object can be an instance of such a class only if somebody has loaded
  pandas, so a stand-in need not load it to answer that. Whatever else pyarrow asks for comes from pandas itself.
- PySpark 4.1, when it first passes an object to the JVM. It asks whether NumPy is installed, and the answer is in its
  tools for tests, which load pandas. And `mapInArrow` loads pandas to see whether it is recent enough, which our own
  dependencies make sure of. `for_pyspark` answers without either.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa

_PANDAS = "pandas"
_CLASSES = {
    _PANDAS: ("DataFrame", "Series", "Index", "Categorical"),
    "pandas.api.extensions": ("ExtensionArray", "ExtensionDtype"),
    "pandas.api.types": ("DatetimeTZDtype",),
}
"""The classes that pyarrow looks up in advance, by module."""


class _StandIn(type):
    """The type of stand-ins of classes. `module` and the name of a stand-in say which class it stands for."""

    module: str

    def __instancecheck__(cls, instance: object) -> bool:
        # While pandas is being loaded, its class may not be there yet, and then there is no instance either.
        loaded = getattr(sys.modules.get(cls.module), cls.__name__, cls)
        return loaded is not cls and isinstance(instance, loaded)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls._class()(*args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls._class(), name)

    def _class(cls) -> Any:
        return getattr(import_module(cls.module), cls.__name__)


def _module(name: str, **members: Any) -> ModuleType:
    """Return a stand-in of a module: it has these members and stand-ins of classes, and else what the module has."""
    module = ModuleType(name)
    classes = {one: _StandIn(one, (), {"module": name}) for one in _CLASSES.get(name, ())}
    module.__dict__.update(members, **classes, __getattr__=partial(_member, name))
    return module


def _member(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def for_pyarrow() -> None:
    """Let pyarrow find stand-ins where it looks for pandas. Call it before the first array or scalar is made."""
    if _PANDAS in sys.modules:
        return
    try:
        installed = version(_PANDAS)
    except PackageNotFoundError:
        return
    parts = {name: _module(f"pandas.api.{name}") for name in ("extensions", "types")}
    sys.modules[_PANDAS] = _module(_PANDAS, __version__=installed, api=_module("pandas.api", **parts))
    try:
        pa.scalar(0)
    finally:
        del sys.modules[_PANDAS]


def for_pyspark() -> None:
    """Let PySpark take for granted that NumPy and a recent pandas are installed."""
    types: Any = import_module("pyspark.sql.types")
    for converter, recognises in (("NumpyScalarConverter", _is_scalar), ("NumpyArrayConverter", _is_vector)):
        if hasattr(types, converter):
            getattr(types, converter).can_convert = recognises
    functions: Any = import_module("pyspark.sql.pandas.functions")
    functions.require_minimum_pandas_version = lambda: None


def _is_scalar(_: object, value: object) -> bool:
    return isinstance(value, np.generic)


def _is_vector(_: object, value: object) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1
