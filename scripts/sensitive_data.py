"""python -m scripts.sensitive_data > docs/sensitive-data.md: what is found, and how reliably, on labelled texts.

The values of a type come from Faker where it makes valid ones: its authors and those of the validators are not the
same people. Elsewhere they are random texts of the type's shape that its validator accepts.
"""

from __future__ import annotations

import random
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from re import _parser as parser

import pyarrow as pa
from faker import Faker

from gluepot.entities.entity_types import ENTITY_TYPES, EntityType, Evidence
from gluepot.entities.finding import Sensitivity, find
from gluepot.entities.missing_types import MISSING_TYPES
from gluepot.entities.validators import validator

SEED = 7
VALUES = 60
_EVERYDAY_TEXTS = 600
_TRIES = 200_000
_COLUMNS = 100

# Locale and method of Faker by type, where what it makes is valid.
FAKED = {
    "EMAIL": ("en_US", "email"),
    "IP_ADDRESS": ("en_US", "ipv4"),
    "MAC_ADDRESS": ("en_US", "mac_address"),
    "CREDIT_CARD": ("en_US", "credit_card_number:visa"),
    "BANK_ACCOUNT": ("fr_FR", "iban"),
    "USA_SSN": ("en_US", "ssn"),
    "USA_ITIN": ("en_US", "itin"),
    "BRAZIL_BANK_ACCOUNT": ("pt_BR", "iban"),
    "BRAZIL_NATURAL_PERSON_REGISTRY_NUMBER": ("pt_BR", "cpf"),
    "BRAZIL_NATIONAL_REGISTRY_OF_LEGAL_ENTITIES_NUMBER": ("pt_BR", "cnpj"),
    "CANADA_SOCIAL_INSURANCE_NUMBER": ("en_CA", "ssn"),
    "CHILE_NATIONAL_IDENTIFICATION_NUMBER": ("es_CL", "person_rut"),
    "CHINA_IDENTIFICATION": ("zh_CN", "ssn"),
    "CHINA_PHONE_NUMBER": ("zh_CN", "phone_number"),
    "CROATIA_PERSONAL_IDENTIFICATION_NUMBER": ("hr_HR", "ssn"),
    "CZECHIA_PERSONAL_IDENTIFICATION_NUMBER": ("cs_CZ", "birth_number"),
    "ESTONIA_PERSONAL_IDENTIFICATION_CODE": ("et_EE", "ssn"),
    "FINLAND_NATIONAL_IDENTIFICATION_NUMBER": ("fi_FI", "ssn"),
    "FRANCE_BANK_ACCOUNT": ("fr_FR", "iban"),
    "FRANCE_INSEE_CODE": ("fr_FR", "ssn"),
    "GERMANY_BANK_ACCOUNT": ("de_DE", "iban"),
    "ISRAEL_IDENTIFICATION_NUMBER": ("he_IL", "ssn"),
    "ITALY_BANK_ACCOUNT": ("it_IT", "iban"),
    "ITALY_FISCAL_CODE": ("it_IT", "ssn"),
    "MEXICO_UNIQUE_POPULATION_REGISTRY_CODE": ("es_MX", "curp"),
    "NETHERLANDS_BANK_ACCOUNT": ("nl_NL", "iban"),
    "NETHERLANDS_CITIZEN_SERVICE_NUMBER": ("nl_NL", "ssn"),
    "NORWAY_BIRTH_NUMBER": ("no_NO", "ssn"),
    "POLAND_REGON_NUMBER": ("pl_PL", "regon"),
    "POLAND_SSN": ("pl_PL", "pesel"),
    "POLAND_TAX_IDENTIFICATION_NUMBER": ("pl_PL", "nip"),
    "ROMANIA_NUMERICAL_PERSONAL_CODE": ("ro_RO", "ssn"),
    "SPAIN_BANK_ACCOUNT": ("es_ES", "iban"),
    "SPAIN_NIE": ("es_ES", "nie"),
    "SPAIN_NIF": ("es_ES", "nif"),
    "SWEDEN_PERSONAL_IDENTIFICATION_NUMBER": ("sv_SE", "ssn"),
    "TURKEY_NATIONAL_IDENTIFICATION_NUMBER": ("tr_TR", "ssn"),
    "UK_BANK_ACCOUNT": ("en_GB", "iban"),
}

WITHOUT_CHECK_DIGIT = {
    *("account", "email", "hicn", "ip", "mac", "shape", "phone:CN", "phone:GB", "phone:US"),
    *("stdnum:us.atin", "stdnum:us.itin", "stdnum:us.ptin", "stdnum:us.ssn", "stdnum:in_.pan", "stdnum:is_.vsk"),
}


