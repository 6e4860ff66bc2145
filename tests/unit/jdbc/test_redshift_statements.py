"""Statements of reads and writes of Redshift, and the names in them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from gluepot.connectors.jdbc.keys import Family, Key, KeyColumn
from gluepot.connectors.jdbc.redshift import statements
from gluepot.connectors.jdbc.redshift.authorization import authorization, with_keys
from gluepot.connectors.jdbc.redshift.names import match, name_parts, quoted, require_distinct
from gluepot.connectors.jdbc.redshift.records import dump_receipt, in_parts, load_receipt
from gluepot.connectors.jdbc.redshift.relation import rendered, text_literal, unload
from gluepot.connectors.jdbc.redshift.statements import Stage, Target
from gluepot.connectors.jdbc.redshift.types import SUPER, TEXT
from gluepot.connectors.values import StagedFile
from gluepot.core.errors import ConfigError

STAGE = Stage("gluepot_stage_1", {"ID": "bigint", "doc": SUPER})
OTHER = Stage("gluepot_stage_2", {"ID": TEXT, "name": TEXT})
TYPES = {"id": "bigint", "name": "character varying(20)", "doc": "super"}
TARGET = Target("public.t", "t", TYPES, {"ID": "id", "doc": "doc", "name": "name"})


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("t", ("", "t")),
        ("Public.T", ("public", "t")),
        ("dev.public.t", ("public", "t")),
        ('"My Schema"."a.b"', ("my schema", "a.b")),
        ('"a""b"', ("", 'a"b')),
        (" s . t ", ("s", "t")),
    ],
)
def test_a_name_is_read_as_redshift_reads_it(name, parts):
    assert name_parts(name) == parts


@pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a b", 'a"b', '"a', "a.b.c.d", "a..b", "t; DROP TABLE t"])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(ConfigError, match=r"use schema\.table"):
        name_parts(name)


def test_a_quoted_name_keeps_its_quotes():
    assert quoted('a"b') == '"a""b"'


def test_a_field_is_matched_to_its_column_in_any_letter_case():
    assert match("ID", ["id", "name"], "t") == "id"
    assert match("Id", ["id", "Id"], "t") == "Id"
    with pytest.raises(ConfigError, match="t has no column 'title'; it has id, name"):
        match("title", ["id", "name"], "t")


def test_fields_that_differ_in_letter_case_only_are_refused():
    require_distinct(["a", "b"], "t")
    with pytest.raises(ConfigError, match="'a' and 'A' are one column"):
        require_distinct(["a", "b", "A"], "t")


def test_a_stage_has_the_types_that_copy_reads():
    made = 'CREATE TEMP TABLE gluepot_stage_1 ("ID" bigint, "doc" varchar(65535)'
    assert statements.create_stage(STAGE) == f"{made})"
    assert statements.create_stage(replace(STAGE, numbered=True)) == f"{made}, gluepot_ordinal bigint)"


def test_a_load_names_every_file_with_its_length_and_misses_none():
    assert json.loads(statements.manifest({"s3://b/f": 7})) == {
        "entries": [{"url": "s3://b/f", "mandatory": True, "meta": {"content_length": 7}}]
    }
    assert statements.copy("t", "s3://b/m", "IAM_ROLE default") == (
        "COPY t FROM 's3://b/m' IAM_ROLE default FORMAT AS PARQUET MANIFEST"
    )
    assert statements.copy("t", "s3://b/m", "IAM_ROLE default", "ACCEPTINVCHARS").endswith(" MANIFEST ACCEPTINVCHARS")


def test_rights_come_from_a_role_or_from_keys(monkeypatch):
    assert authorization("arn:aws:iam::1:role/r") == "IAM_ROLE 'arn:aws:iam::1:role/r'"
    assert authorization("default") == "IAM_ROLE default"
    assert with_keys("k", "s", None) == "CREDENTIALS 'aws_access_key_id=k;aws_secret_access_key=s'"
    assert with_keys("k", "s", "t").endswith(";token=t'")


def test_rows_of_stages_with_other_columns_get_the_types_of_the_table():
    assert TARGET.select(STAGE) == (
        'SELECT "ID" AS "id", JSON_PARSE("doc") AS "doc", NULL::character varying(20) AS "name" FROM gluepot_stage_1'
    )
    assert TARGET.insert(OTHER) == (
        'INSERT INTO public.t ("id", "doc", "name") SELECT "ID"::bigint AS "id", NULL::super AS "doc", "name" AS "name"'
        " FROM gluepot_stage_2"
    )


def test_rows_without_any_value_fill_the_first_column_with_nulls():
    target = Target("public.t", "t", TYPES, {})
    assert target.insert(Stage("gluepot_stage_1", {})) == (
        'INSERT INTO public.t ("id") SELECT NULL::bigint AS "id" FROM gluepot_stage_1'
    )


def test_an_upsert_keeps_the_last_row_of_a_key_and_merges_by_it():
    assert TARGET.newest([STAGE, OTHER], ["id"]) == (
        'CREATE TEMP TABLE gluepot_rows AS SELECT "id", "doc", "name" FROM (SELECT "id", "doc", "name",'
        ' ROW_NUMBER() OVER (PARTITION BY "id" ORDER BY gluepot_ordinal DESC) AS gluepot_nth FROM ('
        'SELECT "ID" AS "id", JSON_PARSE("doc") AS "doc", NULL::character varying(20) AS "name", gluepot_ordinal'
        ' FROM gluepot_stage_1 UNION ALL SELECT "ID"::bigint AS "id", NULL::super AS "doc", "name" AS "name",'
        " gluepot_ordinal FROM gluepot_stage_2) AS every_row) AS numbered WHERE gluepot_nth = 1"
    )
    assert TARGET.merge(["id"]) == (
        'MERGE INTO public.t USING gluepot_rows ON t."id" = gluepot_rows."id" WHEN MATCHED THEN UPDATE SET'
        ' "doc" = gluepot_rows."doc", "name" = gluepot_rows."name" WHEN NOT MATCHED THEN INSERT ("id", "doc", "name")'
        ' VALUES (gluepot_rows."id", gluepot_rows."doc", gluepot_rows."name")'
    )


def test_a_merge_of_nothing_but_keys_sets_the_keys():
    target = Target("public.t", "t", {"id": "bigint"}, {"id": "id"})
    assert 'UPDATE SET "id" = gluepot_rows."id"' in target.merge(["id"])


def test_rows_are_taken_back_by_the_texts_of_their_values():
    again, gone, held = TARGET.take_back([STAGE])
    assert again.startswith("CREATE TEMP TABLE gluepot_again AS SELECT ")
    assert "CASE WHEN \"id\" IS NULL THEN '' ELSE MD5(\"id\"::varchar) END || ',' || " in gone
    assert 'MD5(JSON_SERIALIZE("doc"))' in gone
    assert 'MD5(public.t."name")' in held
    assert TARGET.remove.startswith("DELETE FROM public.t WHERE CASE ")
    assert TARGET.restore == (
        'INSERT INTO public.t ("id", "name", "doc") SELECT "id", "name", "doc" FROM gluepot_held'
        " WHERE gluepot_nth > copies"
    )


def test_a_long_record_is_kept_in_parts_that_fit_a_column():
    record = "é" * 70_000 + "x"
    parts = in_parts(record)
    assert "".join(parts) == record
    assert max(len(part.encode()) for part in parts) <= 60_000
    assert in_parts("") == [""]


def test_a_receipt_names_the_files_that_hold_the_rows():
    staged = StagedFile(
        "gluepot/x/a.parquet", "public.t", 5, 3, 0, encoding={"kinds": {"b": TEXT, "a": "bigint"}, "numbered": False}
    )
    (read,) = load_receipt(dump_receipt([staged]), "public.t")
    assert read == staged
    assert list(read.encoding["kinds"]) == ["b", "a"]  # COPY goes by the order of columns


def test_an_unloaded_query_keeps_its_quotes_and_backslashes():
    assert unload(r"SELECT 'a\b'", "s3://b/x/", "IAM_ROLE default") == (
        r"UNLOAD ('SELECT ''a\\b''') TO 's3://b/x/' IAM_ROLE default FORMAT AS PARQUET MANIFEST"
    )
    assert text_literal("it's \\") == r"'it''s \\'"


def test_keys_are_written_into_statements_with_their_types():
    key = Key((KeyColumn("id", "bigint", Family.NUMBER), KeyColumn("name", "character varying(9)", Family.OTHER)))
    assert rendered(key.equal(("7", "o'x"), ['"id"', '"name"'])) == (
        "(\"id\" = '7'::bigint) AND (\"name\" = 'o''x'::character varying(9))"
    )
