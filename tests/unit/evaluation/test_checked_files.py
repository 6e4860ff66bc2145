"""The files that a path names."""

from gluepot.evaluation.files import below


def test_a_path_names_the_files_below_it_or_one_file(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("1")
    (tmp_path / "b.csv").write_text("22")
    assert sorted(one.name for one in below(str(tmp_path))) == ["a.csv", "b.csv"]
    (found,) = below(f"{tmp_path}/b.csv")
    assert (found.name, found.size_bytes) == ("b.csv", 2)
    assert below(f"{tmp_path}/nothing") == []