@dataclass(frozen=True, slots=True)
class Quality:
    """How well a type is found: of what was found how much is right, and of what is there how much was found."""

    precision: float
    recall: float


def measured(entity: EntityType, sensitivity: Sensitivity) -> Quality:
    """Return the quality of a type on its labelled texts; the same for each call."""
    right = _number_found(entity, sensitivity, positives(entity))
    wrong = _number_found(entity, sensitivity, near_misses(entity))
    wrong += len(find(pa.array(everyday_texts()), "value", [entity.name], sensitivity))
    return Quality(right / (right + wrong) if right else 0.0, right / VALUES)


@cache
def positives(entity: EntityType, number: int = VALUES) -> list[str]:
    """Return values of a type, always the same ones."""
    if made := FAKED.get(entity.name):
        locale, method = made
        fake = Faker(locale)
        fake.seed_instance(SEED)
        name, _, argument = method.partition(":")
        maker: Callable[..., str] = getattr(fake, name)
        return [str(maker(*([argument] if argument else []))) for _ in range(number)]
    valid, drawn = validator(entity.validator), _drawn(entity, "positives")
    found = []
    for _ in range(_TRIES):
        if valid(text := next(drawn)):
            found.append(text)
            if len(found) == number:
                return found
    raise AssertionError(f"{entity.name}: only {len(found)} valid values in {_TRIES} tries")


def near_misses(entity: EntityType) -> list[str]:
    """Return random texts of a type's shape; none where these are values, because there is no check digit."""
    if entity.validator in WITHOUT_CHECK_DIGIT:
        return []
    drawn = _drawn(entity, "near misses")
    return [next(drawn) for _ in range(VALUES)]


@cache
def everyday_texts() -> list[str]:
    """Return texts that nobody has to hide: times, prices, versions, numbers of orders, sentences."""
    fake = Faker("en_US")
    fake.seed_instance(SEED)
    chance = random.Random(SEED)  # noqa: S311 - made texts
    makers: list[Callable[[], str]] = [
        lambda: str(chance.randrange(1, 10**6)),
        lambda: f"{chance.uniform(0, 5000):.2f}",
        fake.iso8601,
        lambda: str(chance.randrange(1_500_000_000_000, 1_800_000_000_000)),
        lambda: str(chance.randrange(1_500_000_000, 1_800_000_000)),
        fake.uuid4,
        lambda: f"v{chance.randrange(9)}.{chance.randrange(99)}.{chance.randrange(99)}",
        fake.isbn13,
        lambda: f"ORD-{chance.randrange(10**7, 10**8)}",
        fake.sentence,
        lambda: f"{fake.uri()}?id={chance.randrange(10**6)}",
        fake.license_plate,
        lambda: fake.bothify("SKU ??-####-???").upper(),
        fake.date,
        lambda: f"{chance.uniform(-90, 90):.6f}, {chance.uniform(-180, 180):.6f}",
    ]
    return [makers[at % len(makers)]() for at in range(_EVERYDAY_TEXTS)]


def document() -> str:
    """Return the document."""
    return _PREFACE + _table() + _NOTES + _notes() + _MISSING + _missing()


def _number_found(entity: EntityType, sensitivity: Sensitivity, values: Sequence[str]) -> int:
    """Return how many values are found: in a column that is named after them, beside a word, and without any."""
    word = next((one for one in entity.words if one.isascii()), "id")
    settings = (
        (word.replace(" ", "_"), "{}"),
        ("note", f"The {word} is {{}}, as written in May."),
        ("note", "Kept {} for later."),
    )
    number = 0
    for at, (column, sentence) in enumerate(settings):
        there = values[at::3]
        texts = pa.array([sentence.format(value) for value in there], pa.string())
        spans = {
            (row, one.start, one.end)
            for row, findings in find(texts, column, [entity.name], sensitivity).items()
            for one in findings
        }
        starts = sentence.index("{")
        number += sum((row, starts, starts + len(value)) in spans for row, value in enumerate(there))
    return number


def _drawn(entity: EntityType, what: str) -> Iterator[str]:
    """Yield random texts of the strongest shape of a type."""
    chance = random.Random(f"{SEED} {entity.name} {what}")  # noqa: S311 - made texts
    parsed = parser.parse(entity.shapes[0].pattern, re.ASCII)
    while True:
        yield _sample(parsed, chance)


