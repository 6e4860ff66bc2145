"""The base of all transforms (docs/glue 7)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from awsglue.transforms.arguments import DESCRIPTIONS

P = ParamSpec("P")
R = TypeVar("R")


class _Apply:
    """`X.apply` with the signature of `X.__call__`, so that editors and type checkers know its arguments."""

    def __get__(self, instance: object, owner: Callable[[], Callable[P, R]]) -> Callable[P, R]:
        def apply(*args: P.args, **kwargs: P.kwargs) -> R:
            return owner()(*args, **kwargs)

        return apply


class GlueTransform:
    """Base of all transforms, also of a user's own: `X.apply(...)` is `X()(...)`."""

    apply = _Apply()

    @classmethod
    def name(cls) -> str:
        """Return the transform's name."""
        return cls.__name__

    @classmethod
    def describeArgs(cls) -> list[dict[str, Any]]:
        """Return a description of each argument: `name`, `type`, `description`, `optional` and `defaultValue`."""
        arguments = list(inspect.signature(cls.__call__).parameters.values())[1:]
        return [_described(one) for one in arguments]

    @classmethod
    def describeReturn(cls) -> dict[str, str]:
        """Return `type` and `description` of what the transform returns."""
        returned = str(inspect.signature(cls.__call__).return_annotation)
        return {"type": returned, "description": _first_line(cls.__call__.__doc__)}

    @classmethod
    def describeTransform(cls) -> str:
        """Return the purpose of the transform."""
        return _first_line(cls.__doc__)

    @classmethod
    def describeErrors(cls) -> list[dict[str, str]]:
        """Return `type` and `description` of the errors; all transforms have the same one."""
        return [
            {
                "type": "gluepot.core.errors.ConfigError",
                "description": "An argument cannot be used; the message names it and says what can.",
            }
        ]

    @classmethod
    def describe(cls) -> dict[str, Any]:
        """Return everything the other `describe` methods return."""
        return {
            "transform": {"name": cls.name(), "description": cls.describeTransform()},
            "args": cls.describeArgs(),
            "returns": cls.describeReturn(),
            "raises": cls.describeErrors(),
        }

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply the transform; each class implements this.

        Raises:
            NotImplementedError: the class does not implement it.
        """
        raise NotImplementedError(f"{self.name()} has no __call__; define it in the class.")


def _described(argument: inspect.Parameter) -> dict[str, Any]:
    optional = argument.default is not inspect.Parameter.empty or argument.kind is inspect.Parameter.VAR_KEYWORD
    return {
        "name": argument.name,
        "type": str(argument.annotation),
        "description": DESCRIPTIONS[argument.name],
        "optional": optional,
        "defaultValue": argument.default if argument.default is not inspect.Parameter.empty else None,
    }


def _first_line(text: str | None) -> str:
    return (text or "").partition("\n")[0]
