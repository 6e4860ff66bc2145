"""Cuts pages out of a list that is in the order of names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from gluepot.service.context import page_token, position_of

T = TypeVar("T")


def page(
    items: Sequence[T], name_of: Callable[[T], str], request: Mapping[str, Any], most: int
) -> tuple[list[T], dict[str, str]]:
    """Return a page, and the `NextToken` of the next one if there is one.

    Args:
        items: all of them, in the order of their names.
        name_of: returns the name of an item.
        request: `NextToken` and `MaxResults`, if the caller gave them.
        most: how many items a page has otherwise.

    Raises:
        ServiceError: `InvalidInputException`, because no answer had this token.
    """
    size, after = request.get("MaxResults") or most, position_of(request.get("NextToken"))
    found = [one for one in items if name_of(one) > after]
    rest = {"NextToken": page_token(name_of(found[size - 1]))} if len(found) > size else {}
    return found[:size], rest
