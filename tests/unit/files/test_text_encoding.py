import io

import pytest

from gluepot.connectors.files.text_encoding import as_utf8, text_encoding
from gluepot.core.errors import ConfigError, PermanentError

TEXT = "id,city\n1,Köln\n2,東京 🌸\n"


@pytest.mark.parametrize("name", ["UTF-16", "utf-16-le", "UTF-16BE", "utf_32", "gb18030"])
def test_text_of_any_encoding_is_read_as_utf8(name):
    plain = io.BytesIO(TEXT.encode(name))

    assert as_utf8(plain, text_encoding(name), "a.csv").read() == TEXT.encode()


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_characters_that_are_cut_by_blocks_stay_whole(monkeypatch, size):
    monkeypatch.setattr("gluepot.connectors.files.text_encoding._BLOCK_BYTES", size)
    stream = as_utf8(io.BytesIO(TEXT.encode("utf-16")), "utf-16", "a.csv")

    assert b"".join(iter(lambda: stream.read(size), b"")) == TEXT.encode()


def test_the_names_that_spark_knows_are_known():
    assert [text_encoding(name) for name in ("ISO-8859-1", "windows-1252", "UTF-16LE", "US-ASCII")] == [
        "iso8859-1",
        "cp1252",
        "utf-16-le",
        "ascii",
    ]


@pytest.mark.parametrize("name", ["", None, "UTF-8", "utf8"])
def test_utf8_needs_no_work(name):
    assert text_encoding(name) is None


@pytest.mark.parametrize("name", ["utf-9", "base64", "rot13", "\0"])
def test_what_is_no_encoding_of_text_is_refused(name):
    with pytest.raises(ConfigError, match="which is not known"):
        text_encoding(name)


@pytest.mark.parametrize(("text", "name"), [(b"\x81", "cp1252"), (b"\xff\xfea", "utf-16"), ("ö".encode(), "ascii")])
def test_a_file_of_another_encoding_ends_the_job(text, name):
    with pytest.raises(PermanentError, match=r"a.csv cannot be read as .*Correct the encoding"):
        as_utf8(io.BytesIO(text), name, "a.csv").read()
