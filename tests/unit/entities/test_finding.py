"""What is found in texts, at which place, and what is left alone."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from gluepot.entities.entity_types import ENTITY_TYPES, Evidence
from gluepot.entities.finding import Finding, Sensitivity, find
from gluepot.entities.missing_types import MISSING_TYPES
from gluepot.entities.validators import validator
from scripts.sensitive_data import FAKED, positives

LOW, HIGH = Sensitivity.LOW, Sensitivity.HIGH

POSITIVE = {
    "EMAIL": ["ada@example.com", "müller@firma.de", "ada+news@sub.example.co.uk", "root@db1.local"],
    "IP_ADDRESS": ["10.0.0.1", "255.255.255.255", "fe80::1", "2001:db8::8a2e:370:7334"],
    "MAC_ADDRESS": ["aa:bb:cc:dd:ee:ff", "00-1B-44-11-3A-B7"],
    "CREDIT_CARD": ["4111111111111111", "4111 1111 1111 1111", "5555-5555-5555-4444", "378282246310005", "30569309025904"],
    "PHONE_NUMBER": ["(212) 456-7890", "212-456-7890", "+49 30 901820", "+1 212 456 7890"],
    "BANK_ACCOUNT": ["DE89370400440532013000", "GB82 WEST 1234 5698 7654 32"],
    "USA_SSN": ["536-90-4399"],
    "USA_ITIN": ["912-90-3456"],
    "USA_DEA_NUMBER": ["BB1388568"],
    "USA_MEDICARE_BENEFICIARY_IDENTIFIER": ["1EG4-TE5-MK73", "1EG4TE5MK73"],
    "UK_NATIONAL_INSURANCE_NUMBER": ["AB123456C", "AB 12 34 56 C"],
    "UK_PHONE_NUMBER": ["+44 20 7946 0958", "020 7946 0958"],
    "SPAIN_DNI": ["54362315K"],
    "FRANCE_INSEE_CODE": ["2 95 10 99 126 111 93"],
    "INDIA_PERMANENT_ACCOUNT_NUMBER": ["ACUPA7085R"],
    "UNITED_ARAB_EMIRATES_PERSONAL_NUMBER": ["784-1985-1234567-3"],
    "SWITZERLAND_AHV": ["756.9217.0769.85"],
    "FINLAND_NATIONAL_IDENTIFICATION_NUMBER": ["131052-308T"],
}  # fmt: skip
NEGATIVE = {
    "EMAIL": ["ada@", "@example.com", "ada@example", "a b@c", "1 @ 2.50"],
    "IP_ADDRESS": ["256.1.1.1", "1.2.3", "12:30:45", "Foo::bar", "1.2.3.4.5", "::"],
    "MAC_ADDRESS": ["aa:bb:cc:dd:ee", "gg:bb:cc:dd:ee:ff"],
    "CREDIT_CARD": ["4111111111111112", "1234567812345670", "94111111111111111", "4111 1111 1111 1111 1"],
    "PHONE_NUMBER": ["212-456-789", "2024-01-02", "112-456-7890", "12345", "+0 30 901820"],
    "BANK_ACCOUNT": ["DE89370400440532013001", "12345678"],
    "USA_SSN": ["000-12-3456", "666-12-3456", "536-00-4399", "078-05-1120", "536-90-43999"],
    "USA_ITIN": ["912-10-3456", "812-90-3456"],
    "USA_DEA_NUMBER": ["BB1388569"],
    "USA_MEDICARE_BENEFICIARY_IDENTIFIER": ["1SG4-TE5-MK73", "0EG4-TE5-MK73"],
    "UK_NATIONAL_INSURANCE_NUMBER": ["BG123456A", "QQ123456C", "AB123456E"],
    "UK_PHONE_NUMBER": ["+49 30 901820", "020 7946"],
    "SPAIN_DNI": ["54362315Z"],
    "FRANCE_INSEE_CODE": ["2 95 10 99 126 111 92"],
    "INDIA_PERMANENT_ACCOUNT_NUMBER": ["ACUQA7085R"],
    "UNITED_ARAB_EMIRATES_PERSONAL_NUMBER": ["784-1985-1234567-4"],
    "SWITZERLAND_AHV": ["756.9217.0769.84"],
    "FINLAND_NATIONAL_IDENTIFICATION_NUMBER": ["131052-308U"],
}  # fmt: skip


def spans(text, entity, sensitivity=LOW, column="note"):
    found = find(pa.array([text]), column, [entity], sensitivity).get(0, [])
    return [text[one.start : one.end] for one in found]


@pytest.mark.parametrize(("entity", "value"), [(name, one) for name, listed in POSITIVE.items() for one in listed])
@pytest.mark.parametrize("sentence", ["{}", "see {}.", "({})", "a,{},b", "é{}é", "«{}»"])
def test_a_value_is_found_wherever_it_stands(entity, value, sentence):
    if sentence.startswith("é") and entity == "EMAIL":
        pytest.skip("letters before an address belong to it")

    assert spans(sentence.format(value), entity) == [value]


@pytest.mark.parametrize(("entity", "value"), [(name, one) for name, listed in NEGATIVE.items() for one in listed])
def test_what_only_looks_like_a_value_is_left_alone(entity, value):
    assert spans(f"see {value}.", entity, HIGH) == []


@pytest.mark.parametrize("entity", sorted(ENTITY_TYPES))
def test_each_type_finds_its_values_in_a_column_that_is_named_after_them(entity):
    word = next(iter(ENTITY_TYPES[entity].words), "value").replace(" ", "_")
    values = positives(ENTITY_TYPES[entity], 10)

    found = find(pa.array(values), f"customer_{word}", [entity], LOW)

    missed = [value for at, value in enumerate(values) if [Finding(entity, 0, len(value))] != found.get(at)]
    assert len(missed) <= (2 if entity in FAKED else 0), missed


@pytest.mark.parametrize("entity", sorted(ENTITY_TYPES))
def test_no_type_is_found_in_texts_without_digits(entity):
    texts = pa.array(["", None, "nothing to see here: - @", "Straße, naïve, 日本語", "NULL"])

    assert find(texts, "note", [entity], HIGH) == {}


def test_digits_with_a_check_digit_count_at_high_sensitivity_or_beside_a_word():
    number = "9434765919"

    assert spans(number, "UK_NATIONAL_HEALTH_SERVICE_NUMBER", LOW) == []
    assert spans(number, "UK_NATIONAL_HEALTH_SERVICE_NUMBER", HIGH) == [number]
    assert spans(f"NHS no. {number}", "UK_NATIONAL_HEALTH_SERVICE_NUMBER", LOW) == [number]
    assert spans(number, "UK_NATIONAL_HEALTH_SERVICE_NUMBER", LOW, "patient.nhsNumber") == [number]


def test_what_only_has_a_format_needs_a_word_at_any_sensitivity():
    assert spans("order 582612638", "USA_PASSPORT_NUMBER", HIGH) == []
    assert spans("passport 582612638", "USA_PASSPORT_NUMBER", HIGH) == ["582612638"]
    assert spans("582612638", "USA_PASSPORT_NUMBER", HIGH, "passport_no") == ["582612638"]


def test_a_word_inside_another_word_says_nothing():
    assert spans("using 123456782", "CANADA_SOCIAL_INSURANCE_NUMBER") == []
    assert spans("SIN: 123456782", "CANADA_SOCIAL_INSURANCE_NUMBER") == ["123456782"]


def test_a_word_far_before_a_value_says_nothing():
    assert spans("nhs" + " lorem" * 20 + " 9434765919", "UK_NATIONAL_HEALTH_SERVICE_NUMBER") == []


def test_several_values_of_a_text_come_in_order_with_their_places():
    text = "😀 b@example.com, 10.0.0.1; a@example.com"

    found = find(pa.array([None, text]), "note", ["EMAIL", "IP_ADDRESS"], LOW)

    assert list(found) == [1]
    assert [(one.entity, text[one.start : one.end]) for one in found[1]] == [
        ("EMAIL", "b@example.com"),
        ("IP_ADDRESS", "10.0.0.1"),
        ("EMAIL", "a@example.com"),
    ]


def test_a_part_of_a_longer_number_is_no_value():
    assert spans("4111 1111 1111 1111", "JAPAN_MY_NUMBER", HIGH) == []
    assert spans("1234-536-90-4399", "USA_SSN", HIGH) == []
    assert spans("536-90-4399-1", "USA_SSN", HIGH) == []


def test_a_slice_of_a_column_and_large_texts_are_looked_at():
    texts = pa.array(["ada@example.com", "x", "bob@example.com"], pa.large_string()).slice(1)

    assert find(texts, "note", ["EMAIL"], LOW) == {1: [Finding("EMAIL", 0, 15)]}


@pytest.mark.parametrize("entity", sorted(ENTITY_TYPES))
def test_shapes_are_read_alike_by_both_engines_and_capture_nothing(entity):
    for shape in ENTITY_TYPES[entity].shapes:
        assert re.compile(shape.pattern, re.ASCII).groups == 0
        assert not re.search(r"\(\?[=!<]", shape.pattern)
        assert isinstance(shape.evidence, Evidence)


def test_no_type_is_both_found_and_missing():
    assert not ENTITY_TYPES.keys() & MISSING_TYPES.keys()


@pytest.mark.parametrize("entity", sorted(ENTITY_TYPES))
def test_validators_refuse_texts_without_raising(entity):
    valid = validator(ENTITY_TYPES[entity].validator)

    if ENTITY_TYPES[entity].validator != "shape":
        assert not any(map(valid, ["AA0000001", "ZZ9999999"]))


def test_a_long_hostile_text_is_read_in_linear_time():
    text = "1@" * 50_000 + "." * 50_000 + ":" * 50_000 + "4111 " * 20_000

    assert find(pa.array([text]), "note", ["EMAIL", "IP_ADDRESS", "CREDIT_CARD", "PHONE_NUMBER"], HIGH).keys() <= {0}
