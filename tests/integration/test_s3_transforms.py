"""Custom visual transforms from where Glue Studio keeps them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gluepot.core.errors import ConfigError
from gluepot.job.custom_transforms import fetched, in_folder

EXAMPLES = Path(__file__).parents[2] / "examples" / "transforms"


@pytest.fixture
def transforms(client):
    for file in EXAMPLES.glob("*.*"):
        client.put_object(Bucket="lake", Key=f"transforms/{file.name}", Body=file.read_bytes())
    return "s3://lake/transforms"


def test_all_transforms_of_a_folder_are_brought_here(transforms, tmp_path):
    found = in_folder(f"{transforms}/", tmp_path)

    assert [one.descriptor.name for one in found] == ["repartition_date", "salesdata_generator"]
    assert [one.module.read_text() for one in found] == [
        (EXAMPLES / f"{one.descriptor.name}.py").read_text() for one in found
    ]


def test_an_extra_python_file_is_brought_here_with_the_descriptor_beside_it(transforms, tmp_path):
    path, transform = fetched(f"{transforms}/repartition_date.py", tmp_path)

    assert path == tmp_path / "repartition_date.py"
    assert transform.descriptor.name == "repartition_date"


def test_a_file_that_is_not_there_is_named(transforms, tmp_path):
    with pytest.raises(ConfigError, match=r"There is no file other\.py in s3://lake/transforms"):
        fetched(f"{transforms}/other.py", tmp_path)
