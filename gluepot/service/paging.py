"""Pages of answers: which entries a page holds, and the token for the next one. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from gluepot.service.context import page_token, position_of
from gluepot.service.errors import invalid

T = TypeVar("T")

_CHUNK = 1000


def page(
    found: Sequence[T], request: Mapping[str, Any], name: str, default: int, answer: Callable[[T], Any]
) -> dict[str, Any]:
    """Return a page of entries that are all known.

    Args:
        found: the entries, in the order of the pages.
        request: with `NextToken` and `MaxResults`, both optional.
        name: of the answer's member that holds the entries.
        default: size of a page.
        answer: returns the form of an entry.

    Raises:
        ServiceError: `InvalidInputException` for a token that no answer had.
    """
    position = position_of(request.get("NextToken")) or "0"
    if not position.isdecimal():
        raise invalid(f"NextToken is {request['NextToken']!r}, which no answer had; begin without it.")
    first = int(position)
    after = first + int(request.get("MaxResults") or default)
    token = {"NextToken": page_token(str(after))} if after < len(found) else {}
    return {name: [answer(one) for one in found[first:after]], **token}


def scanned(
    fetch: Callable[[str, int], Sequence[T]],
    position: Callable[[T], str],
    keep: Callable[[T], bool],
    request: Mapping[str, Any],
    default: int,
) -> tuple[list[T], dict[str, str]]:
    """Return a page of entries that are read piece by piece, and the member of the answer with the next token.

    Args:
        fetch: returns at most so many entries after a position, which is empty for the first ones.
        position: of an entry.
        keep: whether the page has room for an entry of this kind.
        request: with `NextToken` and `MaxResults`, both optional.
        default: size of a page.

    Raises:
        ServiceError: `InvalidInputException` for a token that no answer had.
    """
    most = int(request.get("MaxResults") or default)
    after = position_of(request.get("NextToken"))
    found: list[T] = []
    while len(found) <= most:
        piece = fetch(after, _CHUNK)
        found += filter(keep, piece)
        if len(piece) < _CHUNK:
            break
        after = position(piece[-1])
    token = {"NextToken": page_token(position(found[most - 1]))} if len(found) > most else {}
    return found[:most], token
