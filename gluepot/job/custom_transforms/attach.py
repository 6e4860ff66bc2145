"""Putting custom visual transforms where scripts expect them: modules to import, methods of DynamicFrame."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any

from gluepot.core.errors import ConfigError
from gluepot.job.custom_transforms.arguments import check_arguments
from gluepot.job.custom_transforms.descriptor import Descriptor
from gluepot.job.custom_transforms.files import CustomTransform


@contextmanager
def attached(transforms: Sequence[CustomTransform]) -> Iterator[None]:
    """Import the modules, and check the arguments of every call; take both back at the end.

    Raises:
        ConfigError: a module gives DynamicFrame no method of that name, or its function takes other parameters.
    """
    from awsglue.dynamicframe import DynamicFrame  # noqa: PLC0415  not before the environment is ready for Spark

    own = dict(vars(DynamicFrame))
    imported: list[str] = []
    try:
        for one in transforms:
            _import(one.module)
            imported.append(one.module.stem)
            name = one.descriptor.function_name
            function = vars(DynamicFrame).get(name)
            if function is None or function is own.get(name):
                raise ConfigError(
                    f"{one.module.name} gives DynamicFrame no {name}; end it with `DynamicFrame.{name} = {name}`."
                )
            _same_parameters(one, function)
            setattr(DynamicFrame, name, checked(one.descriptor, function))
        yield
    finally:
        for module in imported:
            sys.modules.pop(module, None)
        for name in vars(DynamicFrame).keys() - own.keys():
            delattr(DynamicFrame, name)


def checked(descriptor: Descriptor, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with its arguments held against the descriptor, and its result known to be a frame.

    Optional parameters that are None are left out, so that the function's own defaults count.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        from awsglue.dynamicframe import DynamicFrame  # noqa: PLC0415  as above

        by_place = list(signature.bind_partial(self, *args).arguments.items())[1:]
        given = dict(by_place) | kwargs
        check_arguments(descriptor, given)
        frame = function(self, **{name: value for name, value in given.items() if value is not None})
        if not isinstance(frame, DynamicFrame):
            raise ConfigError(f"{descriptor.name} returned a {type(frame).__name__}; return a DynamicFrame.")
        return frame

    return call


def _import(file: Path) -> ModuleType:
    there = importlib.util.find_spec(file.stem)
    if there is not None and Path(there.origin or "").resolve() != file.resolve():
        other = there.origin or "a folder"
        raise ConfigError(f"{file.name} has the name of another module ({other}); rename it and its descriptor.")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[file.stem]
        raise
    return module


def _same_parameters(transform: CustomTransform, function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()):
        return
    for at, one in enumerate(transform.descriptor.parameters):
        if one.name not in parameters:
            raise ConfigError(
                f"{transform.module.stem}.json: parameters[{at}].name: {one.name!r} is no parameter of "
                f"{transform.descriptor.function_name}, which has {', '.join(list(parameters)[1:]) or 'none'}."
            )
