import pytest

from gluepot.streaming.settings import StreamSettings


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("s3://bucket/temp/clickstream/checkpoint/", "clickstream"),
        ("/data/checkpoints/left", "left"),
        ("/data/left/checkpoint", "left"),
        ("checkpoint", "query"),
    ],
)
def test_a_query_is_called_after_the_last_folder_with_a_name_of_its_own(location, name):
    settings = StreamSettings.from_glue({"windowSize": "1 second", "checkpointLocation": location})

    assert settings.query_name == name
