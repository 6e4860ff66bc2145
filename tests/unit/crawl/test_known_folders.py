"""Which folders a crawl of new folders leaves out, whatever the spelling of the tables' locations."""

import pytest

from gluepot.catalog.values import Table
from gluepot.crawl.known import known_folders

URL = "s3://lake/web"


def a_table(location=f"{URL}/clicks/", keys=("day",)):
    keys = [{"Name": name, "Type": "string"} for name in keys]
    return Table("web", "clicks", {"PartitionKeys": keys, "StorageDescriptor": {"Location": location}})


def without(locations, names, folder="clicks", table=None):
    return known_folders(URL, [table or a_table()], lambda _: locations).without(folder, names)


@pytest.mark.parametrize(
    "location",
    [
        f"{URL}/clicks/day=1/",
        f"{URL}/clicks/day=1",
        f"{URL}/clicks/day=1//",
        f"{URL}//clicks/day=1/",
        "s3a://lake/web/clicks/day=1/",
    ],
)
def test_a_folder_is_known_however_its_location_is_spelled(location):
    assert without([location], ["day=1", "day=10", "day=2"]) == ["clicks/day=10", "clicks/day=2"]


@pytest.mark.parametrize("name", ["day=1 2", "day=é", "day=a%2Fb", "day=.x", "day=-1", "day=a.b", "x\ny"])
def test_a_folder_with_any_name_is_known(name):
    assert without([f"{URL}/clicks/{name}/"], [name, "day=1"]) == ["clicks/day=1"]


@pytest.mark.parametrize(
    "location", ["", f"{URL}/", "s3://lake/webs/clicks/day=1/", "s3://lake/day=1/", "/clicks/day=1/"]
)
def test_locations_elsewhere_make_no_folder_known(location):
    assert without([location], ["day=1"]) == ["clicks/day=1"]


def test_a_table_without_partition_keys_is_known_by_its_own_folder():
    table = a_table(keys=())
    assert without([], ["clicks", "views"], folder="", table=table) == ["views"]
    assert without([], ["clicks"], folder="clicks", table=table) == ["clicks/clicks"]
