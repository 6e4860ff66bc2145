"""The entity types that are found: Glue's names, what a value looks like, and who says that it is one. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum


class Evidence(IntEnum):
    """How much a value of a shape proves by itself, once its validator has accepted it."""

    # Many other things look like this; only words nearby tell them apart.
    WEAK = 0
    # Digits with a check digit: one of ten random numbers passes, so words nearby are wanted at low sensitivity.
    CHECKED = 1
    # Punctuation, letters or a prefix that little else has.
    STRONG = 2


@dataclass(frozen=True, slots=True)
class Shape:
    """What a value looks like.

    Args:
        pattern: a regular expression that RE2 and, with its flag ASCII, Python read alike, without look-around and
            without groups that capture.
        evidence: what it proves.
    """

    pattern: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class EntityType:
    """One type of sensitive data.

    Args:
        name: Glue's.
        validator: who confirms a candidate, see `gluepot.entities.validators`.
        shapes: the candidates.
        words: of which one stands in the name of the column or shortly before the value, in lower case.
        note: what is not found, for the document.
    """

    name: str
    validator: str
    shapes: tuple[Shape, ...]
    words: tuple[str, ...] = ()
    note: str = ""


def _of(
    name: str, validator: str, words: str = "", *, strong: str = "", checked: str = "", weak: str = "", note: str = ""
) -> EntityType:
    """Return a type; `words` are separated by commas."""
    given = ((strong, Evidence.STRONG), (checked, Evidence.CHECKED), (weak, Evidence.WEAK))
    shapes = tuple(Shape(pattern, evidence) for pattern, evidence in given if pattern)
    return EntityType(name, validator, shapes, tuple(one.strip() for one in words.split(",") if one.strip()), note)


def _vat(country: str, module: str, pattern: str) -> EntityType:
    return _of(f"{country}_VALUE_ADDED_TAX", f"stdnum:{module}", "vat", strong=pattern)


def _iban(name: str, code: str, note: str = "as an IBAN; the number within the country is not found") -> EntityType:
    return _of(name, "stdnum:iban", "iban", strong=rf"{code}\d{{2}}(?: ?[0-9A-Z]{{2,4}}){{3,8}}", note=note)


def _citizen(country: str, region: str) -> EntityType:
    """Return the thirteen digits that the republics of former Yugoslavia share: a date, a region, a check digit."""
    words = "jmbg, emšo, emso, embg, citizen number, matični broj, maticni broj"
    return _of(
        f"{country}_UNIQUE_MASTER_CITIZEN_NUMBER",
        "stdnum:si.emso",
        words,
        checked=rf"[0-3]\d[01]\d[09]\d{{2}}{region}\d{{4}}",
    )


_TAX = "tin, tax"
# Credit cards by the first digits of the networks: Visa, Mastercard, Discover, JCB, American Express, Diners.
_CARD = (
    r"(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|6011|64[4-9]\d|65\d{2}|35[2-8]\d)(?:[ -]?\d{4}){3}"
    r"|3[47]\d{2}[ -]?\d{6}[ -]?\d{5}|3(?:0[0-5]|[68]\d)\d[ -]?\d{6}[ -]?\d{4}"
)
_IPV6 = r"(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}|(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}"

# Letters of any script may stand in an address; the blocks of punctuation between them are left out.
_NOT_ASCII = "\u00c0-\u1fff\u2c00-\u2fff\u3040-\ufeff"
_EMAIL = (
    rf"[0-9A-Za-z{_NOT_ASCII}.!#$%&'*+/=?^_`{{|}}~-]{{1,64}}"
    rf"@(?:[0-9A-Za-z{_NOT_ASCII}-]{{1,63}}\.){{1,8}}[A-Za-z{_NOT_ASCII}]{{2,63}}"
)

_WORLD = (
    _of("EMAIL", "email", strong=_EMAIL),
    _of("IP_ADDRESS", "ip", strong=rf"(?:\d{{1,3}}\.){{3}}\d{{1,3}}|{_IPV6}"),
    _of("MAC_ADDRESS", "mac", strong=r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}|(?:[0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}"),
    _of("CREDIT_CARD", "stdnum:luhn", "card, visa, mastercard, amex", strong=_CARD),
    _of(
        "PHONE_NUMBER",
        "phone:US",
        "phone, tel, telephone, mobile, cell, call, fax",
        strong=r"\+[1-9]\d{0,2}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d(?:[ .-]?\d){5,13}"
        r"|(?:1[ .-])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}",
        checked=r"1?[2-9]\d{2}[2-9]\d{6}",
        note="numbers of the USA, and of all countries that begin with +",
    ),
    _of(
        "BANK_ACCOUNT",
        "account",
        "account, acct, iban, bank, routing, aba",
        strong=r"[A-Z]{2}\d{2}(?: ?[0-9A-Z]{2,4}){3,8}",
        weak=r"\d{8,17}",
        note="IBANs, and 8 to 17 digits beside a word such as account",
    ),
)

_USA = (
    _of(
        "USA_SSN",
        "stdnum:us.ssn",
        "ssn, social security, ss#",
        strong=r"[0-8]\d{2}-\d{2}-\d{4}",
        weak=r"[0-8]\d{2} ?\d{2} ?\d{4}",
    ),
    _of("USA_ITIN", "stdnum:us.itin", "itin, taxpayer", strong=r"9\d{2}-\d{2}-\d{4}", weak=r"9\d{8}"),
    _of("USA_ATIN", "stdnum:us.atin", "atin, adoption, adopted", checked=r"9\d{2}-\d{2}-\d{4}", weak=r"9\d{8}"),
    _of("USA_PTIN", "stdnum:us.ptin", "ptin, preparer", checked=r"P\d{8}"),
    _of("USA_PASSPORT_NUMBER", "shape", "passport", weak=r"\d{9}|[A-Z]\d{8}"),
    _of("USA_DEA_NUMBER", "dea", "dea, prescriber", strong=r"[A-Z][A-Z9]\d{7}"),
    _of("USA_NATIONAL_PROVIDER_IDENTIFIER", "npi", "npi, provider", checked=r"[12]\d{9}"),
    _of(
        "USA_NATIONAL_DRUG_CODE",
        "shape",
        "ndc, drug",
        checked=r"\d{4}-\d{4}-\d{2}|\d{5}-(?:\d{3}-\d{2}|\d{4}-\d{1,2})",
        weak=r"\d{11}",
    ),
    _of(
        "USA_MEDICARE_BENEFICIARY_IDENTIFIER",
        "shape",
        "mbi, medicare, beneficiary",
        strong=r"[1-9][AC-HJKMNP-RT-Y][0-9AC-HJKMNP-RT-Y]\d-?[AC-HJKMNP-RT-Y][0-9AC-HJKMNP-RT-Y]\d-?[AC-HJKMNP-RT-Y]{2}\d{2}",
    ),
    _of(
        "USA_HEALTH_INSURANCE_CLAIM_NUMBER",
        "hicn",
        "hicn, claim, medicare",
        weak=r"[0-8]\d{2}-?\d{2}-?\d{4}-?[A-Z][0-9A-Z]?",
    ),
    _of("USA_HCPCS_CODE", "shape", "hcpcs, procedure", weak=r"[A-V]\d{4}"),
    _of("USA_CPT_CODE", "shape", "cpt, procedure", weak=r"\d{4}[0-9FTU]"),
)

_AMERICAS = (
    _of(
        "ARGENTINA_TAX_IDENTIFICATION_NUMBER",
        "stdnum:ar.cuit",
        "cuit, cuil",
        strong=r"[2-5]\d-\d{8}-\d",
        checked=r"[2-5]\d{10}",
    ),
    _iban("BRAZIL_BANK_ACCOUNT", "BR"),
    _of(
        "BRAZIL_NATIONAL_REGISTRY_OF_LEGAL_ENTITIES_NUMBER",
        "stdnum:br.cnpj",
        "cnpj",
        strong=r"\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}",
        checked=r"\d{14}",
    ),
    _of(
        "BRAZIL_NATURAL_PERSON_REGISTRY_NUMBER",
        "stdnum:br.cpf",
        "cpf",
        strong=r"\d{3}\.\d{3}\.\d{3}-\d{2}",
        checked=r"\d{11}",
    ),
    _of(
        "CANADA_PERSONAL_HEALTH_NUMBER",
        "stdnum:ca.bc_phn",
        "phn, health",
        checked=r"9\d{3} ?\d{3} ?\d{3}",
        note="British Columbia's",
    ),
    _of(
        "CANADA_SOCIAL_INSURANCE_NUMBER",
        "stdnum:ca.sin",
        "sin, social insurance",
        strong=r"\d{3}[ -]\d{3}[ -]\d{3}",
        checked=r"\d{9}",
    ),
    _of(
        "CHILE_NATIONAL_IDENTIFICATION_NUMBER",
        "stdnum:cl.rut",
        "rut, run",
        strong=r"\d{1,2}\.\d{3}\.\d{3}-[0-9Kk]|\d{7,8}-[0-9Kk]",
        weak=r"\d{7,8}[0-9Kk]",
    ),
    _of(
        "COLOMBIA_TAX_IDENTIFICATION_NUMBER",
        "stdnum:co.nit",
        "nit, tributaria",
        strong=r"\d{3}\.\d{3}\.\d{3}-\d",
        checked=r"\d{9}-?\d",
    ),
    _of("MEXICO_TAX_IDENTIFICATION_NUMBER", "stdnum:mx.rfc", "rfc", strong=r"[A-ZÑ&]{3,4} ?\d{6} ?[0-9A-Z]{3}"),
    _of(
        "MEXICO_UNIQUE_POPULATION_REGISTRY_CODE",
        "stdnum:mx.curp",
        "curp",
        strong=r"[A-Z]{4}\d{6}[HMX][A-Z]{5}[0-9A-Z]\d",
    ),
    _of("VENEZUELA_VALUE_ADDED_TAX", "stdnum:ve.rif", "rif", strong=r"[VEJPG]-?\d{8}-?\d"),
)

_ASIA = (
    _of(
        "AUSTRALIA_BUSINESS_NUMBER",
        "stdnum:au.abn",
        "abn, business number",
        strong=r"\d{2} \d{3} \d{3} \d{3}",
        checked=r"\d{11}",
    ),
    _of("AUSTRALIA_COMPANY_NUMBER", "stdnum:au.acn", "acn, company number", checked=r"\d{3} ?\d{3} ?\d{3}"),
    _of("AUSTRALIA_TAX_FILE_NUMBER", "stdnum:au.tfn", "tfn, tax file", checked=r"\d{3} ?\d{3} ?\d{2,3}"),
    _of("CHINA_IDENTIFICATION", "china", "身份证, id card", strong=r"[1-9]\d{16}[0-9Xx]"),
    _of(
        "CHINA_PHONE_NUMBER",
        "phone:CN",
        "phone, mobile, 电话, 手机",
        strong=r"\+86[ -]?1[3-9]\d[ -]?\d{4}[ -]?\d{4}",
        checked=r"1[3-9]\d[ -]?\d{4}[ -]?\d{4}",
        note="mobile numbers",
    ),
    _of(
        "INDIA_AADHAAR_NUMBER",
        "stdnum:in_.aadhaar",
        "aadhaar, aadhar, uidai",
        strong=r"[2-9]\d{3}[ -]\d{4}[ -]\d{4}",
        checked=r"[2-9]\d{11}",
    ),
    _of(
        "INDIA_PERMANENT_ACCOUNT_NUMBER",
        "stdnum:in_.pan",
        "pan, permanent account",
        strong=r"[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]",
    ),
    _of("INDONESIA_IDENTITY_CARD_NUMBER", "stdnum:id.nik", "nik, ktp", checked=r"[1-9]\d{15}"),
    _of("ISRAEL_IDENTIFICATION_NUMBER", "stdnum:il.idnr", "teudat zehut, israel, זהות", checked=r"\d{9}"),
    _of(
        "JAPAN_MY_NUMBER",
        "stdnum:jp.in_",
        "my number, mynumber, マイナンバー, 個人番号",
        checked=r"\d{4}[ -]?\d{4}[ -]?\d{4}",
    ),
    _of(
        "KOREA_RESIDENCE_REGISTRATION_NUMBER_FOR_CITIZENS",
        "stdnum:kr.rrn",
        "rrn, resident, 주민등록",
        strong=r"\d{6}-[1-4]\d{6}",
        checked=r"\d{6}[1-4]\d{6}",
    ),
    _of(
        "KOREA_RESIDENCE_REGISTRATION_NUMBER_FOR_FOREIGNERS",
        "stdnum:kr.rrn",
        "rrn, alien, foreigner, 외국인등록",
        strong=r"\d{6}-[5-8]\d{6}",
        checked=r"\d{6}[5-8]\d{6}",
    ),
    _of("MALAYSIA_MYKAD_NUMBER", "stdnum:my.nric", "mykad, nric", strong=r"\d{6}-\d{2}-\d{4}", weak=r"\d{12}"),
    _of(
        "NEW_ZEALAND_TAX_IDENTIFICATION_NUMBER",
        "stdnum:nz.ird",
        "ird, inland revenue",
        checked=r"\d{2,3}-?\d{3}-?\d{3}",
    ),
    _of("SINGAPORE_UNIQUE_ENTITY_NUMBER", "stdnum:sg.uen", "uen", strong=r"\d{8,9}[A-Z]|[TSR]\d{2}[A-Z]{2}\d{4}[A-Z]"),
    _of(
        "SOUTH_AFRICA_PERSONAL_IDENTIFICATION_NUMBER",
        "stdnum:za.idnr",
        "id number, identity",
        checked=r"\d{6} ?\d{4} ?[01]\d{2}",
    ),
    _of(
        "THAILAND_PERSONAL_IDENTIFICATION_NUMBER",
        "stdnum:th.pin",
        "thai, citizen, บัตรประชาชน",
        strong=r"[1-8]-\d{4}-\d{5}-\d{2}-\d",
        checked=r"[1-8]\d{12}",
    ),
    _of("TURKEY_NATIONAL_IDENTIFICATION_NUMBER", "stdnum:tr.tckimlik", "tckn, kimlik", checked=r"[1-9]\d{10}"),
    _of("TURKEY_VALUE_ADDED_TAX", "stdnum:tr.vkn", "vkn, vergi", checked=r"\d{10}"),
    _of("UNITED_ARAB_EMIRATES_PERSONAL_NUMBER", "stdnum:luhn", "emirates", strong=r"784-?\d{4}-?\d{7}-?\d"),
)

_EUROPE = (
    _of("AUSTRIA_SSN", "stdnum:at.vnr", "svnr, sozialversicherung, social security, vnr", checked=r"[1-9]\d{3} ?\d{6}"),
    _of(
        "AUSTRIA_TAX_IDENTIFICATION_NUMBER",
        "stdnum:at.tin",
        f"steuernummer, abgabenkonto, {_TAX}",
        checked=r"\d{2}-?\d{3}/?\d{4}",
    ),
    _vat("AUSTRIA", "at.uid", r"(?:AT ?)?U\d{8}"),
    _of(
        "BELGIUM_NATIONAL_IDENTIFICATION_NUMBER",
        "stdnum:be.nn",
        "rijksregister, registre national, national number, nn",
        strong=r"\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}",
        checked=r"\d{11}",
    ),
    _of(
        "BELGIUM_TAX_IDENTIFICATION_NUMBER",
        "stdnum:be.nn",
        _TAX,
        strong=r"\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}",
        checked=r"\d{11}",
    ),
    _vat("BELGIUM", "be.vat", r"BE ?[01]\d{3}[. ]?\d{3}[. ]?\d{3}"),
    _citizen("BOSNIA", r"1\d"),
    _of("BULGARIA_UNIFORM_CIVIL_NUMBER", "stdnum:bg.egn", "egn, егн, civil number", checked=r"\d{10}"),
    _vat("BULGARIA", "bg.vat", r"BG ?\d{9,10}"),
    _of("CROATIA_PERSONAL_IDENTIFICATION_NUMBER", "stdnum:hr.oib", "oib", strong=r"HR\d{11}", checked=r"\d{11}"),
    _of("CYPRUS_TAX_IDENTIFICATION_NUMBER", "stdnum:cy.vat", f"tic, {_TAX}", checked=r"\d{8}[A-Z]"),
    _vat("CYPRUS", "cy.vat", r"CY ?\d{8}[A-Z]"),
    _of(
        "CZECHIA_PERSONAL_IDENTIFICATION_NUMBER",
        "stdnum:cz.rc",
        "rodné číslo, rodne cislo, birth number",
        strong=r"\d{6}/\d{3,4}",
        checked=r"\d{10}",
    ),
    _vat("CZECHIA", "cz.dic", r"CZ ?\d{8,10}"),
    _of(
        "DENMARK_PERSONAL_IDENTIFICATION_NUMBER",
        "stdnum:dk.cpr",
        "cpr, personnummer",
        checked=r"\d{6}-\d{4}",
        weak=r"\d{10}",
    ),
    _of("DENMARK_TAX_IDENTIFICATION_NUMBER", "stdnum:dk.cpr", f"skat, {_TAX}", checked=r"\d{6}-\d{4}", weak=r"\d{10}"),
    _vat("DENMARK", "dk.cvr", r"DK ?[1-9]\d ?\d{2} ?\d{2} ?\d{2}"),
    _of("ESTONIA_PERSONAL_IDENTIFICATION_CODE", "stdnum:ee.ik", "isikukood, personal code", checked=r"[1-6]\d{10}"),
    _vat("ESTONIA", "ee.kmkr", r"EE ?\d{9}"),
    _of(
        "FINLAND_NATIONAL_IDENTIFICATION_NUMBER",
        "stdnum:fi.hetu",
        "hetu, henkilötunnus",
        strong=r"\d{6}[-+ABCDEFYXWVU]\d{3}[0-9A-FHJ-NPR-Y]",
    ),
    _vat("FINLAND", "fi.alv", r"FI ?\d{8}"),
    _iban("FRANCE_BANK_ACCOUNT", "FR"),
    _of(
        "FRANCE_INSEE_CODE",
        "stdnum:fr.nir",
        "nir, insee, sécurité sociale",
        strong=r"[12378] ?\d{2} ?\d{2} ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}",
    ),
    _of(
        "FRANCE_TAX_IDENTIFICATION_NUMBER",
        "stdnum:fr.nif",
        f"spi, fiscal, {_TAX}",
        checked=r"[0-3]\d ?\d{2} ?\d{3} ?\d{3} ?\d{3}",
    ),
    _vat("FRANCE", "fr.tva", r"FR ?[0-9A-HJ-NP-Z]{2} ?\d{3} ?\d{3} ?\d{3}"),
    _iban("GERMANY_BANK_ACCOUNT", "DE"),
    _of(
        "GERMANY_TAX_IDENTIFICATION_NUMBER",
        "stdnum:de.idnr",
        f"idnr, steuer, {_TAX}",
        checked=r"[1-9]\d ?\d{3} ?\d{3} ?\d{3}",
    ),
    _vat("GERMANY", "de.vat", r"DE ?[1-9]\d{8}"),
    _of("GREECE_SSN", "stdnum:gr.amka", "amka, αμκα", checked=r"\d{11}"),
    _of("GREECE_TAX_IDENTIFICATION_NUMBER", "stdnum:gr.vat", f"afm, αφμ, {_TAX}", checked=r"\d{9}"),
    _vat("GREECE", "gr.vat", r"(?:EL|GR) ?\d{9}"),
    _vat("HUNGARY", "hu.anum", r"HU ?\d{8}"),
    _of("ICELAND_NATIONAL_IDENTIFICATION_NUMBER", "stdnum:is_.kennitala", "kennitala", checked=r"[0-7]\d{5}-?\d{4}"),
    _of("ICELAND_VALUE_ADDED_TAX", "stdnum:is_.vsk", "vsk, vat", weak=r"(?:IS ?)?\d{5,6}"),
    _of("IRELAND_PERSONAL_PUBLIC_SERVICE_NUMBER", "stdnum:ie.pps", "pps, ppsn", strong=r"\d{7}[A-W][ABHWTX]?"),
    _of("IRELAND_TAX_IDENTIFICATION_NUMBER", "stdnum:ie.pps", _TAX, strong=r"\d{7}[A-W][ABHWTX]?"),
    _vat("IRELAND", "ie.vat", r"IE ?\d[0-9A-Z+*]\d{5}[A-Z]{1,2}"),
    _iban("ITALY_BANK_ACCOUNT", "IT"),
    _of(
        "ITALY_FISCAL_CODE",
        "stdnum:it.codicefiscale",
        "codice fiscale",
        strong=r"[A-Za-z]{6}[0-9LMNPQRSTUVlmnpqrstuv]{2}[ABCDEHLMPRSTabcdehlmprst][0-9LMNPQRSTUVlmnpqrstuv]{2}[A-Za-z][0-9LMNPQRSTUVlmnpqrstuv]{3}[A-Za-z]",
    ),
    _of("ITALY_VALUE_ADDED_TAX", "stdnum:it.iva", "iva, vat", strong=r"IT ?\d{11}", checked=r"\d{11}"),
    _citizen("KOSOVO", r"9\d"),
    _of(
        "LATVIA_PERSONAL_IDENTIFICATION_NUMBER",
        "stdnum:lv.pvn",
        "personas kods, personal code",
        checked=r"[0-3]\d{5}-?\d{5}",
    ),
    _vat("LATVIA", "lv.pvn", r"LV ?\d{11}"),
    _of(
        "LITHUANIA_PERSONAL_IDENTIFICATION_NUMBER",
        "stdnum:lt.asmens",
        "asmens kodas, personal code",
        checked=r"[1-6]\d{10}",
    ),
    _of("LITHUANIA_TAX_IDENTIFICATION_NUMBER", "stdnum:lt.asmens", _TAX, checked=r"[1-6]\d{10}"),
    _vat("LITHUANIA", "lt.pvm", r"LT ?(?:\d{12}|\d{9})"),
    _vat("LUXEMBOURG", "lu.tva", r"LU ?\d{8}"),
    _citizen("MACEDONIA", r"4\d"),
    _vat("MALTA", "mt.vat", r"MT ?\d{8}"),
    _citizen("MONTENEGRO", r"2\d"),
    _iban("NETHERLANDS_BANK_ACCOUNT", "NL"),
    _of(
        "NETHERLANDS_CITIZEN_SERVICE_NUMBER",
        "stdnum:nl.bsn",
        "bsn, sofi, burgerservice",
        checked=r"\d{4}\.?\d{2}\.?\d{3}",
    ),
    _of("NETHERLANDS_TAX_IDENTIFICATION_NUMBER", "stdnum:nl.bsn", f"fiscaal, rsin, {_TAX}", checked=r"\d{9}"),
    _vat("NETHERLANDS", "nl.btw", r"NL ?\d{9}B\d{2}"),
    _of(
        "NORWAY_BIRTH_NUMBER",
        "stdnum:no.fodselsnummer",
        "fødselsnummer, fodselsnummer, birth number, personnummer",
        checked=r"\d{6} ?\d{5}",
    ),
    _of(
        "NORWAY_NATIONAL_IDENTIFICATION_NUMBER",
        "stdnum:no.fodselsnummer",
        "fødselsnummer, fodselsnummer, national id, personnummer",
        checked=r"\d{6} ?\d{5}",
    ),
    _vat("NORWAY", "no.mva", r"(?:NO ?)?\d{3} ?\d{3} ?\d{3} ?MVA"),
    _of("POLAND_REGON_NUMBER", "stdnum:pl.regon", "regon", checked=r"\d{14}|\d{9}"),
    _of("POLAND_SSN", "stdnum:pl.pesel", "pesel", checked=r"\d{11}"),
    _of(
        "POLAND_TAX_IDENTIFICATION_NUMBER", "stdnum:pl.nip", "nip", strong=r"\d{3}-\d{3}-\d{2}-\d{2}", checked=r"\d{10}"
    ),
    _vat("POLAND", "pl.nip", r"PL ?\d{10}"),
    _of(
        "PORTUGAL_NATIONAL_IDENTIFICATION_NUMBER",
        "stdnum:pt.cc",
        "cidadão, cidadao",
        strong=r"\d{8} ?\d ?[A-Z]{2}\d",
        checked=r"\d{8} ?\d ?[0-9A-Z]{2}\d",
    ),
    _of("PORTUGAL_TAX_IDENTIFICATION_NUMBER", "stdnum:pt.nif", "nif, contribuinte", checked=r"\d{3} ?\d{3} ?\d{3}"),
    _vat("PORTUGAL", "pt.nif", r"PT ?\d{9}"),
    _of("ROMANIA_NUMERICAL_PERSONAL_CODE", "stdnum:ro.cnp", "cnp, numeric personal", checked=r"[1-9]\d{12}"),
    _vat("ROMANIA", "ro.cf", r"RO ?[1-9]\d{3,9}"),
    _citizen("SERBIA", r"7\d"),
    _of("SERBIA_VALUE_ADDED_TAX", "stdnum:rs.pib", "pib, vat", checked=r"[1-9]\d{8}"),
    _of(
        "SLOVAKIA_NATIONAL_IDENTIFICATION_NUMBER",
        "stdnum:sk.rc",
        "rodné číslo, rodne cislo, birth number",
        strong=r"\d{6}/\d{3,4}",
        checked=r"\d{10}",
    ),
    _vat("SLOVAKIA", "sk.dph", r"SK ?[1-9]\d{9}"),
    _of("SLOVENIA_TAX_IDENTIFICATION_NUMBER", "stdnum:si.ddv", f"davčna, davcna, {_TAX}", checked=r"[1-9]\d{7}"),
    _citizen("SLOVENIA", r"5\d"),
    _vat("SLOVENIA", "si.ddv", r"SI ?[1-9]\d{7}"),
    _iban("SPAIN_BANK_ACCOUNT", "ES"),
    _of("SPAIN_DNI", "stdnum:es.dni", "dni", strong=r"\d{8}-?[A-HJ-NP-TV-Z]"),
    _of("SPAIN_NIE", "stdnum:es.nie", "nie", strong=r"[XYZ]-?\d{7}-?[A-HJ-NP-TV-Z]"),
    _of(
        "SPAIN_NIF",
        "stdnum:es.nif",
        "nif",
        strong=r"[0-9XYZKLM]-?\d{7}-?[A-HJ-NP-TV-Z]|[ABCDEFGHJNPQRSUVW]-?\d{7}-?[0-9A-J]",
    ),
    _of(
        "SPAIN_TAX_IDENTIFICATION_NUMBER",
        "stdnum:es.nif",
        f"nif, cif, {_TAX}",
        strong=r"[0-9XYZKLM]-?\d{7}-?[A-HJ-NP-TV-Z]|[ABCDEFGHJNPQRSUVW]-?\d{7}-?[0-9A-J]",
    ),
    _vat("SPAIN", "es.nif", r"ES ?[0-9A-Z]\d{7}[0-9A-Z]"),
    _of(
        "SWEDEN_PERSONAL_IDENTIFICATION_NUMBER",
        "stdnum:se.personnummer",
        "personnummer",
        strong=r"(?:[12]\d)?\d{6}[-+]\d{4}",
        checked=r"(?:[12]\d)?\d{10}",
    ),
    _of(
        "SWEDEN_TAX_IDENTIFICATION_NUMBER",
        "stdnum:se.personnummer",
        f"skatt, {_TAX}",
        strong=r"(?:[12]\d)?\d{6}[-+]\d{4}",
        checked=r"(?:[12]\d)?\d{10}",
    ),
    _vat("SWEDEN", "se.vat", r"SE ?\d{10}01"),
    _of("SWITZERLAND_AHV", "stdnum:ch.ssn", "ahv, avs", strong=r"756\.?\d{4}\.?\d{4}\.?\d{2}"),
    _vat("SWITZERLAND", "ch.vat", r"CHE[- ]?\d{3}\.?\d{3}\.?\d{3} ?(?:MWST|TVA|IVA|TPV)"),
    _iban("UK_BANK_ACCOUNT", "GB"),
    _of(
        "UK_NATIONAL_HEALTH_SERVICE_NUMBER",
        "stdnum:gb.nhs",
        "nhs, health service",
        checked=r"\d{3}[ -]?\d{3}[ -]?\d{4}",
    ),
    _of(
        "UK_NATIONAL_INSURANCE_NUMBER",
        "shape",
        "nino, national insurance",
        strong=r"(?:[AC-EHJL-NPRSW-Y][A-CEGHJ-NPR-TW-Z]|B[A-CEHJ-NPR-TW-Z]|G[ACEGHJ-MPR-TW-Z]"
        r"|K[A-CEGHJLMPR-TW-Z]|O[A-CEGHJ-NPR-TW-Z]|T[A-CEGHJLMPR-TW-Z]|Z[A-CEGHJ-NPR-TW-Y])"
        r" ?\d{2} ?\d{2} ?\d{2} ?[A-D]",
    ),
    _of(
        "UK_PHONE_NUMBER",
        "phone:GB",
        "phone, tel, telephone, mobile, call, fax",
        strong=r"(?:\+44 ?(?:\(0\) ?)?|0)[1-9]\d{1,4} \d{3,4} ?\d{3,4}|\+44[1-9]\d{8,9}",
        checked=r"0[1-9]\d{8,9}",
    ),
    _of("UK_UNIQUE_TAXPAYER_REFERENCE_NUMBER", "stdnum:gb.utr", "utr, taxpayer", checked=r"\d{5} ?\d{5}"),
    _vat("UK", "gb.vat", r"GB ?(?:\d{3} ?\d{4} ?\d{2}(?: ?\d{3})?|(?:GD|HA)\d{3})"),
    _of("UKRAINE_INDIVIDUAL_IDENTIFICATION_NUMBER", "stdnum:ua.rntrc", "rnokpp, рнокпп, ipn, іпн", checked=r"\d{10}"),
    _citizen("VOJVODINA", r"8\d"),
)


def _all() -> Iterator[EntityType]:
    for group in (_WORLD, _USA, _AMERICAS, _ASIA, _EUROPE):
        yield from group


ENTITY_TYPES: dict[str, EntityType] = {one.name: one for one in _all()}
"""The types that are found, by Glue's name."""
