from __future__ import annotations

import json
from pathlib import Path

import pytest

from gluepot.core.errors import ConfigError
from gluepot.job.custom_transforms import parse_descriptor
from gluepot.job.custom_transforms.arguments import check_arguments

EXAMPLES = Path(__file__).parents[3] / "examples" / "transforms"
SALES = parse_descriptor("salesdata_generator.json", (EXAMPLES / "salesdata_generator.json").read_bytes())


def descriptor(**parameter):
    document = {"name": "t", "functionName": "t", "parameters": [{"name": "p", "type": "str"} | parameter]}
    return parse_descriptor("t.json", json.dumps(document))


def test_the_examples_of_the_article_are_read():
    assert [(one.name, one.type, one.is_optional) for one in SALES.parameters] == [
        ("numSamples", "int", False),
        ("year", "int", True),
    ]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("{", r"t\.json: Invalid JSON"),
        ('{"name": "t"}', r"t\.json: functionName: Field required"),
        ('{"name": "a b", "functionName": "t"}', r"t\.json: name: String should match"),
        ('{"name": "t", "functionName": "t", "parameters": [{"name": "p"}]}', r"parameters\[0\]\.type: Field required"),
        (
            '{"name": "t", "functionName": "t", "parameters": [{"name": "p", "type": "integer"}]}',
            r"parameters\[0\]\.type: Input should be 'str', 'int'",
        ),
        (
            '{"name": "t", "functionName": "t", "parameters": [{"name": "p", "type": "str", "validationRule": "("}]}',
            r"parameters\[0\]\.validationRule: .*'\(' is not a regular expression",
        ),
        (
            '{"name": "t", "functionName": "t", "parameters": [{"name": "p", "type": "int"}, {"name": "p", "type": "int"}]}',
            "parameters has p twice",
        ),
    ],
)
def test_a_wrong_descriptor_is_refused_by_the_name_of_its_field(document, said):
    with pytest.raises(ConfigError, match=said):
        parse_descriptor("t.json", document)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "salesdata_generator: parameter 'numSamples' is not given; it is required"),
        ({"numSamples": "10"}, "parameter 'numSamples' is '10', of type str; it takes int"),
        ({"numSamples": True}, "parameter 'numSamples' is True, of type bool; it takes int"),
        ({"numSamples": 1, "year": 99}, "parameter 'year' is 99. Please enter a valid year number"),
        ({"numSamples": 1, "years": 2021}, "has no parameter 'years'; it has numSamples, year. Did you mean 'year'"),
    ],
)
def test_wrong_arguments_are_refused_by_the_name_of_the_parameter(given, said):
    with pytest.raises(ConfigError, match=said):
        check_arguments(SALES, given)


@pytest.mark.parametrize("given", [{"numSamples": 1}, {"numSamples": 1, "year": None}, {"numSamples": 1, "year": 2021}])
def test_optional_parameters_may_be_left_out(given):
    check_arguments(SALES, given)


@pytest.mark.parametrize(
    ("parameter", "good", "bad"),
    [
        ({"type": "float"}, 1, "1"),
        ({"type": "bool"}, False, "false"),
        ({"type": "list"}, ["a", 1], "a"),
        ({"type": "list", "listType": "int"}, [1, 2], [1, "2"]),
        ({"listOptions": "a, b"}, "b", "c"),
        ({"type": "int", "listOptions": "1,2"}, 2, 3),
        ({"type": "list", "listOptions": [{"value": "a", "label": "A"}]}, ["a"], ["b"]),
        ({"listOptions": "column"}, "any_column", 1),
        ({"validationType": "RegularExpression", "validationRule": "^(?<first>a)(?<=a)b?$"}, "ab", "b"),
    ],
)
def test_types_options_and_rules_of_a_parameter_are_kept(parameter, good, bad):
    check_arguments(descriptor(**parameter), {"p": good})

    with pytest.raises(ConfigError, match="parameter 'p'"):
        check_arguments(descriptor(**parameter), {"p": bad})
