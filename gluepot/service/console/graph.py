"""Where the nodes and the edges of a workflow's graph are drawn. Pure.

The graph is drawn from left to right: a node stands to the right of all nodes from which edges lead to it. Edges that
would lead back in a circle do not count for that. Within a column nodes stand near those that they are connected with.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 176, 56
_GAP_X, _GAP_Y, _EDGE = 44, 20, 8
# After a few passes the order of the nodes hardly changes any more.
_PASSES = 4

Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Place:
    """The upper left corner of a node, in pixels."""

    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Layout:
    """A drawing.

    Args:
        width: in pixels.
        height: in pixels.
        places: of the nodes.
        paths: of the edges, in the words of SVG.
    """

    width: int
    height: int
    places: Mapping[str, Place]
    paths: Mapping[Edge, str]


def layout(nodes: Sequence[str], edges: Iterable[Edge]) -> Layout:
    """Return where nodes and edges are drawn.

    Args:
        nodes: their ids.
        edges: from which node to which.
    """
    known = set(nodes)
    wanted = [one for one in dict.fromkeys(edges) if known.issuperset(one)]
    columns = _ordered(_columns(nodes, _forward(nodes, wanted)), wanted)
    rows = max(map(len, columns), default=0)
    height = rows * (HEIGHT + _GAP_Y) - _GAP_Y
    places = {}
    for number, column in enumerate(columns):
        top = (height - len(column) * (HEIGHT + _GAP_Y) + _GAP_Y) // 2
        for row, node in enumerate(column):
            places[node] = Place(_EDGE + number * (WIDTH + _GAP_X), _EDGE + top + row * (HEIGHT + _GAP_Y))
    width = len(columns) * (WIDTH + _GAP_X) - _GAP_X
    return Layout(
        max(0, width) + 2 * _EDGE,
        max(0, height) + 2 * _EDGE,
        places,
        {(start, end): _path(places[start], places[end]) for start, end in wanted},
    )


def _forward(nodes: Sequence[str], edges: Sequence[Edge]) -> list[Edge]:
    """Return the edges without those that close a circle."""
    targets = defaultdict(list)
    for start, end in edges:
        targets[start].append(end)
    found: list[Edge] = []
    done: set[str] = set()
    for root in nodes:
        if root in done:
            continue
        # Depth first, without recursion, because a chain of triggers may be long.
        way, open_nodes = [(root, iter(targets[root]))], {root}
        while way:
            node, rest = way[-1]
            following = next(rest, None)
            if following is None:
                way.pop()
                open_nodes.discard(node)
                done.add(node)
            elif following not in open_nodes:
                found.append((node, following))
                if following not in done:
                    open_nodes.add(following)
                    way.append((following, iter(targets[following])))
    return found


def _columns(nodes: Sequence[str], edges: Sequence[Edge]) -> list[list[str]]:
    """Return the nodes by the length of the longest way that leads to them."""
    waits_for = dict.fromkeys(nodes, 0)
    targets = defaultdict(list)
    for start, end in edges:
        waits_for[end] += 1
        targets[start].append(end)
    column = [node for node in nodes if waits_for[node] == 0]
    columns = []
    while column:
        columns.append(column)
        following = []
        for node in column:
            for target in targets[node]:
                waits_for[target] -= 1
                if waits_for[target] == 0:
                    following.append(target)
        column = following
    return columns


def _ordered(columns: list[list[str]], edges: Sequence[Edge]) -> list[list[str]]:
    """Return the columns with each node near the middle of those that it is connected with."""
    around = defaultdict(list)
    for start, end in edges:
        around[start].append(end)
        around[end].append(start)
    found = columns
    for _ in range(_PASSES):
        # Places count from the middle of a column, because shorter columns stand in the middle.
        places = {node: row - (len(column) - 1) / 2 for column in found for row, node in enumerate(column)}
        middles = {
            node: sum(places[other] for other in around[node]) / len(around[node]) if around[node] else place
            for node, place in places.items()
        }
        found = [sorted(column, key=lambda node: middles[node]) for column in found]
    return found


def _path(start: Place, end: Place) -> str:
    x, y, to_x, to_y = start.x + WIDTH, start.y + HEIGHT // 2, end.x, end.y + HEIGHT // 2
    bend = max(_GAP_X // 2, (to_x - x) // 2)
    return f"M{x} {y}C{x + bend} {y} {to_x - bend} {to_y} {to_x} {to_y}"
