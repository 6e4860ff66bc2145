"""A result of a check as text, JSON or JUnit XML."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Literal
from xml.etree import ElementTree as ET

from gluepot.evaluation.check import plain_outcome
from gluepot.quality.distributions import ValueCounts
from gluepot.quality.results import Result


def text(result: Result, output: Literal["text", "json", "junit"]) -> str:
    """Return a result as it is printed."""
    match output:
        case "json":
            return json.dumps(
                {
                    "context": result.source.context,
                    "score": result.score,
                    "outcomes": [plain_outcome(one) for one in result.outcomes],
                    "analyzed": dict(result.analyzed),
                    "distributions": {name: one.plain() for name, one in result.distributions.items()},
                    "observations": [one.plain() for one in result.observations],
                },
                ensure_ascii=False,
            )
        case "junit":
            return _junit(result)
        case _:
            return "\n".join(_lines(result))


def _lines(result: Result) -> list[str]:
    lines = []
    for one in result.outcomes:
        lines.append(f"{one.outcome.lower():6}  {one.rule}")
        if one.reason:
            lines.append(f"        {one.reason}")
    lines += [f"{name} = {value:g}" for name, value in sorted(result.analyzed.items())]
    for name, counts in sorted(result.distributions.items()):
        lines += [f"{name}:", *_counts(counts)]
    for seen in result.observations:
        lines.append(f"observed  {seen.description}")
        lines += [f"          This rule would notice it: {rule}" for rule in seen.new_rules]
    return [*lines, f"{result.passed} of {len(result.outcomes)} rules passed, score {result.score:.2f}"]


def _counts(given: ValueCounts) -> list[str]:
    """Return a line for each bin or value, and one for what is in none of them."""
    names = list(given.values)
    if given.edges:
        pairs = list(pairwise(map(_edge, given.edges)))
        # Only the last bin holds its upper edge.
        names = [f"[{low}, {high})" for low, high in pairs[:-1]] + [f"[{pairs[-1][0]}, {pairs[-1][1]}]"]
    lines = [f"{count:>12,}  {name}" for name, count in zip(names, given.counts, strict=True)]
    others = {"below": given.below, "above": given.above, "other values": given.others}
    return [*lines, *(f"{count:>12,}  {name}" for name, count in others.items() if count)]


def _edge(value: float) -> str:
    return f"{value:g}"


def _junit(result: Result) -> str:
    """Return a test suite with a test case for each rule."""
    secs = (result.completed_ms - result.started_ms) / 1000
    suite = ET.Element(
        "testsuite",
        name=result.source.context,
        tests=str(len(result.outcomes)),
        failures=str(result.failed),
        errors="0",
        time=f"{secs:.3f}",
    )
    for one in result.outcomes:
        case = ET.SubElement(suite, "testcase", classname=result.source.context, name=one.rule)
        if not one.passed:
            ET.SubElement(case, "failure", message=one.reason).text = json.dumps(dict(one.metrics))
    return ET.tostring(suite, encoding="unicode", xml_declaration=True)
