"""Reads DQDL (docs/glue 12.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from gluepot.quality.dqdl.conditions import condition_of
from gluepot.quality.dqdl.rule_types import (
    ANOMALY_TYPES,
    MOST_BINS,
    OTHER_SPELLINGS,
    TYPES,
    UNLIMITED,
    Kind,
    RuleType,
    nearest,
)
from gluepot.quality.dqdl.ruleset import (
    Arithmetic,
    Call,
    Composite,
    DqdlError,
    Expression,
    Keyword,
    Labels,
    Negative,
    Now,
    Number,
    Operator,
    Quantity,
    Rule,
    Ruleset,
    Tag,
    Text,
    TopRule,
)

MOST_LABELS = 10
LONGEST_KEY = 128
LONGEST_LABEL = 256

_Node: TypeAlias = Any  # a lark Tree or Token; lark's own types say no more than that


# Comments that Glue refuses are accepted, because rulesets in use have them; `Ruleset.notes` names them.
_COMMENT = r"(?:\#|--|\/\/)[^\n]*"
_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|#[^\n]*|(?P<other>(--|//)[^\n]*)', re.DOTALL)

_NUMBER = (Kind.NUMBER,)

_SHOWN: Mapping[str, str] = {
    "STRING": "a quoted text",
    "NAME": "a name",
    "TYPE": "a rule type",
    "VARIABLE": "a variable",
    "NUMBER": "a number",
    "COMPARE": "a comparison such as >",
    "LSQB": "[",
    "RSQB": "]",
    "LPAR": "(",
    "RPAR": ")",
    "LBRACE": "{",
    "RBRACE": "}",
    "COMMA": "a comma",
    "COLON": "a colon",
    "EQUAL": "=",
    "BETWEEN": "between",
    "NOT": "not",
    "IN": "in",
    "MATCHES": "matches",
    "WHERE": "where",
    "WITH": "with",
    "LABELS": "labels",
    "_AND": "and",
    "_AND_RULE": "and",
    "_OR": "or",
    "_OF": "of",
    "RULES": "Rules",
    "ANALYZERS": "Analyzers",
    "METADATA": "Metadata",
    "DATASOURCES": "DataSources",
    "DEFAULTLABELS": "DefaultLabels",
    "NOW": "now()",
    "KEYWORD": "NULL",
    "UNIT": "a unit such as days",
    "$END": "the end",
}
# What can stand nearly everywhere and would hide what is missing.
_UNLIKELY = frozenset(
    {"PLUS", "MINUS", "STAR", "SLASH", "BOOLEAN", "KEYWORD", "NOW", "UNIT", "TYPE", "_OF", "_AND", "_COMMA_IN_TAG"}
)


def parse(text: str) -> Ruleset:
    """Return the ruleset that a text describes.

    Args:
        text: DQDL. Windows' line ends are accepted, and so are comments that begin with `--` or `//`, which Glue
            refuses.

    Raises:
        DqdlError: the text is not valid. The message gives line and column, counted from 1.
    """
    try:
        tree = _lark().parse(text + "\n")
    except UnexpectedInput as error:
        raise DqdlError(_syntax_message(error)) from None
    found = _Reader().ruleset(tree)
    if not found.rules and not found.analyzers:
        raise DqdlError("No rules or analyzers provided.")
    return replace(found, notes=tuple(_notes(text)))


@lru_cache(maxsize=1)
def _lark() -> Lark:
    names = "|".join(sorted((*TYPES, *OTHER_SPELLINGS), key=len, reverse=True))
    space = rf"(?:\s|{_COMMENT}\n)*"
    terminals = rf"""
