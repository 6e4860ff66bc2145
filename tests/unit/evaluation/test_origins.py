"""The datasets that checked rows come from."""

from types import SimpleNamespace

from gluepot.connectors.files.source.versions import FileVersion
from gluepot.connectors.values import SourceRange
from gluepot.core.datasets import Dataset
from gluepot.engine.pipeline import FrameInput, Pipeline, RangeInput, SplitInput
from gluepot.evaluation.origins import origins_of


def file(root: str, name: str) -> FileVersion:
    return FileVersion(root, f"{root}/year=2026", name, 1, 1)


def test_a_stream_is_named_without_its_address():
    ranges = tuple(SourceRange("kafka", topic, "id", "0", 0, 9) for topic in ("orders", "clicks", "orders"))
    assert origins_of(Pipeline(RangeInput(None, ranges))) == (Dataset("", "clicks"), Dataset("", "orders"))


def test_files_are_named_by_the_folder_that_the_script_gave():
    splits = (
        SimpleNamespace(files=[file("s3://lake/orders", "a.json"), file("s3://lake/orders", "b.json")]),
        SimpleNamespace(files=[file("/data/customers", "c.json")]),
        SimpleNamespace(),  # of a database
    )
    assert origins_of(Pipeline(SplitInput(None, splits))) == (
        Dataset("file", "/data/customers"),
        Dataset("s3://lake", "orders"),
    )


def test_rows_of_a_data_frame_may_come_from_anywhere():
    assert origins_of(Pipeline(FrameInput(None))) == ()
