"""Who says that a candidate is what it looks like: validators of libraries, loaded when a type first needs them.

A type names its validator in the table of `gluepot.entities.entity_types`:

- `stdnum:us.ssn`: a module of python-stdnum
- `phone:US`: phonenumbers, for a region
- `email`: email-validator
- `ip`: Python's ipaddress
- `china`: python-stdnum, whatever the county
- `mac`: python-stdnum, whoever made the device
- `account`, `npi`, `dea`, `hicn`: numbers that are built on one of those
- `shape`: nothing beyond the pattern
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from gluepot.core.errors import ConfigError

Validator = Callable[[str], bool]

# Telephones and mail take their libraries 0.1 ms each, and the same ones come again and again.
_VALUES_REMEMBERED = 16_384


@cache
def validator(name: str) -> Validator:
    """Return the function that tells whether a candidate is valid.

    Raises:
        ConfigError: the libraries are not installed.
    """
    kind, _, argument = name.partition(":")
    match kind:
        case "stdnum":
            return _number(argument)
        case "phone":
            return lru_cache(_VALUES_REMEMBERED)(_phone(argument))
        case "mac":
            return _mac()
        case "china":
            return _china()
        case "email":
            return lru_cache(_VALUES_REMEMBERED)(_email())
        case "ip":
            return _is_ip
        case "account":
            return _account()
        case "npi":
            return _npi()
        case "dea":
            return _is_dea
        case "hicn":
            return _claim()
        case _:
            return _always


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        raise ConfigError(
            f"Looking for sensitive data needs the package {missing.name}, which is not installed: "
            "install gluepot with the extra 'pii', for example pip install 'gluepot[pii]'."
        ) from missing


def _number(module: str) -> Validator:
    is_valid = _library(f"stdnum.{module}").is_valid
    # Most modules take the separators out themselves, those of bare check digits do not.
    taken_out = " -" if module == "luhn" else " "
    table = str.maketrans("", "", taken_out)
    return lambda text: bool(is_valid(text.translate(table)))


def _phone(region: str) -> Validator:
    numbers = _library("phonenumbers")

    def valid(text: str) -> bool:
        try:
            number = numbers.parse(text, region)
        except numbers.NumberParseException:
            return False
        of_region = region == "US" or numbers.region_code_for_number(number) == region
        return of_region and bool(numbers.is_valid_number(number))

    return valid


def _mac() -> Validator:
    is_valid = _library("stdnum.mac").is_valid
    # Devices make up addresses for themselves, which no manufacturer owns.
    return lambda text: bool(is_valid(text, validate_manufacturer=False))


def _china() -> Validator:
    numbers = _library("stdnum.cn.ric")

    def valid(text: str) -> bool:
        # The library also wants the county to be one of today's; people keep the number of a county that is gone.
        try:
            numbers.get_birth_date(text)
        except ValueError:
            return False
        return bool(numbers.calc_check_digit(text) == text[-1].upper())

    return valid


def _email() -> Validator:
    emails = _library("email_validator")

    def valid(text: str) -> bool:
        try:
            emails.validate_email(text, check_deliverability=False)
        except emails.EmailNotValidError as wrong:
            # Hosts of a local network are nobody's on the Internet, and their mailboxes are somebody's all the same.
            return "special-use" in str(wrong)
        return True

    return valid


def _is_ip(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    # `::` stands between the names of many languages.
    return not (address.version == 6 and address.is_unspecified)


def _account() -> Validator:
    iban = _library("stdnum.iban").is_valid
    return lambda text: text.isdigit() or bool(iban(text))


def _npi() -> Validator:
    # The digits of an NPI are checked with the prefix of the cards of the USA's health care before them.
    luhn = _library("stdnum.luhn").is_valid
    return lambda text: bool(luhn("80840" + text))


def _is_dea(text: str) -> bool:
    digits = [int(digit) for digit in text[2:]]
    return (digits[0] + digits[2] + digits[4] + 2 * (digits[1] + digits[3] + digits[5])) % 10 == digits[6]


def _claim() -> Validator:
    ssn = _library("stdnum.us.ssn").is_valid
    return lambda text: bool(ssn("".join(one for one in text if one.isdigit())[:9]))


def _always(_: str) -> bool:
    return True