def _sample(parsed: object, chance: random.Random) -> str:
    parts = []
    for kind, value in parsed:
        match str(kind):
            case "LITERAL":
                parts.append(chr(value))
            case "IN":
                parts.append(chance.choice([one for item in value for one in _characters(*item)]))
            case "BRANCH":
                parts.append(_sample(chance.choice(value[1]), chance))
            case "SUBPATTERN":
                parts.append(_sample(value[3], chance))
            case "MAX_REPEAT":
                least, most, inner = value
                parts += [_sample(inner, chance) for _ in range(chance.randint(least, min(most, least + 4)))]
            case other:
                raise AssertionError(other)
    return "".join(parts)


def _characters(kind: object, value: object) -> str:
    match str(kind), value:
        case "LITERAL", int():
            return chr(value)
        case "RANGE", (int() as first, int() as last):
            return "".join(map(chr, range(first, min(last, first + 26) + 1)))
        case _:
            return "0123456789"


def _table() -> str:
    lines = ["| Type | Values | P low | R low | P high | R high |", "| --- | --- | --: | --: | --: | --: |"]
    for entity in sorted(ENTITY_TYPES.values(), key=lambda one: one.name):
        low, high = measured(entity, Sensitivity.LOW), measured(entity, Sensitivity.HIGH)
        numbers = " | ".join(f"{one:.2f}" for one in (low.precision, low.recall, high.precision, high.recall))
        lines.append(f"| `{entity.name}` | {'Faker' if entity.name in FAKED else 'own'} | {numbers} |")
    return "\n".join(lines) + "\n"


def _notes() -> str:
    noted = {one.name: one.note for one in ENTITY_TYPES.values() if one.note}
    noted |= {
        one.name: noted.get(one.name, "") + ("; " if one.name in noted else "") + "found only beside a word for it"
        for one in ENTITY_TYPES.values()
        if all(shape.evidence is Evidence.WEAK for shape in one.shapes)
    }
    return "\n".join(_filled(f"- `{name}`: {note}", "  ") for name, note in sorted(noted.items())) + "\n"


def _missing() -> str:
    by_reason = sorted(MISSING_TYPES, key=lambda name: (MISSING_TYPES[name], name))
    parts = []
    for reason, names in groupby(by_reason, key=MISSING_TYPES.__getitem__):
        text = _filled(f"Because {reason}: " + ", ".join(f"`{name}`" for name in names))
        parts.append(text)
    return "\n\n".join(parts) + "\n"


def _filled(text: str, indent: str = "") -> str:
    return textwrap.fill(text, _COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


_PREFACE = f"""# Sensitive data

Made by `python -m scripts.sensitive_data`; a test compares it.

`awsglueml.transforms.EntityDetector` looks for sensitive data in the texts of a frame. It needs the
extra `pii`: `pip install 'gluepot[pii]'`. Nothing is sent anywhere, and no model is downloaded.

```python
detector = EntityDetector()
found = detector.detect(frame, ["EMAIL", "USA_SSN"])  # adds the column DetectedEntities
hidden = detector.detect(frame, {{"EMAIL": [{{"action": "SHA256_HASH"}}]}}, "DetectedEntities", "HIGH")
columns = detector.classify_columns(frame, ["EMAIL"], 1.0, 0.1, "HIGH")  # {{"contact": ["EMAIL"]}}
```

A pattern finds candidates in whole columns at once, and a library then says whether a candidate is
a value: python-stdnum for numbers with check digits, phonenumbers, email-validator.

- **Low sensitivity**, the default of the call: digits that only have a check digit count if the
  name of the column or a word shortly before says what they are.
- **High sensitivity**, which Glue Studio passes: a check digit that is right is enough. One of ten
  random numbers has one, so expect false alarms in columns of long numbers.
- What has neither punctuation nor a check digit of its own needs such a word in any case.

Only texts are looked at, at any depth; numbers and keys of maps are not. Positions count Unicode
characters, as Python does. Texts inside structs and arrays are reported under the path of their
field, with dots; `classify_columns` names the whole column. It takes at least 100 rows of each
chunk that is read, and its threshold is a fraction of the values that are not null.

## What is found

P is precision, R is recall, measured on {VALUES} labelled values of each type: a third in a column
that is named after it, a third in a sentence with such a word, a third in a sentence without. Where
the type has a check digit, as many random texts of the same pattern stand against them, of which
some have it right by chance, and in any case {_EVERYDAY_TEXTS} texts of everyday: times, prices, numbers of
orders, identifiers, sentences. Values are made by Faker where it makes valid ones. Where it says
"own", they are random texts that the validator accepts, so that recall says nothing about the
validator itself. Other types may look the same: eleven digits can be valid in several countries.

"""
_NOTES = "\nWhat is found only in part:\n\n"
_MISSING = """
## What is not found

A script that asks for one of these types fails with a sentence that says so, because a job that
goes on would write what it was told to hide.

"""

if __name__ == "__main__":
    print(document(), end="")