TYPE.2: /(?:{names})(?![A-Za-z0-9_.])/
_AND_RULE.3: /(?:and|AND)(?![A-Za-z0-9_.])(?={space}(?:\(|(?:{names})(?![A-Za-z0-9_.])))/
%ignore /\s+/
%ignore /{_COMMENT}/
"""
    return Lark(
        Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8") + terminals,
        parser="lalr",
        propagate_positions=True,
        maybe_placeholders=False,
    )


def _notes(text: str) -> Iterable[str]:
    for found in _STRING_OR_COMMENT.finditer(text):
        if found["other"]:
            line = text.count("\n", 0, found.start()) + 1
            yield f"Line {line}: Glue knows only comments that begin with #; this one begins with {found['other'][:2]}."


def _syntax_message(error: UnexpectedInput) -> str:
    match error:
        case UnexpectedToken(token=token, expected=expected) if token.type != "$END":
            what = f"`{token}` is not expected here"
        case UnexpectedToken(expected=expected) | UnexpectedEOF(expected=expected):
            return f"The ruleset ends too early; {_listed(expected)} should follow."
        case UnexpectedCharacters(allowed=expected, char=char):
            what = "a quoted text does not end" if char == '"' else f"`{char}` is not expected here"
        case _:
            raise AssertionError(error)
    return f"Line {error.line}, column {error.column}: {what}; {_listed(expected)} should follow."


def _listed(expected: Iterable[str] | None) -> str:
    given = set(expected or ()) - {"$END"} or {"$END"}
    likely = given - _UNLIKELY or given
    shown = sorted({_SHOWN.get(one, one.lower()) for one in likely})
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


@dataclass(slots=True)
class _Reader:
    """Turns lark's tree into a ruleset."""

    variables: dict[str, str | list[str]] = field(default_factory=dict)
    default_labels: Labels = ()

    def ruleset(self, tree: _Node) -> Ruleset:
        found: dict[str, Any] = {}
        for part in tree.children:
            match part.data:
                case "metadata":
                    found["metadata"] = _dict(part, {"Version"})
                case "data_sources":
                    found["data_sources"] = _dict(part, {"Primary", "AdditionalDataSources"})
                case "variable":
                    self._declare(part)
                case "default_labels":
                    self.default_labels = _labels(part.children[0])
                case "rules":
                    found["rules"] = tuple(self._top(one) for one in part.children)
                case "analyzers":
                    found["analyzers"] = tuple(self._analyzer(one) for one in part.children)
        return Ruleset(**found)

    def _declare(self, node: _Node) -> None:
        name, value = node.children
        if name.startswith((".", "_")):
            raise DqdlError(f"{_at(name)}: the variable {name} must not begin with a dot or an underscore.")
        if name in self.variables:
            raise DqdlError(f"{_at(name)}: the variable {name} is declared twice; use another name.")
        self.variables[str(name)] = _texts(value) if isinstance(value, Tree) else _unquoted(value)

    def _top(self, node: _Node) -> TopRule:
        if node.data == "rule":
            return self._rule(node)
        if node.data == "group":
            inner, *labels = node.children
            return _labelled(self._top(inner), _labels(labels[0])) if labels else self._top(inner)
        word = "or" if node.data == "any_of" else "and"
        return Composite(word, tuple(self._top(one) for one in node.children), self.default_labels)

    def _rule(self, node: _Node) -> Rule:
        rule_type = _rule_type(node.children[0])
        if not rule_type.is_rule:
            raise DqdlError(f"{_at(node.children[0])}: {rule_type.name} is an analyzer; list it under Analyzers.")
        rule = self._read(node, rule_type)
        place = _at(node.children[0])
        if rule_type.kinds and rule.condition is None and not rule_type.optional:
            raise DqdlError(f"{place}: {rule_type.name} needs a condition, such as `> 0`.")
        if rule_type.name == "CustomSql" and rule.condition is not None and rule.tags:
            raise DqdlError(f"{place}: CustomSql takes a condition or a threshold, not both.")
        if rule_type.name == "DetectAnomalies":
            _check_anomalies(rule, place)
        return rule

    def _analyzer(self, node: _Node) -> Rule:
        name = node.children[0]
        rule_type = _rule_type(name)
        if not rule_type.is_analyzer:
            raise DqdlError(f"{_at(name)}: {rule_type.name} is a rule, not an analyzer; list it under Rules.")
        analyzer = self._read(node, rule_type)
        if rule_type.name == "Distribution":
            _check_distribution(analyzer, _at(name))
        return analyzer

    def _read(self, node: _Node, rule_type: RuleType) -> Rule:
        name, *rest = node.children
        rule = Rule(rule_type.name, labels=self.default_labels, line=name.line)
        for part in rest:
            rule = self._with(rule, rule_type, part, _at(part if isinstance(part, Token) else part.meta))
        count = len(rule.parameters)
        if not rule_type.least <= count <= rule_type.most:
            raise DqdlError(f"{_at(name)}: {rule_type.name} takes {_range(rule_type)}, but {count} are given.")
        return rule

    def _with(self, rule: Rule, rule_type: RuleType, part: _Node, place: str) -> Rule:
        if isinstance(part, Token) or part.data == "parameter":
            tokens = [part] if isinstance(part, Token) else part.children
            return replace(rule, parameters=(*rule.parameters, *(self._parameter(one) for one in tokens)))
        match part.data:
            case "parameter_text":
                return replace(rule, parameters=(*rule.parameters, _unquoted(part.children[0])))
            case "compare" | "between" | "within" | "matches":
                if not rule_type.kinds:
                    raise DqdlError(f"{place}: {rule_type.name} is true or false and takes no condition.")
                operator, operands = self._compared(part)
                try:
                    return replace(rule, condition=condition_of(rule_type, operator, operands))
                except DqdlError as error:
                    raise DqdlError(f"{place}: {error}") from None
            case "where":
                if not rule_type.where:
                    raise DqdlError(f"{place}: {rule_type.name} takes no where.")
                return replace(rule, where=_unquoted(part.children[0]))
            case "labels":
                return replace(rule, labels=_merged(rule.labels, _labels(part.children[0])))
            case _:
                tags = [self._tag(one, rule_type) for one in part.children]
                return replace(rule, tags=(*rule.tags, *tags))

    def _parameter(self, token: _Node) -> str:
        if isinstance(token, Tree):
            return _unquoted(token.children[0])
        if token.type != "VARIABLE":
            return str(token)
        value = self._value(token)
        if isinstance(value, list):
            raise DqdlError(f"{_at(token)}: {token} is a list, but a parameter is one text.")
        return value

    def _value(self, token: _Node) -> str | list[str]:
        name = token[1:]
        if name not in self.variables:
            known = ", ".join(self.variables) or "none"
            raise DqdlError(f"{_at(token)}: the variable {name} is not declared before Rules; declared are: {known}.")
        return self.variables[name]

    def _tag(self, node: _Node, rule_type: RuleType) -> Tag:
        name, condition = node.children
        if name not in rule_type.tags:
            known = f"knows {', '.join(rule_type.tags)}" if rule_type.tags else "takes no `with`"
            raise DqdlError(f"{_at(name)}: `with {name}` is not known: {rule_type.name} {known}.")
        operator, operands = self._compared(condition)
        if name == "threshold":
            try:
                threshold = RuleType(f"The threshold of {rule_type.name}", _NUMBER, dynamic=rule_type.dynamic_threshold)
                condition_of(threshold, operator, operands)
            except DqdlError as error:
                raise DqdlError(f"{_at(name)}: {error}") from None
        elif operator is not Operator.EQUAL:
            raise DqdlError(f"{_at(name)}: `with {name}` takes one value, as in `with {name} = ...`.")
        return Tag(str(name), operator, operands)

    def _compared(self, node: _Node) -> tuple[Operator, tuple[Expression, ...]]:
        is_not = any(isinstance(one, Token) and one.type == "NOT" for one in node.children)
        given = [one for one in node.children if not (isinstance(one, Token) and one.type == "NOT")]
        match node.data:
            case "compare" if isinstance(given[1], Tree) and given[1].data == "list":
                return Operator.EQUAL, self._listed(given[1])
            case "compare":
                return Operator(str(given[0])), (self._expression(given[1]),)
            case "between":
                low, high = (self._expression(one) for one in given)
                return Operator.NOT_BETWEEN if is_not else Operator.BETWEEN, (low, high)
            case "within":
                return Operator.NOT_IN if is_not else Operator.IN, self._listed(given[0])
            case _:
                return Operator.NOT_MATCHES if is_not else Operator.MATCHES, (self._expression(given[0]),)

    def _listed(self, node: _Node) -> tuple[Expression, ...]:
        if isinstance(node, Token):
            value = self._value(node)
            return tuple(map(Text, [value] if isinstance(value, str) else value))
        if not node.children:
            raise DqdlError(f"{_at(node.meta)}: the list is empty; it needs a value at least.")
        return tuple(self._expression(one) for one in node.children)

    def _expression(self, node: _Node) -> Expression:
        given = node.children
        match node.data:
            case "number":
                return Number(str(given[0]))
            case "quantity":
                if "." in given[0]:
                    raise DqdlError(f"{_at(given[0])}: {given[0]} {given[1]} has a fraction; use an integer.")
                return Quantity(int(given[0]), str(given[1]))
            case "text":
                return Text(_unquoted(given[0]))
            case "boolean":
                return Text(str(given[0]))
            case "keyword":
                return Keyword(given[0].upper())
            case "now":
                return Now()
            case "variable_value":
                value = self._value(given[0])
                if isinstance(value, list):
                    raise DqdlError(f"{_at(given[0])}: {given[0]} is a list; use it with `in`.")
                return Text(value)
            case "minus":
                return Negative(self._expression(given[1]))
            case "call":
                return Call(str(given[0]), tuple(self._expression(one) for one in given[1:]))
            case _:
                result = self._expression(given[0])
                for sign, operand in zip(given[1::2], given[2::2], strict=True):
                    result = Arithmetic(str(sign), result, self._expression(operand))
                return result


def _rule_type(token: _Node) -> RuleType:
    name = OTHER_SPELLINGS.get(token, str(token))
    if name in TYPES:
        return TYPES[name]
    near = nearest(name)
    hint = f"did you mean {near}?" if near else "docs/glue/12-data-quality.md lists the rule types."
    raise DqdlError(f"{_at(token)}: there is no rule type {name}; {hint}")


def _check_anomalies(rule: Rule, place: str) -> None:
    name, *parameters = rule.parameters
    watched = OTHER_SPELLINGS.get(name, name)
    if watched not in ANOMALY_TYPES:
        raise DqdlError(f"{place}: DetectAnomalies cannot watch {name}; it watches {', '.join(sorted(ANOMALY_TYPES))}.")
    watched_type = TYPES[watched]
    if not watched_type.least <= len(parameters) <= watched_type.most:
        raise DqdlError(f"{place}: {name} takes {_range(watched_type)}, but {len(parameters)} are given.")


def _check_distribution(analyzer: Rule, place: str) -> None:
    for tag in analyzer.tags:
        value = tag.operands[0]
        given = value.value if isinstance(value, Text) else str(value)
        if tag.name == "bins" and not (given.isdecimal() and 1 <= int(given) <= MOST_BINS):
            raise DqdlError(f"{place}: Distribution has {given} bins; use an integer from 1 to {MOST_BINS}.")
        if tag.name == "rebin" and given not in {"true", "false"}:
            raise DqdlError(f"{place}: rebin is {given}; use true or false.")


def _range(rule_type: RuleType) -> str:
    least, most = rule_type.least, rule_type.most
    if most == UNLIMITED:
        return f"{least} parameters or more" if least != 1 else "one parameter or more"
    counted = {0: "no parameters", 1: "one parameter"}
    if least == most:
        return counted.get(least, f"{least} parameters")
    return f"{least} to {most} parameters"


def _labelled(rule: TopRule, labels: Labels) -> TopRule:
    return replace(rule, labels=_merged(rule.labels, labels))


def _merged(defaults: Labels, own: Labels) -> Labels:
    return tuple({**dict(defaults), **dict(own)}.items())


def _labels(node: _Node) -> Labels:
    found: dict[str, str] = {}
    for label in node.children:
        key, value = map(_unquoted, label.children)
        place = _at(label.meta)
        if key in found:
            raise DqdlError(f"{place}: the label {key} is given twice.")
        if not 1 <= len(key) <= LONGEST_KEY or len(value) > LONGEST_LABEL:
            raise DqdlError(
                f"{place}: the label {key[:20]} is too long or has no key; keys have 1 to {LONGEST_KEY} characters,"
                f" values at most {LONGEST_LABEL}."
            )
        found[key] = value
    if len(found) > MOST_LABELS:
        raise DqdlError(f"{_at(node.meta)}: {len(found)} labels are given; a rule has at most {MOST_LABELS}.")
    return tuple(found.items())


def _dict(node: _Node, known: set[str]) -> dict[str, str | Sequence[str]]:
    found: dict[str, str | Sequence[str]] = {}
    for pair in node.children[0].children:
        key, value = pair.children
        name = _unquoted(key)
        if name not in known:
            raise DqdlError(f"{_at(key)}: the key {name} is not known here; known are {', '.join(sorted(known))}.")
        found[name] = _texts(value) if isinstance(value, Tree) else _unquoted(value)
    return found


def _texts(node: _Node) -> list[str]:
    return [_unquoted(one) for one in node.children]


def _unquoted(token: _Node) -> str:
    # Only these two have a meaning; any other backslash belongs to the text, such as those of regular expressions.
    return re.sub(r'\\(["\\])', r"\1", token[1:-1])


def _at(place: _Node) -> str:
    return f"Line {place.line}, column {place.column}"
