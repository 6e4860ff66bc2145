"""Pages of answers: which entries a page holds, and the token for the next one. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from gluepot.service.errors import invalid

T = TypeVar("T")

_CHUNK = 1000
# Larger numbers have no room in a database.
_MOST_DIGITS = 18


def page_token(position: str) -> str:
    """Return the token for the page that begins after a position."""
    return base64.urlsafe_b64encode(position.encode()).decode()


def position_of(token: str | None) -> str:
    """Return the position that a token stands for; an empty text for the first page.

    Raises:
        ServiceError: `InvalidInputException`, because no answer had this token.
    """
    try:
        return base64.b64decode((token or "").encode(), b"-_", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise invalid(f"NextToken is {token!r}; use a token from an earlier response, or start without one.") from None


def number_of(token: str | None) -> int | None:
    """Return the number that a token stands for; None for the first page.

    Raises:
        ServiceError: `InvalidInputException`, because no answer had this token.
    """
    position = position_of(token)
    if position and not (position.isdecimal() and len(position) <= _MOST_DIGITS):
        raise invalid(f"NextToken is {token!r}; use a token from an earlier response, or start without one.")
    return int(position) if position else None


def size_of(request: Mapping[str, Any], default: int) -> int:
    """Return how many entries a page may have: what the request says, or the default."""
    return int(request.get("MaxResults") or default)


def cut(found: Sequence[T], most: int, position: Callable[[T], str]) -> tuple[list[T], dict[str, str]]:
    """Return a page, and the member of the answer with the token of the next one.

    Args:
        found: the entries of the page, and at least one more if there are more.
        most: how many entries the page may have.
        position: of an entry; the next page begins after it.
    """
    token = {"NextToken": page_token(position(found[most - 1]))} if len(found) > most else {}
    return list(found[:most]), token


def page_by_name(
    found: Sequence[T], name_of: Callable[[T], str], request: Mapping[str, Any], default: int
) -> tuple[list[T], dict[str, str]]:
    """Return a page of entries that are all known, and the member of the answer with the token of the next one.

    Entries that come or go between two pages do not shift the others.

    Args:
        found: the entries, in the order of their names.
        name_of: returns the name of an entry.
        request: with `NextToken` and `MaxResults`, both optional.
        default: size of a page.

    Raises:
        ServiceError: `InvalidInputException` for a token that no answer had.
    """
    after = position_of(request.get("NextToken"))
    return cut([one for one in found if name_of(one) > after], size_of(request, default), name_of)


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
    first = number_of(request.get("NextToken")) or 0
    after = first + size_of(request, default)
    token = {"NextToken": page_token(str(after))} if after < len(found) else {}
    return {name: [answer(one) for one in found[first:after]], **token}


def scanned(
    fetch: Callable[[str, int], Sequence[T]],
    position: Callable[[T], str],
    choose: Callable[[Sequence[T]], Iterable[T]],
    request: Mapping[str, Any],
    default: int,
) -> tuple[list[T], dict[str, str]]:
    """Return a page of entries that are read piece by piece, and the member of the answer with the next token.

    Args:
        fetch: returns at most so many entries after a position, which is empty for the first ones.
        position: of an entry.
        choose: returns those of some entries that belong to the answer.
        request: with `NextToken` and `MaxResults`, both optional.
        default: size of a page.

    Raises:
        ServiceError: `InvalidInputException` for a token that no answer had.
    """
    most = size_of(request, default)
    after = position_of(request.get("NextToken"))
    found: list[T] = []
    while len(found) <= most:
        piece = fetch(after, _CHUNK)
        found += choose(piece)
        if len(piece) < _CHUNK:
            break
        after = position(piece[-1])
    return cut(found, most, position)
