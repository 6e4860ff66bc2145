"""What pages of the console are made of, and how they read.

Pages call the operations of the API, so that a page knows what a client knows, and read from the database what no
operation tells. No page reads more rows than it shows. Values that may be secret are masked where a page is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from gluepot.service.console.values import url
from gluepot.service.context import Service
from gluepot.service.wire.app import Answer, call

ROWS, FEW_ROWS = 50, 10
"""How many rows a list shows at once, and a list among others."""

Query: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Page:
    """What a page shows.

    Args:
        template: its template.
        title: its title.
        section: the entry of the menu that it belongs to.
        values: what the template shows.
        polls: whether it renews itself, because something on it changes by itself.
        path: links to the pages above it, each with its title.
    """

    template: str
    title: str
    section: str
    values: Mapping[str, Any] = field(default_factory=dict)
    polls: bool = False
    path: Sequence[tuple[str, str]] = ()


class Reader:
    """Reads what pages show.

    Args:
        service: the service.
        operations: what answers each operation, by its target, such as `AWSGlue.GetJob`.
    """

    def __init__(self, service: Service, operations: Mapping[str, Answer]) -> None:
        self.service = service
        self._operations = operations

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        """Call an operation as a client does. Members that are None are left out.

        Raises:
            ServiceError: it is refused.
        """
        given = {name: value for name, value in request.items() if value is not None}
        return call(self._operations, f"AWSGlue.{operation}", given)

    @property
    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return self.service.now_ms()


def more(page: str, answer: Mapping[str, Any], query: Query, **of: str) -> dict[str, str]:
    """Return the links under a list: to its first page, unless that is shown, and to its next page, if there is one."""
    token = answer.get("NextToken")
    return {
        "first": url(page, **of) if "page" in query else "",
        "next": url(page, **of, page=token) if token else "",
    }
