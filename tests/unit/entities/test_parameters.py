"""What scripts may ask of EntityDetector, and the sentences for what they may not."""

from __future__ import annotations

import pytest

from gluepot.core.errors import ConfigError
from gluepot.entities import parameters, validators
from gluepot.entities.actions import Action, Rule
from gluepot.entities.finding import Sensitivity


def test_a_list_of_types_means_that_they_are_told_in_all_columns():
    assert parameters.rules(["EMAIL", "USA_SSN", "EMAIL"]) == (Rule("EMAIL"), Rule("USA_SSN"))


def test_each_action_is_read_with_its_options():
    given = {
        "EMAIL": [{"action": "REDACT", "sourceColumns": ["a"], "actionOptions": {"redactText": "x"}}, {"action": "DETECT", "sourceColumnsToExclude": ["a"]}],
        "USA_SSN": [{"action": "SHA256_HASH", "sourceColumns": ["*"], "actionOptions": {}}],
        "CREDIT_CARD": [{"action": "PARTIAL_REDACT", "actionOptions": {"numLeftCharsToExclude": "2", "numRightCharsToExclude": 4, "redactChar": "#"}}],
        "IP_ADDRESS": [{"action": "PARTIAL_REDACT", "actionOptions": {"matchPattern": "[0-9]"}} ],
        "MAC_ADDRESS": [{"action": "REDACT"}],
    }  # fmt: skip

    assert parameters.rules(given) == (
        Rule("EMAIL", Action.REDACT, ("a",), text="x"),
        Rule("EMAIL", excluded=("a",)),
        Rule("USA_SSN", Action.SHA256_HASH),
        Rule("CREDIT_CARD", Action.PARTIAL_REDACT, text="#", keep_left=2, keep_right=4),
        Rule("IP_ADDRESS", Action.PARTIAL_REDACT, text="*", pattern="[0-9]"),
        Rule("MAC_ADDRESS", Action.REDACT, text="*****"),
    )


def one(action, **options):
    return {"EMAIL": [{"action": action, "actionOptions": options}]}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([], "The list of entity types is empty; name the types"),
        ({}, "The detection parameters are empty; name the types"),
        ("EMAIL", "The entity types are 'EMAIL'; give a list"),
        (None, "The entity types are None; give a list"),
        (["EMIAL"], "EMIAL is no entity type that Gluepot knows. Did you mean 'EMAIL'?"),
        (["Badge", "Locker"], "Badge, Locker are no entity types .* custom entity types are not supported yet"),
        (["EMAIL", "PERSON_NAME"], "PERSON_NAME cannot be found here: it takes a model .* Take it out of the list"),
        ({"USA_DRIVING_LICENSE": [{"action": "DETECT"}]}, "USA_DRIVING_LICENSE cannot be found here: there are many formats"),
        ({"EMAIL": {"action": "DETECT"}}, "The detection parameters of EMAIL are .*; give a list of actions"),
        ({"EMAIL": []}, "give a list of actions"),
        ({"EMAIL": ["DETECT"]}, "An action for EMAIL is 'DETECT'; give a dict"),
        ({"EMAIL": [{"action": "MASK"}]}, "The action for EMAIL is 'MASK'; use DETECT, REDACT, PARTIAL_REDACT, SHA256_HASH"),
        ({"EMAIL": [{}]}, "The action for EMAIL is None; use"),
        ({"EMAIL": [{"action": "DETECT", "sourceColumn": ["a"]}]}, "has the key 'sourceColumn'; use .* Did you mean 'sourceColumns'"),
        ({"EMAIL": [{"action": "DETECT", "sourceColumns": ["a"], "sourceColumnsToExclude": ["b"]}]}, "has both sourceColumns and"),
        ({"EMAIL": [{"action": "DETECT", "sourceColumns": "a"}]}, "sourceColumns of EMAIL is 'a'; give a list of names"),
        (one("DETECT", redactText="x"), "DETECT of EMAIL has the option 'redactText'; it takes none"),
        (one("REDACT", redactChar="x"), "REDACT of EMAIL has the option 'redactChar'; use redactText"),
        (one("PARTIAL_REDACT", numLeftCharsToExclude="two"), "numLeftCharsToExclude of EMAIL is 'two'; give an integer"),
        (one("PARTIAL_REDACT", numRightCharsToExclude=-1), "numRightCharsToExclude of EMAIL is -1; give an integer"),
        (one("PARTIAL_REDACT", matchPattern="["), r"matchPattern of EMAIL is '\[', which is not a regular expression"),
        (one("PARTIAL_REDACT", matchPattern="a", numLeftCharsToExclude=1), "has matchPattern and numbers of characters"),
        ({"EMAIL": [{"action": "REDACT"}, {"action": "SHA256_HASH"}]}, "REDACT and SHA256_HASH of EMAIL are both for all columns"),
        (
            {"EMAIL": [{"action": "REDACT"}, {"action": "SHA256_HASH", "sourceColumns": ["a"]}]},
            "REDACT and SHA256_HASH of EMAIL are both for the column 'a'",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_a_sentence(given, sentence):
    with pytest.raises(ConfigError, match=sentence):
        parameters.rules(given)


def test_two_ways_of_hiding_may_be_for_different_columns():
    given = {
        "EMAIL": [
            {"action": "REDACT", "sourceColumnsToExclude": ["a"]},
            {"action": "SHA256_HASH", "sourceColumns": ["a"]},
        ]
    }

    assert len(parameters.rules(given)) == 2


def test_a_column_that_is_not_there_is_told_with_those_that_are():
    rules = parameters.rules({"EMAIL": [{"action": "DETECT", "sourceColumns": ["emial"]}]})

    with pytest.raises(
        ConfigError, match=r"EMAIL name the column 'emial'; there are id, email. Did you mean 'email'\?"
    ):
        parameters.check_columns(rules, ["id", "email"])


def test_sensitivity_is_low_or_high():
    assert (parameters.sensitivity("LOW"), parameters.sensitivity("high")) == (Sensitivity.LOW, Sensitivity.HIGH)
    with pytest.raises(ConfigError, match="detection_sensitivity is 'MEDIUM'; use LOW or HIGH"):
        parameters.sensitivity("MEDIUM")


@pytest.mark.parametrize("given", [-0.1, 1.1, "0.5", True, None])
def test_a_fraction_is_a_number_from_0_to_1(given):
    with pytest.raises(ConfigError, match=r"sample_fraction is .*; give a number from 0 to 1"):
        parameters.fraction("sample_fraction", given)


def test_a_missing_library_names_the_extra(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name="stdnum")

    monkeypatch.setattr(validators, "import_module", missing)
    validators.validator.cache_clear()
    try:
        with pytest.raises(ConfigError, match=r"needs the package stdnum, .* pip install 'gluepot\[pii\]'"):
            validators.validator("stdnum:us.ssn")
    finally:
        validators.validator.cache_clear()
